/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work of the kernel that a thread waits for: from one tracepoint to another, with the stack of the
 * process that waits.
 */
#ifndef BPF_WAITS_H
#define BPF_WAITS_H

#include "bpf/user_regs.h"

#define WAITS_MAX	8192	/* threads that wait at the same time */

struct wait_key {
	u32 tid;		/* of the first pid namespace */
	u32 kind;
};

struct wait_start {
	u64 ns;
	u64 a[3];		/* what the beginning knows */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WAITS_MAX);
	__type(key, struct wait_key);
	__type(value, struct wait_start);
} waits SEC(".maps");

static __always_inline struct wait_key wait_key(u32 kind)
{
	return (struct wait_key){ .tid = bpf_get_current_pid_tgid(), .kind = kind };
}

static __always_inline void wait_begin(u32 kind, u64 a, u64 b, u64 c)
{
	struct wait_start start = { .a = { a, b, c } };
	struct wait_key key = wait_key(kind);

	start.ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&waits, &key, &start, BPF_ANY))
		TRACE_COUNT(kind, dropped);
}

/* Its beginning into *start, with the time passed in start->ns; false: there was none. */
static __always_inline bool wait_end(u32 kind, struct wait_start *start)
{
	struct wait_key key = wait_key(kind);
	struct wait_start *known = bpf_map_lookup_elem(&waits, &key);

	if (!known)
		return false;
	*start = *known;
	bpf_map_delete_elem(&waits, &key);
	start->ns = bpf_ktime_get_ns() - start->ns;
	return true;
}

/* Hand over a record with the user stack, if there is one. */
static __always_inline void send_waiter(struct trace_room *room)
{
	if (trace_kernel_thread())
		trace_send(room, sizeof(room->r));
	else
		trace_send_stack(room, trace_user_regs());
}

static __always_inline bool long_enough(u64 ns)
{
	return ns >= config.min_ns;
}

#endif
