/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Real-time priority for a moment. */
#include "src/ptrace/hurry.h"

#include <sched.h>

void hurry_begin(struct hurry *h)
{
	struct sched_param p = { 0 };

	*h = (struct hurry){ .policy = sched_getscheduler(0) };
	if (h->policy != SCHED_OTHER || sched_getparam(0, &p))
		return;
	h->priority = p.sched_priority;
	p.sched_priority = sched_get_priority_min(SCHED_RR);
	h->on = !sched_setscheduler(0, SCHED_RR, &p);
}

void hurry_end(const struct hurry *h)
{
	if (h->on)
		sched_setscheduler(0, h->policy,
				   &(struct sched_param){ .sched_priority = h->priority });
}
