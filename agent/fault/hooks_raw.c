/* SPDX-License-Identifier: MIT */
/*
 * System calls that the program makes by syscall() and that would otherwise pass by the functions
 * of the same name.
 *
 * syscall() jumps to what is found here in its place, with all arguments in place
 * (agent/preload/preload_hooks_confine.c).
 */
#include "agent/fault/hooks_raw.h"

#include "agent/preload/inherit.h"
#include "agent/fault/reserved.h"
#include "agent/preload/agent_preload.h"

#define MASK_BYTES 8

extern int sigaltstack(const struct sig_stack *new, struct sig_stack *old);

/* The kernel says so itself where it cannot read, and under seccomp we do not ask. */
static bool may_read(const void *p)
{
	return !LOAD(agent.confined) && sys_readable((uintptr_t)p);
}

/* Signals that the C library keeps for itself it does not let through. */
static bool is_plain(int signal)
{
	return signal > 0 && signal < NR_SIGNALS && signal != 32 && signal != 33;
}

static long action(long nr, int signal, const struct kernel_action *new, struct kernel_action *old,
		   size_t bytes)
{
	struct sig_action in = { .handler = SIG_DFL }, out;
	int ret;

	if (bytes != MASK_BYTES || !is_plain(signal) || (new && !may_read(new)) ||
	    (old && !may_read(old)))
		return agent.next.syscall(nr, signal, new, old, bytes);
	if (new)
		in = (struct sig_action){ .handler = (sig_handler *)new->handler,
					  .mask = { new->mask },
					  .flags = (int)new->flags,
					  .restorer = (void (*)(void)) new->restorer };
	ret = reserved_signals->action(signal, new ? &in : NULL, &out);
	if (!ret && old)
		*old = (struct kernel_action){ .handler = (void *)out.handler,
					       .flags = (uint32_t)out.flags,
					       .restorer = (void *)out.restorer,
					       .mask = out.mask[0] };
	return ret;
}

static int mask_real(int how, const struct sig_set *set, struct sig_set *old)
{
	return (int)agent.next.syscall(ARCH_SYS_rt_sigprocmask, how, set, old, MASK_BYTES);
}

static long mask(long nr, int how, const struct sig_set *set, struct sig_set *old, size_t bytes)
{
	if (bytes != MASK_BYTES || (set && !may_read(set)) || (old && !may_read(old)))
		return agent.next.syscall(nr, how, set, old, bytes);
	return mask_change(mask_real, how, set, old);
}

static long alternate(long nr, const struct sig_stack *new, struct sig_stack *old)
{
	if ((new && !may_read(new)) || (old && !may_read(old)))
		return agent.next.syscall(nr, new, old);
	return sigaltstack(new, old);
}

static long program(long nr, long a, long b, long c, long d, long e)
{
	struct inherit h;
	long ret;

	inherit_begin(&h, false);
	ret = agent.next.syscall(nr, a, b, c, d, e);
	inherit_end(&h);
	return ret;
}

void *raw_instead(long nr)
{
	switch (nr) {
	case ARCH_SYS_rt_sigaction:
		return (void *)action;
	case ARCH_SYS_rt_sigprocmask:
		return (void *)mask;
	case ARCH_SYS_sigaltstack:
		return (void *)alternate;
	case ARCH_SYS_execve:
	case ARCH_SYS_execveat:
		return (void *)program;
	default:
		return NULL;
	}
}
