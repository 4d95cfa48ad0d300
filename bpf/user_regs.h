/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user registers of the current task, for programs whose tracepoint does not pass them. */
#ifndef BPF_USER_REGS_H
#define BPF_USER_REGS_H

#include "bpf/trace.h"

/* enum bpf_func_id as the running kernel has it */
enum bpf_func_id___here {
	BPF_FUNC_task_pt_regs___here = 175,
};

#define PF_KTHREAD	0x00200000	/* include/linux/sched.h */

static __always_inline bool trace_kernel_thread(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, flags) & PF_KTHREAD;
}

#define KERNEL_STACK_BYTES	16384	/* THREAD_SIZE of x86-64 */

/*
 * At the top of the kernel stack; kernels before 5.15 have no helper that knows where, and no
 * padding there either. Of a kernel thread: nothing that makes sense.
 */
static __always_inline struct pt_regs *trace_user_regs(void)
{
	struct task_struct *task;

	if (bpf_core_enum_value_exists(enum bpf_func_id___here, BPF_FUNC_task_pt_regs___here))
		return (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	task = (void *)bpf_get_current_task();
	return BPF_CORE_READ(task, stack) + KERNEL_STACK_BYTES - bpf_core_type_size(struct pt_regs);
}

#endif
