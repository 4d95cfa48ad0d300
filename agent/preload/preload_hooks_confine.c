/* SPDX-License-Identifier: MIT */
/*
 * The ways into seccomp: from then on the agent makes no system call that a filter might answer
 * with death.
 *
 * What it had to learn by such calls (modules, clock, who it is) it learnt at the start.
 */
#include "agent/preload/confine.h"
#include "agent/preload/reserved_signals.h"
#include "agent/preload/leave.h"
#include "agent/preload/agent_preload.h"

#define PR_SET_SECCOMP	22

EXPORT int prctl(int what, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	if (!agent.next.prctl && !resolve())
		return -1;
	if (what == PR_SET_SECCOMP)
		confine(a, 0, a == CONFINE_STRICT ? NULL : (const void *)b);
	return agent.next.prctl(what, a, b, c, d);
}

__attribute__((used)) static void *syscall_next(long nr, long a, long b, long c)
{
	void *instead;

	if (nr == ARCH_SYS_seccomp)
		confine((uint64_t)(uint32_t)a + 1, (uint64_t)b, (const void *)c);
	else if (nr == ARCH_SYS_prctl && (uint32_t)a == PR_SET_SECCOMP)
		confine((uint64_t)b, 0, b == CONFINE_STRICT ? NULL : (const void *)c);
	else if (nr == ARCH_SYS_exit_group)
		leave_ask(PMM_LEAVE_CALL, 0, (uint32_t)a);
	if (!agent.next.syscall)
		resolve();
	instead = reserved_signals && agent.next.syscall ? reserved_signals->syscall(nr) : NULL;
	return instead ? instead : (void *)agent.next.syscall;
}

ARCH_HOOK_SYSCALL
