/* SPDX-License-Identifier: MIT */
/*
 * The fault, or abort(), that ends the process: as a finding, and how it ends (struct pmm_death),
 * just before it does.
 *
 * Who notices it is agent/preload/hooks_signal.c: its handler of deadly signals, to which
 * reserved.c hands on what is not handled elsewhere. A fault that the program has a handler for is
 * none that ends it, unless the handler itself does: it is remembered where its frame is, and
 * looked at again when the thread dies of a signal or calls exit() below that frame.
 */
#ifndef AGENT_FAULT_CRASH_H
#define AGENT_FAULT_CRASH_H

#include <stdint.h>

#include "agent/check/agent_check.h"
#include "arch/agent_signal.h"
#include "include/pmm/check.h"

/* A handler of the program's is about to run for a fault, with this frame. */
void crash_given(const void *info, const struct arch_ucontext *uc, uint64_t frame);

/* A finding of this number has reported the thread's fault, which is not reported twice. */
void crash_told(const struct arch_ucontext *uc, uint64_t address, uint32_t number);

/* What happened: of a fault its registers, of abort() those in it. */
struct crash {
	int signal, code;
	uint64_t address;		/* of the fault */
	uint64_t err, trapno;		/* what uc has of these may be of another one */
	const struct arch_ucontext *uc;	/* interrupted */
	bool forced;			/* by an instruction */
	bool paged;			/* ... that the kernel stopped at a page */
	struct pmm_death death;
};

/* Fill place, block and death.text. The thread has a context, and the checker is ready. */
void crash_place(struct crash *k, struct pmm_finding *f, struct check_block *b, bool *known);

#endif
