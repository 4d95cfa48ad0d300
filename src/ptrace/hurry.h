/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Real-time priority for the calling thread while threads of a program are stopped, where it may
 * have it (CAP_SYS_NICE, RLIMIT_RTPRIO): no thread should wait for a processor then, least of all
 * pmm's. Threads made meanwhile inherit it.
 */
#ifndef PTRACE_HURRY_H
#define PTRACE_HURRY_H

#include <stdbool.h>

struct hurry {
	int policy, priority;		/* sched_setscheduler(2): as they were */
	bool on;
};

/* Does nothing where the priority is not had, or is not the usual one. */
void hurry_begin(struct hurry *h);

/* Back to what it was: in the thread that began, or one that has inherited it. All zero is fine. */
void hurry_end(const struct hurry *h);

#endif
