/* SPDX-License-Identifier: MIT */
/*
 * x86-64: the registers that a copy of a user stack comes with (struct trace_regs), by DWARF
 * number, and how the kernel numbers them in samples of its own.
 */
#ifndef ARCH_X86_64_TRACE_ARCH_H
#define ARCH_X86_64_TRACE_ARCH_H

#include <stdint.h>

/*
 * trace_regs.saved[]: rbp, rbx, r12 - r15 (psABI, figure 3.36); r10 and r11, which prologues use
 * while they align or probe the stack.
 */
#define ARCH_TRACE_NR_SAVED	8

static const uint8_t arch_trace_saved[ARCH_TRACE_NR_SAVED] = { 6, 3, 12, 13, 14, 15, 10, 11 };

/* Index of r11, from which a probed frame's end is counted until all of it was touched. */
#define ARCH_TRACE_PROBE	7

/* Index in trace_regs.saved[] of the frame pointer. */
#define ARCH_TRACE_FP		0

/*
 * The same registers in a sample of perf events: their bits of perf_event_attr.sample_regs_user
 * (arch/x86/include/uapi/asm/perf_regs.h). The kernel writes the values in rising order of the
 * bits, which is the order of arch_trace_perf: index in trace_regs.saved[], or one of these.
 */
#define ARCH_TRACE_PERF_IP	(-1)
#define ARCH_TRACE_PERF_SP	(-2)
#define ARCH_TRACE_PERF_NR	10
#define ARCH_TRACE_PERF_REGS	(1u << 1 | 3u << 6 | 1u << 8 | 0x3full << 18)

static const int8_t arch_trace_perf[ARCH_TRACE_PERF_NR] = {
	1, 0, ARCH_TRACE_PERF_SP, ARCH_TRACE_PERF_IP, 6, 7, 2, 3, 4, 5,
};

#endif
