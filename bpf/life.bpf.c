/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes: exec, fork, exit, other names, OOM scores. Also keeps the table of targets. */
#include "bpf/trace.h"

SEC("tp_btf/sched_process_fork")
int BPF_PROG(life_fork, struct task_struct *parent, struct task_struct *child)
{
	struct trace_target value = { .begun_ns = bpf_ktime_get_ns() };
	struct trace_record *r;
	struct trace_task t;
	u32 tgid, tid;

	if (!trace_targeted(&t))
		return 0;
	tid = trace_number_of(child);
	tgid = trace_number_of(BPF_CORE_READ(child, group_leader));
	/* also a child that may get the name or user that is wanted later */
	if (config.filters & TRACE_FOLLOW && tgid && tgid != t.tgid &&
	    bpf_map_update_elem(&targets, &tgid, &value, BPF_ANY))
		TRACE_COUNT(TRACE_FORK, dropped);
	if (!trace_passes(&t))
		return 0;
	trace_seen(TRACE_FORK);
	if (!trace_recorded(TRACE_FORK))
		return 0;
	r = trace_begin(&t, TRACE_FORK);
	if (r) {
		r->time_ns = value.begun_ns;
		r->a[0] = tgid;
		r->a[1] = tid;
		trace_end(r);
	}
	return 0;
}

/* The program's arguments as its memory has them, NULs between: how many bytes. */
static __always_inline u64 read_arguments(struct trace_room *room, struct mm_struct *mm)
{
	u64 start = BPF_CORE_READ(mm, arg_start), bytes = BPF_CORE_READ(mm, arg_end) - start;

	if (bytes > TRACE_TEXT_MAX - TRACE_TEXT_SECOND)
		bytes = TRACE_TEXT_MAX - TRACE_TEXT_SECOND;
	if (bpf_probe_read_user(room->text + TRACE_TEXT_SECOND, bytes, (void *)start))
		return 0;
	return bytes;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(life_exec, struct task_struct *task, int old_pid, struct linux_binprm *binprm)
{
	struct trace_target *target;
	struct trace_room *room;
	struct trace_task t;

	if (!trace_wanted(&t))
		return 0;
	trace_seen(TRACE_EXEC);
	if (!trace_recorded(TRACE_EXEC))
		return 0;
	room = trace_room(&t, TRACE_EXEC);
	if (!room)
		return 0;
	target = bpf_map_lookup_elem(&targets, &t.tgid);
	if (target)
		target->begun_ns = room->r.time_ns;
	room->r.a[0] = trace_number_of(BPF_CORE_READ(task, real_parent, group_leader));
	bpf_probe_read_kernel_str(room->text, TRACE_TEXT_SECOND,
				  BPF_CORE_READ(binprm, filename));
	trace_send_texts(room, read_arguments(room, BPF_CORE_READ(task, mm)));
	return 0;
}

#define PAGE_BYTES	4096

SEC("tp_btf/sched_process_exit")
int BPF_PROG(life_exit, struct task_struct *task)
{
	struct trace_record *r;
	struct trace_task t;
	bool whole;

	if (!trace_targeted(&t))
		return 0;
	whole = BPF_CORE_READ(task, signal, live.counter) == 0;
	if (whole)
		bpf_map_delete_elem(&targets, &t.tgid);
	if (!trace_passes(&t))
		return 0;
	trace_seen(TRACE_EXIT);
	r = trace_recorded(TRACE_EXIT) ? trace_begin(&t, TRACE_EXIT) : NULL;
	if (r) {
		r->a[0] = BPF_CORE_READ(task, exit_code);
		r->a[1] = BPF_CORE_READ(task, signal, maxrss) * PAGE_BYTES;
		r->a[2] = whole;
		r->a[3] = trace_number_of(BPF_CORE_READ(task, real_parent, group_leader));
		r->a[4] = bpf_ktime_get_ns() - BPF_CORE_READ(task, start_time);
		trace_end(r);
	}
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(life_rename, struct task_struct *task, const char *comm)
{
	struct trace_room *room;
	struct trace_task t;

	if (!trace_wanted(&t))
		return 0;
	trace_seen(TRACE_RENAME);
	if (!trace_recorded(TRACE_RENAME))
		return 0;
	room = trace_room(&t, TRACE_RENAME);
	if (room)
		trace_send_text(room, bpf_probe_read_kernel_str(room->text, TRACE_COMM_BYTES, comm));
	return 0;
}

SEC("tp_btf/oom_score_adj_update")
int BPF_PROG(life_oom_score, struct task_struct *task)
{
	struct trace_record *r;
	struct trace_task t;

	if (!trace_wanted(&t))
		return 0;
	trace_seen(TRACE_OOM_SCORE);
	if (!trace_recorded(TRACE_OOM_SCORE))
		return 0;
	r = trace_begin(&t, TRACE_OOM_SCORE);
	if (r) {
		r->a[0] = (s64)BPF_CORE_READ(task, signal, oom_score_adj);
		r->a[1] = trace_number_of(task);
		trace_end(r);
	}
	return 0;
}
