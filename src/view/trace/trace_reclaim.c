/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines about reclaim: who waits for pages to be freed, kswapd. */
#include "src/base/fmt.h"
#include "src/kernel/gfp.h"
#include "src/kernel/status_names.h"
#include "src/view/trace/trace_line.h"

static void add_gfp(struct str *text, struct event *e, uint64_t flags)
{
	struct str names = STR_INIT;

	gfp_add(&names, (uint32_t)flags);
	event_text(e, "gfp", str_text(&names));
	str_addf(text, ", %s", str_text(&names));
	e->failed |= str_error(&names) != 0;
	str_fini(&names);
}

static void describe_wait(struct str *text, struct event *e, const struct trace_record *r)
{
	event_u64(e, "latency_ns", UNIT_DURATION, r->a[0]);
	event_u64(e, "reclaimed_bytes", UNIT_BYTES, r->a[1]);
	event_u64(e, "order", UNIT_SIGNED, r->a[2]);
	if (r->kind == TRACE_RECLAIM_NODE)
		event_u64(e, "node", UNIT_NUMBER, r->a[4]);
	str_addf(text, "%s waited, %s reclaimed, order %lld", fmt_duration(r->a[0]).s,
		 fmt_bytes(r->a[1]).s, (long long)r->a[2]);
	if (r->kind == TRACE_RECLAIM_NODE)
		str_addf(text, " on node %llu", (unsigned long long)r->a[4]);
	if (r->a[5]) {
		event_u64(e, "free_bytes", UNIT_BYTES, r->a[5]);
		str_addf(text, ", %s free", fmt_bytes(r->a[5]).s);
	}
	add_gfp(text, e, r->a[3]);
}

static void describe_shrink(struct str *text, struct event *e, const struct trace_record *r)
{
	event_u64(e, "latency_ns", UNIT_DURATION, r->a[0]);
	event_u64(e, "freed", UNIT_COUNT, r->a[1]);
	event_u64(e, "shrinker", UNIT_ADDRESS, r->a[2]);
	event_u64(e, "asked", UNIT_COUNT, r->a[3]);
	str_addf(text, "%s, %s of %s freed by shrinker 0x%llx", fmt_duration(r->a[0]).s,
		 fmt_count(r->a[1]).s, fmt_many(r->a[3], "object").s,
		 (unsigned long long)r->a[2]);
}

static void describe_throttled(struct str *text, struct event *e, const struct trace_record *r)
{
	event_u64(e, "latency_ns", UNIT_DURATION, r->a[0]);
	event_text(e, "reason", throttle_reason_name(r->a[1]));
	event_u64(e, "node", UNIT_NUMBER, r->a[2]);
	str_addf(text, "%s waited: %s, node %llu", fmt_duration(r->a[0]).s,
		 throttle_reason_name(r->a[1]), (unsigned long long)r->a[2]);
}

static void describe_kswapd(struct str *text, struct event *e, const struct trace_record *r)
{
	event_u64(e, "node", UNIT_NUMBER, r->a[0]);
	str_addf(text, "node %llu", (unsigned long long)r->a[0]);
	if (r->kind == TRACE_KSWAPD_SLEEP)
		return;
	event_u64(e, "order", UNIT_SIGNED, r->a[1]);
	str_addf(text, ", order %lld", (long long)r->a[1]);
	if (r->kind == TRACE_KSWAPD_CALL)
		add_gfp(text, e, r->a[2]);
}

void trace_describe_reclaim(struct str *text, struct event *e, const struct trace_record *r,
			    const char *tail)
{
	(void)tail;
	switch (r->kind) {
	case TRACE_RECLAIM:
	case TRACE_RECLAIM_MEMCG:
	case TRACE_RECLAIM_SOFT:
	case TRACE_RECLAIM_NODE:
		describe_wait(text, e, r);
		break;
	case TRACE_SHRINK:
		describe_shrink(text, e, r);
		break;
	case TRACE_THROTTLED:
		describe_throttled(text, e, r);
		break;
	case TRACE_KSWAPD_WAKE:
	case TRACE_KSWAPD_SLEEP:
	case TRACE_KSWAPD_CALL:
		describe_kswapd(text, e, r);
		break;
	}
}
