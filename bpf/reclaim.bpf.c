/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reclaim: who waits for pages to be freed, and what that frees. Waits are records; shrinkers and
 * lists of pages are counted, because one wait has hundreds of them.
 */
#include "bpf/waits.h"

#include "bpf/reclaim_abi.h"

#define PAGE_BYTES	4096

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 1024);
	__type(key, u64);
	__type(value, struct reclaim_shrinker);
} reclaim_shrinkers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, RECLAIM_NR_LISTS);
	__type(key, u32);
	__type(value, struct reclaim_list);
} reclaim_lists SEC(".maps");

/* ---- who waits ---- */

static __always_inline int begin(u32 kind, u64 order, u32 gfp, u64 node)
{
	struct trace_task t;

	if (trace_recorded(kind) && trace_wanted(&t))
		wait_begin(kind, (s64)(int)order, gfp, node);
	return 0;
}

static __always_inline int end(u32 kind, u64 pages)
{
	struct wait_start start;
	struct trace_room *room;
	struct trace_task t;

	if (!trace_recorded(kind) || !trace_wanted(&t))
		return 0;
	if (!wait_end(kind, &start)) {
		TRACE_COUNT(kind, unpaired);
		return 0;
	}
	trace_seen(kind);
	if (!long_enough(start.ns))
		return 0;
	room = trace_room(&t, kind);
	if (!room)
		return 0;
	room->r.a[0] = start.ns;
	room->r.a[1] = pages * PAGE_BYTES;
	room->r.a[2] = start.a[0];
	room->r.a[3] = start.a[1];
	room->r.a[4] = start.a[2];
	send_waiter(room);
	return 0;
}

SEC("raw_tp/mm_vmscan_direct_reclaim_begin")
int reclaim_direct_begin(u64 *c)
{
	return begin(TRACE_RECLAIM, c[0], c[1], 0);
}

SEC("raw_tp/mm_vmscan_direct_reclaim_end")
int reclaim_direct_end(u64 *c)
{
	return end(TRACE_RECLAIM, c[0]);
}

SEC("raw_tp/mm_vmscan_memcg_reclaim_begin")
int reclaim_memcg_begin(u64 *c)
{
	return begin(TRACE_RECLAIM_MEMCG, c[0], c[1], 0);
}

SEC("raw_tp/mm_vmscan_memcg_reclaim_end")
int reclaim_memcg_end(u64 *c)
{
	return end(TRACE_RECLAIM_MEMCG, c[0]);
}

SEC("raw_tp/mm_vmscan_memcg_softlimit_reclaim_begin")
int reclaim_soft_begin(u64 *c)
{
	return begin(TRACE_RECLAIM_SOFT, c[0], c[1], 0);
}

SEC("raw_tp/mm_vmscan_memcg_softlimit_reclaim_end")
int reclaim_soft_end(u64 *c)
{
	return end(TRACE_RECLAIM_SOFT, c[0]);
}

SEC("raw_tp/mm_vmscan_node_reclaim_begin")
int reclaim_node_begin(u64 *c)
{
	return begin(TRACE_RECLAIM_NODE, c[1], c[2], (u32)c[0]);
}

SEC("raw_tp/mm_vmscan_node_reclaim_end")
int reclaim_node_end(u64 *c)
{
	return end(TRACE_RECLAIM_NODE, c[0]);
}

SEC("raw_tp/mm_vmscan_throttled")
int reclaim_throttled(u64 *c)
{
	u64 ns = (u64)(u32)c[2] * 1000;
	struct trace_room *room;
	struct trace_task t;

	if (!trace_recorded(TRACE_THROTTLED) || !trace_wanted(&t))
		return 0;
	trace_seen(TRACE_THROTTLED);
	if (!long_enough(ns))
		return 0;
	room = trace_room(&t, TRACE_THROTTLED);
	if (!room)
		return 0;
	room->r.a[0] = ns;
	room->r.a[1] = (u32)c[3];
	room->r.a[2] = (u32)c[0];
	send_waiter(room);
	return 0;
}

/* ---- kswapd ---- */

static __always_inline int kswapd(u32 kind, u32 node, u64 order, u32 gfp)
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
		r->a[2] = gfp;
		trace_end(r);
	}
	return 0;
}

SEC("raw_tp/mm_vmscan_kswapd_wake")
int reclaim_kswapd_wake(u64 *c)
{
	return kswapd(TRACE_KSWAPD_WAKE, c[0], c[2], 0);
}

SEC("raw_tp/mm_vmscan_kswapd_sleep")
int reclaim_kswapd_sleep(u64 *c)
{
	return kswapd(TRACE_KSWAPD_SLEEP, c[0], 0, 0);
}

/* The process whose allocation calls for it. */
SEC("raw_tp/mm_vmscan_wakeup_kswapd")
int reclaim_kswapd_call(u64 *c)
{
	return kswapd(TRACE_KSWAPD_CALL, c[0], c[2], c[3]);
}

