/*
 * The ways into seccomp: from then on the agent makes no system call that a filter might answer with death.
 *
 * What it had to learn by such calls (modules, clock, who it is) it learnt at the start.
 */
#include "agent/preload/preload.h"

#define PR_SET_SECCOMP	22

EXPORT int prctl(int what, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	if (!A.next.prctl && !resolve())
		return -1;
	if (what == PR_SET_SECCOMP)
		A.confined = true;
	return A.next.prctl(what, a, b, c, d);
}

__attribute__((used)) static void *syscall_next(long nr)
{
	if (nr == ARCH_SYS_seccomp)
		A.confined = true;
	if (!A.next.syscall)
		resolve();
	return (void *)A.next.syscall;
}

ARCH_HOOK_SYSCALL
