/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of counters (perf events): each time a counter has advanced by its period, a record of
 * who runs, with the user stack. It stands for that many events.
 */
#include "bpf/user_regs.h"

#define USER_CODE	3	/* cs: the level of privilege */

static __always_inline int sample(struct bpf_perf_event_data *ctx, u32 kind)
{
	struct pt_regs *regs = BPF_CORE_READ((struct bpf_perf_event_data_kern *)(void *)ctx, regs);
	bool user = (BPF_CORE_READ(regs, cs) & USER_CODE) == USER_CODE;
	struct trace_room *room;
	struct trace_task t;

	if (!trace_wanted(&t))
		return 0;
	trace_seen(kind);
	if (!trace_recorded(kind))
		return 0;
	room = trace_room(&t, kind);
	if (!room)
		return 0;
	room->r.weight = ctx->sample_period;
	room->r.a[0] = BPF_CORE_READ(regs, ip);
	room->r.a[1] = !user;
	if (!user && trace_kernel_thread())
		trace_send(room, sizeof(room->r));
	else
		trace_send_stack(room, user ? regs : trace_user_regs());
	return 0;
}

#define COUNTER(name, kind)                                                                        \
	SEC("perf_event")                                                                          \
	int pmc_##name(struct bpf_perf_event_data *ctx)                                            \
	{                                                                                          \
		return sample(ctx, kind);                                                          \
	}

COUNTER(cycles, TRACE_CYCLES)
COUNTER(instructions, TRACE_INSTRUCTIONS)
COUNTER(llc_references, TRACE_LLC_REFERENCES)
COUNTER(llc_misses, TRACE_LLC_MISSES)
COUNTER(dtlb_misses, TRACE_DTLB_MISSES)
COUNTER(cpu_clock, TRACE_CPU_CLOCK)
COUNTER(page_faults, TRACE_PAGE_FAULTS)
