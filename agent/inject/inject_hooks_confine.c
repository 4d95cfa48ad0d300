/* SPDX-License-Identifier: MIT */
/*
 * Hooks of the ways into seccomp. A filter may answer any of the agent's system calls with death,
 * and pmm has to make some more in the process to leave it: the agent turns itself off before.
 */
#include "agent/inject/any.h"
#include "agent/inject/guards_fault.h"
#include "agent/inject/agent_inject.h"

#define PR_SET_SECCOMP	22

static void confine(void)
{
	guards_stop(PMM_CHECK_STOP_CONFINED);
	agent.confined = true;
	if (agent_is_on())
		agent_off(PMM_OFF_CONFINED);
}

static SLOW __attribute__((used)) int prctl_begin(struct arch_call *call)
{
	if ((uint32_t)call->arg[0] == PR_SET_SECCOMP)
		confine();
	return 0;
}

static SLOW __attribute__((used)) int syscall_begin(struct arch_call *call)
{
	if (call->arg[0] == ARCH_SYS_seccomp ||
	    (call->arg[0] == ARCH_SYS_prctl && (uint32_t)call->arg[1] == PR_SET_SECCOMP))
		confine();
	return 0;
}

static SLOW __attribute__((used)) void no_end(struct arch_call *call)
{
	(void)call;
}

ARCH_ANY_HOOK(inject_prctl, prctl_begin, no_end);
ARCH_ANY_HOOK(inject_syscall, syscall_begin, no_end);
