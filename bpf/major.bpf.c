/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page faults that had to wait for a device, at their end (perf's software event): swap-ins where
 * the area is anonymous, else reads of a file. Each has its stack.
 */
#include "bpf/area.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct fault_key);
	__type(value, struct major_row);
} major_rows SEC(".maps");

static __always_inline void count(const struct fault_key *key, u32 kind)
{
	struct major_row *row = bpf_map_lookup_elem(&major_rows, key);

	if (!row) {
		struct major_row first = { 0 };

		bpf_get_current_comm(first.comm, sizeof(first.comm));
		bpf_map_update_elem(&major_rows, key, &first, BPF_NOEXIST);
		row = bpf_map_lookup_elem(&major_rows, key);
		if (!row) {
			TRACE_COUNT(kind, dropped);
			return;
		}
	}
	__sync_fetch_and_add(&row->faults, 1);
}

/* fault_area_is_swapped() of the other side */
static __always_inline bool is_swapped(u16 area)
{
	return area == FAULT_ANONYMOUS || area == FAULT_ADVISED || area == FAULT_HEAP ||
	       area == FAULT_STACK || area == FAULT_STACK_GROWTH;
}

#define USER_CODE	3	/* cs: the level of privilege */

static __always_inline void major(const struct trace_task *t, struct bpf_perf_event_data *ctx,
				  const struct area *a, struct pt_regs *entry)
{
	struct pt_regs *regs = BPF_CORE_READ((struct bpf_perf_event_data_kern *)(void *)ctx, regs);
	bool user = (BPF_CORE_READ(regs, cs) & USER_CODE) == USER_CODE;
	u32 kind = is_swapped(a->area) ? TRACE_SWAP_IN : TRACE_FAULT_MAJOR;
	struct fault_program *program;
	struct trace_room *room;
	struct fault_key key;

	if (!user)
		regs = entry;
	trace_seen(kind);
	if (config.filters & TRACE_FAULTS_BY_PROGRAM) {
		program = area_program(t, kind);
		if (program)
			__sync_fetch_and_add(&program->major, 1);
	} else {
		area_key(&key, a, t->tgid, ctx->addr);
		count(&key, kind);
	}
	if (!trace_recorded(kind))
		return;
	room = trace_room(t, kind);
	if (!room)
		return;
	area_record(&room->r, ctx->addr, BPF_CORE_READ(regs, ip), user ? TRACE_FAULT_USER : 0, a);
	trace_send_stack(room, regs);
}

SEC("perf_event")
int major_with_areas(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct trace_task t;
	struct area a;

	if (!trace_wanted(&t))
		return 0;
	area_find(&a, task, ctx->addr);
	major(&t, ctx, &a, (void *)bpf_task_pt_regs(task));
	return 0;
}

/* Linux before 5.17: what is neither heap nor stack may be either kind. */
SEC("perf_event")
int major_without_areas(struct bpf_perf_event_data *ctx)
{
	struct area a = { 0 };
	struct trace_task t;

	if (!trace_wanted(&t))
		return 0;
	a.area = area_guess(ctx->addr);
	major(&t, ctx, &a, area_user_regs((void *)bpf_get_current_task()));
	return 0;
}
