/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls that change mappings, seen at their end: x86-64 keeps the arguments in pt_regs until
 * then, so nothing has to be remembered between the two halves.
 */
#include "bpf/trace.h"

#define TS_COMPAT	2	/* thread_info.status: the call is a 32-bit one; arch/x86 */

/* Kinds by number of the call, and how many arguments are of interest; x86-64's syscall table. */
struct call {
	u32 kind, nr_args;
};

static __always_inline struct call call_of(long nr)
{
	switch (nr) {
	case 9: return (struct call){ TRACE_MMAP, 5 };
	case 10: return (struct call){ TRACE_MPROTECT, 3 };
	case 11: return (struct call){ TRACE_MUNMAP, 2 };
	case 12: return (struct call){ TRACE_BRK, 1 };
	case 25: return (struct call){ TRACE_MREMAP, 5 };
	case 28: return (struct call){ TRACE_MADVISE, 3 };
	case 29: return (struct call){ TRACE_SHMGET, 3 };
	case 30: return (struct call){ TRACE_SHMAT, 3 };
	case 31: return (struct call){ TRACE_SHMCTL, 2 };
	case 67: return (struct call){ TRACE_SHMDT, 1 };
	default: return (struct call){ TRACE_NONE, 0 };
	}
}

SEC("tp_btf/sys_exit")
int BPF_PROG(calls_exit, struct pt_regs *regs, long result)
{
	struct call call = call_of(BPF_CORE_READ(regs, orig_ax));
	struct task_struct *task;
	struct trace_room *room;
	struct trace_task t;

	if (!call.kind || !trace_recorded(call.kind))
		return 0;
	if (!trace_wanted(&t))
		return 0;
	task = (void *)bpf_get_current_task();
	if (BPF_CORE_READ(task, thread_info.status) & TS_COMPAT)
		return 0;
	trace_seen(call.kind);
	room = trace_room(&t, call.kind);
	if (!room)
		return 0;
	room->r.a[0] = BPF_CORE_READ(regs, di);
	if (call.nr_args > 1)
		room->r.a[1] = BPF_CORE_READ(regs, si);
	if (call.nr_args > 2)
		room->r.a[2] = BPF_CORE_READ(regs, dx);
	if (call.nr_args > 3)
		room->r.a[3] = BPF_CORE_READ(regs, r10);
	if (call.nr_args > 4)
		room->r.a[4] = BPF_CORE_READ(regs, r8);
	room->r.a[5] = result;
	trace_send_stack(room, regs);
	return 0;
}
