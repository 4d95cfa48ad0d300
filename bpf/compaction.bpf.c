/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compaction: pages moved together so that there are large free ones; who waits for it. */
#include "bpf/waits.h"

#include "bpf/compaction_abi.h"

/*
 * Before 6.1 the beginning does not say for what it is: the thread has said it just before. Old
 * entries make room; then it is not known.
 */
struct asked {
	u32 order, gfp;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct asked);
} compaction_asked SEC(".maps");

#define ARGS_5_10	6	/* of mm_compaction_end */

static __always_inline void remember(u32 order, u32 gfp)
{
	struct asked asked = { order, gfp };
	u32 tid = bpf_get_current_pid_tgid();

	bpf_map_update_elem(&compaction_asked, &tid, &asked, BPF_ANY);
}

SEC("raw_tp/mm_compaction_try_to_compact_pages")
int compaction_try(u64 *c)
{
	struct trace_task t;

	if (config.nr_args == ARGS_5_10 && trace_recorded(TRACE_COMPACTION) && trace_wanted(&t))
		remember(c[0], c[1]);
	return 0;
}

static __always_inline void begin_5_10(bool sync)
{
	u32 tid = bpf_get_current_pid_tgid();
	struct asked *asked = bpf_map_lookup_elem(&compaction_asked, &tid);

	wait_begin(TRACE_COMPACTION, asked ? (s64)(int)asked->order : TRACE_ORDER_UNKNOWN,
		   asked ? asked->gfp : 0, sync ? TRACE_MODE_SYNC : MIGRATE_ASYNC);
}

SEC("raw_tp/mm_compaction_begin")
int compaction_begin(u64 *c)
{
	struct compact_control *cc = (void *)c[0];
	struct trace_task t;

	if (!trace_recorded(TRACE_COMPACTION) || !trace_wanted(&t))
		return 0;
	if (config.nr_args == ARGS_5_10)
		begin_5_10(TRACE_ARGUMENT(c, 4) & 1);
	else
		wait_begin(TRACE_COMPACTION, (s64)BPF_CORE_READ(cc, order),
			   BPF_CORE_READ(cc, gfp_mask), BPF_CORE_READ(cc, mode));
	return 0;
}

SEC("raw_tp/mm_compaction_end")
int compaction_end(u64 *c)
{
	struct wait_start start;
	struct trace_room *room;
	struct trace_task t;
	u32 status;

	if (!trace_recorded(TRACE_COMPACTION) || !trace_wanted(&t))
		return 0;
	if (!wait_end(TRACE_COMPACTION, &start)) {
		TRACE_COUNT(TRACE_COMPACTION, unpaired);
		return 0;
	}
	trace_seen(TRACE_COMPACTION);
	if (!long_enough(start.ns))
		return 0;
	if (config.nr_args == ARGS_5_10)
		status = TRACE_ARGUMENT(c, 5);
	else
		status = TRACE_ARGUMENT(c, 4);
	room = trace_room(&t, TRACE_COMPACTION);
	if (!room)
		return 0;
	room->r.a[0] = start.ns;
	room->r.a[1] = start.a[0];
	room->r.a[2] = status;
	room->r.a[3] = start.a[1];
	room->r.a[4] = start.a[2];
	send_waiter(room);
	return 0;
}

/* ---- kcompactd ---- */

static __always_inline int kcompactd(u32 kind, u32 node, u64 order)
{
	struct trace_record *r;
	struct trace_task t;

	if (!trace_recorded(kind) || !trace_wanted(&t))
		return 0;
	trace_seen(kind);
	r = trace_begin(&t, kind);
	if (r) {
		r->a[0] = node;
		r->a[1] = (s64)(int)order;
		trace_end(r);
	}
	return 0;
}

SEC("raw_tp/mm_compaction_kcompactd_wake")
int compaction_wake(u64 *c)
{
	if (config.nr_args == ARGS_5_10)
		remember(c[1], 0);
	return kcompactd(TRACE_KCOMPACTD_WAKE, c[0], c[1]);
}

SEC("raw_tp/mm_compaction_kcompactd_sleep")
int compaction_sleep(u64 *c)
{
	return kcompactd(TRACE_KCOMPACTD_SLEEP, c[0], 0);
}

SEC("raw_tp/mm_compaction_wakeup_kcompactd")
int compaction_call(u64 *c)
{
	return kcompactd(TRACE_KCOMPACTD_CALL, c[0], c[1]);
}
