/* SPDX-License-Identifier: MIT */
/*
 * agent_lanes.h of the processor that is compiled for; each arch/<processor>/ has one, with the
 * same names.
 */
#ifndef ARCH_AGENT_LANES_H
#define ARCH_AGENT_LANES_H

#if defined(__x86_64__)
#include "arch/x86_64/agent_lanes.h"
#else
#error "no arch/<processor>/agent_lanes.h for this processor: doc/HOWTO.md, 'Add an architecture'"
#endif

#endif
