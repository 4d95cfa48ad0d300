/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all programs share: the tables that every group's object has in common (the loader makes
 * each once), filters, counts, records with text or with a copy of the user stack.
 *
 * A program does this:
 *
 *	struct trace_task t;
 *
 *	if (!trace_wanted(&t))
 *		return 0;
 *	trace_seen(TRACE_EXEC);
 *	r = trace_begin(&t, TRACE_EXEC);
 *	if (r) {
 *		r->a[0] = ...;
 *		trace_end(r);
 *	}
 *
 * or, with text or a stack, through the processor's own struct trace_room (trace_room(),
 * trace_send_text(), trace_send_stack()).
 */
#ifndef BPF_TRACE_H
#define BPF_TRACE_H

#include "bpf/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/trace_abi.h"

char trace_license[] SEC("license") = "GPL";

/*
 * Argument n of a raw tracepoint, by a load that clang cannot merge with another one: the verifier
 * wants a constant offset.
 */
#define TRACE_ARGUMENT(ctx, n)                                                                     \
	({                                                                                         \
		u64 value_;                                                                        \
		asm volatile("%0 = *(u64 *)(%1 + %2)" : "=r"(value_) : "r"(ctx), "i"((n) * 8));    \
		value_;                                                                            \
	})

/* Sizes of the shared tables are the loader's affair. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, u32);
	__type(value, struct trace_target);
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TRACE_NR_KINDS);
	__type(key, u32);
	__type(value, struct trace_counts);
} counts SEC(".maps");

const volatile struct trace_config config = { 0 };

/* Who runs: numbers of pmm's pid namespace. */
struct trace_task {
	u32 tgid, tid;
	u64 memcg;
};

/* A record being made, one for each processor and object. */
struct trace_room {
	u32 busy;
	u32 gap;			/* of trace_copy_stack() */
	u64 got;
	struct trace_record r;
	union {
		char text[TRACE_TEXT_MAX];
		struct {
			struct trace_regs regs;
			char stack[TRACE_STACK_MAX];
		};
	};
};

/* One element of a plain array for each processor: values of per-CPU arrays are at most 32 KiB. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct trace_room);
} rooms SEC(".maps");

static __always_inline struct trace_counts *trace_counts_of(u32 kind)
{
	return bpf_map_lookup_elem(&counts, &kind);
}

#define TRACE_COUNT(kind, member)                                                                  \
	do {                                                                                       \
		struct trace_counts *counts_ = trace_counts_of(kind);                              \
		if (counts_)                                                                       \
			counts_->member++;                                                         \
	} while (0)

static __always_inline void trace_seen(u32 kind)
{
	TRACE_COUNT(kind, seen);
}

/* Are records of this kind wanted, or is counting enough? */
static __always_inline bool trace_recorded(u32 kind)
{
	return config.kinds[kind / 64] >> kind % 64 & 1;
}

/* A task's state in its memory control group, in either version of the hierarchy; NULL: none. */
static __always_inline struct cgroup_subsys_state *trace_memcg_state(struct task_struct *task)
{
	u32 index = bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id);
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	struct cgroup_subsys_state **list = __builtin_preserve_access_index(&set->subsys[0]);
	struct cgroup_subsys_state *css = NULL;

	bpf_probe_read_kernel(&css, sizeof(css), list + index);
	return css;
}

/* The memory control group's id; bpf_get_current_cgroup_id() knows the second version only. */
static __always_inline u64 trace_memcg_of(struct task_struct *task)
{
	struct cgroup_subsys_state *css = trace_memcg_state(task);

	return css ? BPF_CORE_READ(css, cgroup, kn, id) : 0;
}

/* So many groups above its own are looked at. */
#define TRACE_MAX_ABOVE	32

/*
 * Is one of the groups above the one that is wanted? The address of a struct cgroup_subsys_state.
 * A global function, as trace_ns_number().
 */
__attribute__((noinline)) int trace_memcg_below(u64 address)
{
	struct cgroup_subsys_state *css = (void *)address;

	for (int i = 0; i < TRACE_MAX_ABOVE; i++) {
		css = BPF_CORE_READ(css, parent);
		if (!css)
			break;
		if (BPF_CORE_READ(css, cgroup, kn, id) == config.memcg)
			return 1;
	}
	return 0;
}

