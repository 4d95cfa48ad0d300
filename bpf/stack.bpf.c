/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals of memory that are about to be delivered (SIGSEGV, SIGBUS), with the address, the
 * registers and the stack: a stack overflow is one whose address is near the stack pointer.
 */
#include "bpf/trace.h"
#include "bpf/user_regs.h"

#define NR_SIGBUS	7
#define NR_SIGSEGV	11

struct kernel_siginfo {
	int si_signo, si_code;
	union {
		struct {
			void *_addr;
		} _sigfault;
	} _sifields;
} KERNEL_TYPE;

/* (signal, info, action) */
SEC("raw_tp/signal_deliver")
int stack_signal(struct bpf_raw_tracepoint_args *ctx)
{
	struct kernel_siginfo *info = (void *)ctx->args[1];
	int number = ctx->args[0], code;
	struct pt_regs *regs = trace_user_regs();
	struct trace_room *room;
	struct trace_task t;

	if ((number != NR_SIGSEGV && number != NR_SIGBUS) || !trace_wanted(&t))
		return 0;
	trace_seen(TRACE_SEGV);
	if (!trace_recorded(TRACE_SEGV))
		return 0;
	code = BPF_CORE_READ(info, si_code);
	room = trace_room(&t, TRACE_SEGV);
	if (!room)
		return 0;
	if (code > 0)
		room->r.a[0] = (u64)BPF_CORE_READ(info, _sifields._sigfault._addr);
	room->r.a[1] = BPF_CORE_READ(regs, sp);
	room->r.a[2] = number;
	room->r.a[3] = (s64)code;
	trace_send_stack(room, regs);
	return 0;
}
