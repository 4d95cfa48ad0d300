/* SPDX-License-Identifier: MIT */
/*
 * code_arch.h of the processor that is compiled for; each arch/<processor>/ has one, with the
 * same names.
 */
#ifndef ARCH_CODE_ARCH_H
#define ARCH_CODE_ARCH_H

#if defined(__x86_64__)
#include "arch/x86_64/code_arch.h"
#else
#error "no arch/<processor>/code_arch.h for this processor: doc/HOWTO.md, 'Add an architecture'"
#endif

#endif