/* Is a task in the group that is wanted, or below it? Its own group's id into *id. */
static __always_inline bool trace_in_memcg(struct task_struct *task, u64 *id)
{
	struct cgroup_subsys_state *css = trace_memcg_state(task);

	if (!css)
		return false;
	*id = BPF_CORE_READ(css, cgroup, kn, id);
	return *id == config.memcg ||
	       (config.filters & TRACE_MEMCG_BELOW && trace_memcg_below((u64)css));
}

/* So many pid namespaces below its own pmm finds the numbers of. */
#define TRACE_MAX_BELOW	4

/*
 * The number in pmm's pid namespace that a struct pid has; 0: none. A global function, which the
 * verifier looks at once, not at each call; it takes numbers only.
 */
__attribute__((noinline)) u32 trace_ns_number(u64 address)
{
	struct pid *pid = (struct pid *)address;
	char *first = (char *)__builtin_preserve_access_index(&pid->numbers[0]);
	u32 own = BPF_CORE_READ(pid, level);

	for (u32 below = 0; below <= TRACE_MAX_BELOW && below <= own; below++) {
		struct upid *upid = (void *)(first + (own - below) * bpf_core_type_size(struct upid));

		if (BPF_CORE_READ(upid, ns, ns.inum) == config.ns_ino)
			return BPF_CORE_READ(upid, nr);
	}
	return 0;
}

/* A thread's number in pmm's pid namespace; 0: it is not in there. */
static __always_inline u32 trace_number_of(struct task_struct *task)
{
	return config.ns_ino ? trace_ns_number((u64)BPF_CORE_READ(task, thread_pid))
			     : (u32)BPF_CORE_READ(task, pid);
}

/* The numbers of the current task in pmm's pid namespace; false: it is not in there. */
static __always_inline bool trace_pids(u32 *tgid, u32 *tid)
{
	struct task_struct *task;
	struct bpf_pidns_info ns;
	u64 both;

	if (!config.ns_ino) {
		both = bpf_get_current_pid_tgid();
		*tgid = both >> 32;
		*tid = both;
		return true;
	}
	if (!bpf_get_ns_current_pid_tgid(config.ns_dev, config.ns_ino, &ns, sizeof(ns))) {
		*tgid = ns.tgid;
		*tid = ns.pid;
		return true;
	}
	task = (void *)bpf_get_current_task();		/* of a namespace below, or of none of ours */
	*tid = trace_number_of(task);
	*tgid = *tid ? trace_number_of(BPF_CORE_READ(task, group_leader)) : 0;
	return *tgid;
}

static __always_inline bool trace_is_named(const char *comm)
{
	for (int i = 0; i < TRACE_COMM_BYTES; i++) {
		if (comm[i] != config.comm[i])
			return false;
		if (!comm[i])
			break;
	}
	return true;
}

/* Does the thread have the name that is wanted, or its process? */
static __always_inline bool trace_same_comm(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	char comm[TRACE_COMM_BYTES];

	if (!bpf_get_current_comm(comm, sizeof(comm)) && trace_is_named(comm))
		return true;
	BPF_CORE_READ_STR_INTO(&comm, task, group_leader, comm);
	return trace_is_named(comm);
}

/* Is the current task's process among those to trace, whatever the filters say of it now? */
static __always_inline bool trace_targeted(struct trace_task *t)
{
	t->memcg = 0;
	if (!trace_pids(&t->tgid, &t->tid) || t->tgid == config.self)
		return false;
	return !(config.filters & TRACE_ONLY_TARGETS) || bpf_map_lookup_elem(&targets, &t->tgid);
}

/* Does it have the user, name and control group that are wanted? */
static __always_inline bool trace_passes(struct trace_task *t)
{
	if (config.filters & TRACE_ONLY_UID && (u32)bpf_get_current_uid_gid() != config.uid)
		return false;
	if (config.filters & TRACE_ONLY_COMM && !trace_same_comm())
		return false;
	return !(config.filters & TRACE_ONLY_MEMCG) ||
	       trace_in_memcg((void *)bpf_get_current_task(), &t->memcg);
}

/* Do the filters want what the current task does? */
static __always_inline bool trace_wanted(struct trace_task *t)
{
	return trace_targeted(t) && trace_passes(t);
}

