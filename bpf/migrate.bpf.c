/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages moved to other places of memory, and huge pages that had to be split for it. */
#include "bpf/waits.h"

#define PAGE_BYTES	4096

#define ARGS_SPLIT	8	/* of mm_migrate_pages: those that count split large folios */

/* There where the tracepoint is. */
struct trace_event_raw_mm_migrate_pages_start {
	int mode;
} KERNEL_TYPE;

struct moved {
	u64 mode, reason;
};

/* Since 6.1. */
SEC("raw_tp/mm_migrate_pages_start")
int migrate_begin(u64 *c)
{
	struct trace_task t;

	if (trace_recorded(TRACE_MIGRATE) && trace_wanted(&t))
		wait_begin(TRACE_MIGRATE, 0, 0, 0);
	return 0;
}

static __always_inline struct moved how(u64 *c)
{
	struct moved m;

	if (config.nr_args >= ARGS_SPLIT) {
		m.mode = TRACE_ARGUMENT(c, 6);
		m.reason = TRACE_ARGUMENT(c, 7);
	} else {
		m.mode = TRACE_ARGUMENT(c, 5);
		m.reason = TRACE_ARGUMENT(c, 6);
	}
	return m;
}

static __always_inline void send_moved(u64 *c, const struct trace_task *t)
{
	struct wait_start start = { 0 };
	struct moved m = how(c);
	struct trace_record *r;

	if (!wait_end(TRACE_MIGRATE, &start) &&
	    bpf_core_type_exists(struct trace_event_raw_mm_migrate_pages_start))
		TRACE_COUNT(TRACE_MIGRATE, unpaired);
	trace_seen(TRACE_MIGRATE);
	if (!long_enough(start.ns))
		return;
	r = trace_begin(t, TRACE_MIGRATE);
	if (!r)
		return;
	r->a[0] = c[0] * PAGE_BYTES;
	r->a[1] = c[1] * PAGE_BYTES;
	r->a[2] = (u32)m.mode;
	r->a[3] = (u32)m.reason;
	r->a[4] = c[4];
	r->a[5] = start.ns;
	trace_end(r);
}

static __always_inline void send_split(u64 pages, const struct trace_task *t)
{
	struct trace_record *r;

	trace_seen(TRACE_HUGE_SPLIT);
	r = trace_begin(t, TRACE_HUGE_SPLIT);
	if (!r)
		return;
	r->a[0] = pages;
	trace_end(r);
}

SEC("raw_tp/mm_migrate_pages")
int migrate_end(u64 *c)
{
	struct trace_task t;

	if (!trace_wanted(&t))
		return 0;
	if (trace_recorded(TRACE_MIGRATE))
		send_moved(c, &t);
	if (c[4] && trace_recorded(TRACE_HUGE_SPLIT))
		send_split(c[4], &t);
	return 0;
}
