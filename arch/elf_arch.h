/* SPDX-License-Identifier: MIT */
/*
 * elf_arch.h of the processor that is compiled for; each arch/<processor>/ has one, with the
 * same names.
 */
#ifndef ARCH_ELF_ARCH_H
#define ARCH_ELF_ARCH_H

#if defined(__x86_64__)
#include "arch/x86_64/elf_arch.h"
#else
#error "no arch/<processor>/elf_arch.h for this processor: doc/HOWTO.md, 'Add an architecture'"
#endif

#endif