static __always_inline void trace_fill(struct trace_record *r, const struct trace_task *t,
				       u32 kind)
{
	r->time_ns = bpf_ktime_get_ns();
	r->kind = kind;
	r->flags = 0;
	r->tgid = t->tgid;
	r->tid = t->tid;
	r->uid = bpf_get_current_uid_gid();
	r->tail_bytes = 0;
	r->memcg = t->memcg ? t->memcg : trace_memcg_of((void *)bpf_get_current_task());
	r->weight = 1;
	for (int i = 0; i < TRACE_NR_ARGS; i++)
		r->a[i] = 0;
	bpf_get_current_comm(r->comm, sizeof(r->comm));
}

/* A record without a tail, to be filled and handed over by trace_end(); NULL: counted as lost. */
static __always_inline struct trace_record *trace_begin(const struct trace_task *t, u32 kind)
{
	struct trace_record *r = bpf_ringbuf_reserve(&events, sizeof(*r), 0);

	if (!r) {
		TRACE_COUNT(kind, lost);
		return NULL;
	}
	trace_fill(r, t, kind);
	return r;
}

/* pmm looks into the ring by its own clock: waking it for each record costs ten times as much. */
static __always_inline void trace_end(struct trace_record *r)
{
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/*
 * This processor's room, with its record begun; NULL: a program that this one interrupts is using
 * it, which is counted as dropped. Ends with trace_send_*().
 */
static __always_inline struct trace_room *trace_room(const struct trace_task *t, u32 kind)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct trace_room *room = bpf_map_lookup_elem(&rooms, &cpu);

	if (!room || room->busy) {
		TRACE_COUNT(kind, dropped);
		return NULL;
	}
	room->busy = 1;
	trace_fill(&room->r, t, kind);
	return room;
}

static __always_inline void trace_send(struct trace_room *room, u64 bytes)
{
	if (bpf_ringbuf_output(&events, &room->r, bytes, BPF_RB_NO_WAKEUP))
		TRACE_COUNT(room->r.kind, lost);
	room->busy = 0;
}

/* `got`: what a bpf_probe_read_*_str() into room->text has returned. */
static __always_inline void trace_send_text(struct trace_room *room, long got)
{
	u64 bytes = got > 0 ? got - 1 : 0;

	if (bytes >= TRACE_TEXT_MAX)
		bytes = TRACE_TEXT_MAX - 1;
	if (bytes == TRACE_TEXT_MAX - 1)
		room->r.flags |= TRACE_CUT;
	room->r.flags |= TRACE_TEXT;
	room->r.tail_bytes = bytes;
	trace_send(room, sizeof(room->r) + bytes);
}

/* The second text ends after `bytes`; the first one is a string. */
static __always_inline void trace_send_texts(struct trace_room *room, u64 bytes)
{
	if (bytes > TRACE_TEXT_MAX - TRACE_TEXT_SECOND)
		bytes = TRACE_TEXT_MAX - TRACE_TEXT_SECOND;
	if (bytes == TRACE_TEXT_MAX - TRACE_TEXT_SECOND)
		room->r.flags |= TRACE_CUT;
	room->r.flags |= TRACE_TEXT;
	room->r.tail_bytes = TRACE_TEXT_SECOND + bytes;
	trace_send(room, sizeof(room->r) + TRACE_TEXT_SECOND + bytes);
}

#define TRACE_PAGE_BYTES	4096ull
#define TRACE_MAX_PARTS		(TRACE_STACK_MAX / 4096 + 1)

/* So many pages may be missing between the stack pointer and the first that is there. */
#define TRACE_MAX_MISSING	8

/*
 * Copy the user stack page by page, up to its end. Pages that are not there are left out and noted:
 * a stack that is just growing has none at its pointer, and a frame with a large array may leave
 * some untouched. Two in a row behind others are the end; without it the copy is TRACE_CUT.
 *
 * What was met is counted in the room: counted in registers, it makes each round another one to the
 * verifier, and 6.1 gives up among 2^17 ways through the loop.
 */
