/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The OOM killer: whom it chooses, who ran into the limit, and when the victim's memory is free
 * again. The current task is the one that asked for memory.
 */
#include "bpf/trace.h"

#define PAGE_BYTES	4096ull

/* mm->rss_stat: plain counters until 6.1, per-CPU ones since 6.2, of which the common part is read. */
struct mm_rss_stat {
	struct {
		long counter;
	} count[4];
} KERNEL_TYPE;

struct mm_struct___plain {
	struct mm_rss_stat rss_stat;
} KERNEL_TYPE;

struct percpu_counter {
	s64 count;
} KERNEL_TYPE;

struct mm_struct___percpu {
	struct percpu_counter rss_stat[4];
} KERNEL_TYPE;

struct mm_struct___tables {
	struct {
		long counter;
	} pgtables_bytes;
} KERNEL_TYPE;

enum { FILE_PAGES, ANON_PAGES, SWAP_PAGES, SHMEM_PAGES };	/* include/linux/mm_types_task.h */

static __always_inline u64 pages_of(struct mm_struct *mm, int kind)
{
	s64 pages = 0;

	if (bpf_core_type_exists(struct mm_rss_stat)) {
		struct mm_struct___plain *plain = (void *)mm;
		void *at = __builtin_preserve_access_index(&plain->rss_stat);

		bpf_probe_read_kernel(&pages, sizeof(pages), (s64 *)at + kind);
	} else {
		struct mm_struct___percpu *percpu = (void *)mm;
		void *at = __builtin_preserve_access_index(&percpu->rss_stat[0]);

		at += kind * bpf_core_type_size(struct percpu_counter);
		at += bpf_core_field_offset(struct percpu_counter, count);
		bpf_probe_read_kernel(&pages, sizeof(pages), at);
	}
	return pages < 0 ? 0 : pages * PAGE_BYTES;
}

/* The victim counts as wanted, as well as the process that ran into the limit. */
static __always_inline bool wanted(struct trace_task *t, struct task_struct *task, u32 victim)
{
	u64 memcg;

	if (trace_wanted(t))
		return true;
	if (config.filters & (TRACE_ONLY_UID | TRACE_ONLY_COMM) || t->tgid == config.self)
		return false;
	if (config.filters & TRACE_ONLY_MEMCG && (!task || !trace_in_memcg(task, &memcg)))
		return false;
	return config.filters & TRACE_ONLY_TARGETS ? !!bpf_map_lookup_elem(&targets, &victim)
						   : true;
}

static __always_inline void send_sizes(struct trace_task *t, u32 victim, struct mm_struct *mm)
{
	struct mm_struct___tables *tables = (void *)mm;
	struct trace_record *r;

	trace_seen(TRACE_OOM_SIZES);
	r = trace_begin(t, TRACE_OOM_SIZES);
	if (!r)
		return;
	r->a[0] = victim;
	r->a[1] = BPF_CORE_READ(mm, total_vm) * PAGE_BYTES;
	r->a[2] = pages_of(mm, ANON_PAGES);
	r->a[3] = pages_of(mm, FILE_PAGES);
	r->a[4] = pages_of(mm, SHMEM_PAGES);
	r->a[5] = BPF_CORE_READ(tables, pgtables_bytes.counter);
	trace_end(r);
}

static __always_inline void send_victim(struct trace_task *t, struct task_struct *task,
					u32 victim, u64 memcg)
{
	struct trace_room *room;

	trace_seen(TRACE_OOM);
	room = trace_room(t, TRACE_OOM);
	if (!room)
		return;
	room->r.a[0] = victim;
	if (!task) {
		trace_send_text(room, 0);
		return;
	}
	room->r.a[1] = memcg;
	room->r.a[2] = BPF_CORE_READ(task, cred, uid.val);
	room->r.a[3] = (s64)BPF_CORE_READ(task, signal, oom_score_adj);
	room->r.a[4] = 1;
	trace_send_text(room, bpf_probe_read_kernel_str(room->text, TRACE_COMM_BYTES,
							BPF_CORE_READ(task, group_leader, comm)));
}

/* (task, uid); before 6.8, where no update brought it, (pid). */
SEC("raw_tp/mark_victim")
int oom_victim(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = config.nr_args > 1 ? (void *)ctx->args[0] : NULL;
	struct mm_struct *mm = task ? BPF_CORE_READ(task, mm) : NULL;
	u64 memcg = task ? trace_memcg_of(task) : 0;
	u32 victim = task ? trace_number_of(BPF_CORE_READ(task, group_leader))
			  : (u32)ctx->args[0];
	struct trace_task t;

	if (!wanted(&t, task, victim))
		return 0;
	if (mm)
		send_sizes(&t, victim, mm);
	send_victim(&t, task, victim, memcg);
	return 0;
}

/* (pid of the first namespace): the victim's memory is free; in a thread of the kernel. */
SEC("raw_tp/finish_task_reaping")
int oom_reaped(struct bpf_raw_tracepoint_args *ctx)
{
	struct trace_task t = { 0 };
	u32 victim = ctx->args[0];
	struct trace_record *r;

	/* targets are numbers of pmm's namespace, which that of another one cannot be compared to */
	if (config.ns_ino ||
	    (config.filters & TRACE_ONLY_TARGETS && !bpf_map_lookup_elem(&targets, &victim)))
		return 0;
	if (!trace_pids(&t.tgid, &t.tid))
		return 0;
	trace_seen(TRACE_OOM_REAPED);
	r = trace_begin(&t, TRACE_OOM_REAPED);
	if (r) {
		r->a[0] = victim;
		trace_end(r);
	}
	return 0;
}
