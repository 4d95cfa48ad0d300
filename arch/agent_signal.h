/* SPDX-License-Identifier: MIT */
/*
 * agent_signal.h of the processor that is compiled for; each arch/<processor>/ has one, with the
 * same names.
 */
#ifndef ARCH_AGENT_SIGNAL_H
#define ARCH_AGENT_SIGNAL_H

#if defined(__x86_64__)
#include "arch/x86_64/agent_signal.h"
#else
#error "no arch/<processor>/agent_signal.h for this processor: doc/HOWTO.md, 'Add an architecture'"
#endif

#endif
