/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was so when the OOM killer struck: the limit, the machine, the minute before. */
#ifndef VIEW_TRACE_TRACE_OOM_H
#define VIEW_TRACE_TRACE_OOM_H

#include "src/document/event.h"
#include "src/proc/machine.h"
#include "src/proc/memcg.h"

#define TRACE_OOM_SECONDS	60

struct trace_oom {
	uint64_t pid;			/* the victim */
	uint64_t since_start_ns;
	const struct memcg *group;	/* the victim's; NULL: not known */
	const struct machine *now;
	const struct machine *before;	/* nr_before moments, the oldest first, a second apart */
	unsigned nr_before;
};

/* `c` must live as long as the event. */
void trace_oom_event(struct event *e, const struct trace_oom *c);

#endif