static __always_inline u64 trace_copy_stack(struct trace_room *room, u64 sp, u64 limit)
{
	u64 done = 0, part;

	if (limit > TRACE_STACK_MAX)
		limit = TRACE_STACK_MAX;
	room->regs.missing = 0;
	room->got = 0;
	room->gap = 0;
	for (int i = 0; i < TRACE_MAX_PARTS; i++) {
		part = TRACE_PAGE_BYTES - ((sp + done) & (TRACE_PAGE_BYTES - 1));
		if (done >= limit)
			break;
		if (part > limit - done)
			part = limit - done;
		/* for the verifier, which has forgotten by now what clang knows */
		asm volatile("" : "+r"(part));
		if (done > TRACE_STACK_MAX - TRACE_PAGE_BYTES || part > TRACE_PAGE_BYTES)
			break;
		if (bpf_probe_read_user(room->stack + done, part, (void *)(sp + done))) {
			room->regs.missing |= 1ull << i;
			if (++room->gap >= (room->got ? 2 : TRACE_MAX_MISSING))
				return room->got;
		} else {
			room->gap = 0;
			room->got = done + part;
		}
		done += part;
	}
	room->r.flags |= TRACE_CUT;
	return done;
}

/*
 * A ring that fills loses its stacks before it loses events: calls, of which there can be very
 * many, from when it is half full, all others at seven eighths.
 */
static __always_inline bool trace_has_room(u32 kind)
{
	bool call = kind >= TRACE_MMAP && kind <= TRACE_SHM_UNLINK;

	return bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) * 8 <
	       bpf_ringbuf_query(&events, BPF_RB_RING_SIZE) * (call ? 4 : 7);
}

static __always_inline void trace_send_copy(struct trace_room *room, struct pt_regs *regs,
					    u64 skipped, u64 limit)
{
	u64 bytes = 0;

	room->regs.ip = BPF_CORE_READ(regs, ip);
	room->regs.sp = BPF_CORE_READ(regs, sp);
	room->regs.saved[0] = BPF_CORE_READ(regs, bp);
	room->regs.saved[1] = BPF_CORE_READ(regs, bx);
	room->regs.saved[2] = BPF_CORE_READ(regs, r12);
	room->regs.saved[3] = BPF_CORE_READ(regs, r13);
	room->regs.saved[4] = BPF_CORE_READ(regs, r14);
	room->regs.saved[5] = BPF_CORE_READ(regs, r15);
	room->regs.saved[6] = BPF_CORE_READ(regs, r10);
	room->regs.saved[7] = BPF_CORE_READ(regs, r11);
	room->regs.skipped = skipped;
	room->regs.missing = 0;
	if (config.stack_bytes) {
		if (trace_has_room(room->r.kind))
			bytes = trace_copy_stack(room, room->regs.sp + skipped, limit);
		else
			room->r.flags |= TRACE_NO_ROOM;
		room->r.flags |= TRACE_STACK;
	}
	if (bytes > TRACE_STACK_MAX)
		bytes = TRACE_STACK_MAX;
	room->r.tail_bytes = bytes;
	trace_send(room, room->r.flags & TRACE_STACK ?
				 sizeof(room->r) + sizeof(room->regs) + bytes : sizeof(room->r));
}

/* `regs`: the user registers of the current task. */
static __always_inline void trace_send_stack(struct trace_room *room, struct pt_regs *regs)
{
	trace_send_copy(room, regs, 0, config.stack_bytes);
}

#define TRACE_MAX_SKIPPED	4096u	/* pages */

/* Bytes from the stack pointer to the first page that is there, where that is far. */
static __always_inline u64 trace_far_stack(u64 sp)
{
	u64 at = sp;
	char byte;

	for (u32 i = 0; i < TRACE_MAX_SKIPPED; i++) {
		if (!bpf_probe_read_user(&byte, 1, (void *)at))
			return i > TRACE_MAX_MISSING ? at - sp : 0;
		at = (at & ~(TRACE_PAGE_BYTES - 1)) + TRACE_PAGE_BYTES;
	}
	return 0;
}

/* Of rare events whose whole stack is of interest, also behind a frame that has left it. */
static __always_inline void trace_send_deep_stack(struct trace_room *room, struct pt_regs *regs)
{
	trace_send_copy(room, regs, trace_far_stack(BPF_CORE_READ(regs, sp)), TRACE_STACK_MAX);
}

#endif