/* ---- shrinkers ---- */

SEC("raw_tp/mm_shrink_slab_start")
int reclaim_shrink_begin(u64 *c)
{
	struct trace_task t;

	if (trace_recorded(TRACE_SHRINK) && trace_wanted(&t))
		wait_begin(TRACE_SHRINK, c[5], 0, 0);
	return 0;
}

static __always_inline u32 slot_of(u64 ns)
{
	u32 slot = 0;

	for (int bit = 16; bit; bit /= 2)
		if (ns >> slot >> bit)
			slot += bit;
	return slot;
}

static __always_inline struct reclaim_shrinker *shrinker_of(u64 function)
{
	struct reclaim_shrinker *s = bpf_map_lookup_elem(&reclaim_shrinkers, &function);
	static const struct reclaim_shrinker none;

	if (s)
		return s;
	bpf_map_update_elem(&reclaim_shrinkers, &function, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&reclaim_shrinkers, &function);
}

static __always_inline void count_shrink(u64 function, const struct wait_start *start, u64 freed)
{
	struct reclaim_shrinker *s = shrinker_of(function);

	if (!s) {
		TRACE_COUNT(TRACE_SHRINK, dropped);
		return;
	}
	s->calls++;
	s->ns += start->ns;
	s->asked += start->a[0];
	s->freed += freed;
	s->slots[slot_of(start->ns) & (RECLAIM_SLOTS - 1)]++;
}

SEC("raw_tp/mm_shrink_slab_end")
int reclaim_shrink_end(u64 *c)
{
	u64 function = (u64)BPF_CORE_READ((struct shrinker *)c[0], scan_objects);
	u64 freed = (u64)(s64)(int)c[2] == ~0ull ? 0 : (u32)c[2];	/* -1: SHRINK_STOP */
	struct wait_start start;
	struct trace_record *r;
	struct trace_task t;

	if (!trace_recorded(TRACE_SHRINK) || !trace_wanted(&t))
		return 0;
	if (!wait_end(TRACE_SHRINK, &start)) {
		TRACE_COUNT(TRACE_SHRINK, unpaired);
		return 0;
	}
	trace_seen(TRACE_SHRINK);
	count_shrink(function, &start, freed);
	if (!config.min_ns || !long_enough(start.ns))
		return 0;
	r = trace_begin(&t, TRACE_SHRINK);
	if (r) {
		r->a[0] = start.ns;
		r->a[1] = freed;
		r->a[2] = function;
		r->a[3] = start.a[0];
		trace_end(r);
	}
	return 0;
}

/* ---- lists of pages ---- */

static __always_inline struct reclaim_list *list_of(bool file)
{
	u32 key = file ? RECLAIM_FILE : RECLAIM_ANON;

	return bpf_map_lookup_elem(&reclaim_lists, &key);
}

SEC("raw_tp/mm_vmscan_lru_shrink_inactive")
int reclaim_inactive(u64 *c)
{
	struct reclaim_stat *stat = (void *)c[3];
	struct reclaim_list *l;
	struct trace_task t;

	if (!trace_wanted(&t))
		return 0;
	l = list_of((int)c[5]);
	if (!l)
		return 0;
	l->scans++;
	l->scanned += c[1];
	l->reclaimed += c[2];
	l->dirty += BPF_CORE_READ(stat, nr_dirty);
	l->writeback += BPF_CORE_READ(stat, nr_writeback);
	l->referenced += BPF_CORE_READ(stat, nr_ref_keep);
	return 0;
}

SEC("raw_tp/mm_vmscan_lru_shrink_active")
int reclaim_active(u64 *c)
{
	struct reclaim_list *l;
	struct trace_task t;

	if (!trace_wanted(&t))
		return 0;
	l = list_of((int)c[6]);
	if (!l)
		return 0;
	l->active_scanned += c[1];
	l->deactivated += c[3];
	return 0;
}

#define MAPPING_ANON	1	/* PAGE_MAPPING_ANON, in the pointer's lowest bits */

static __always_inline int written(u64 mapping)
{
	struct reclaim_list *l;
	struct trace_task t;

	if (!trace_recorded(TRACE_WRITEBACK) || !trace_wanted(&t))
		return 0;
	trace_seen(TRACE_WRITEBACK);
	l = list_of(!(mapping & MAPPING_ANON));
	if (l)
		l->written++;
	return 0;
}

SEC("raw_tp/mm_vmscan_write_folio")
int reclaim_write_folio(u64 *c)
{
	return written((u64)BPF_CORE_READ((struct folio *)c[0], mapping));
}

/* Before 6.1. */
SEC("raw_tp/mm_vmscan_writepage")
int reclaim_write_page(u64 *c)
{
	return written((u64)BPF_CORE_READ((struct page *)c[0], mapping));
}
