/* SPDX-License-Identifier: MIT */
/*
 * trace_arch.h of the processor that is compiled for; each arch/<processor>/ has one, with the
 * same names.
 */
#ifndef ARCH_TRACE_ARCH_H
#define ARCH_TRACE_ARCH_H

#if defined(__x86_64__)
#include "arch/x86_64/trace_arch.h"
#else
#error "no arch/<processor>/trace_arch.h for this processor: doc/HOWTO.md, 'Add an architecture'"
#endif

#endif
