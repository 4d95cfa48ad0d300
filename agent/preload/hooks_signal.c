/* SPDX-License-Identifier: MIT */
/*
 * Death by a signal, where processes are searched for leaks at their end.
 *
 * A signal whose default action is death, and of which the program wants nothing else, gets a
 * handler of ours: it asks for the search, then gives the signal back as it came, with the default
 * action, so that it kills the process on return from the handler, at the same instruction, with
 * the same status and core dump. The program does not see the handler: what asks for actions is
 * interposed. Its own handlers are left alone, except that resetting one when it is called
 * (SA_RESETHAND) is done by us, since the kernel would reset it to death unseen.
 *
 * They run on the alternate stack, as the program's own one may have run over; but not once the
 * program has named one that is too small.
 *
 * A child made by vfork has actions of its own but this memory in common with its parent: what it
 * sets is set as it says, and not noted.
 *
 * Tracing the process instead (ptrace) would see the same deaths but is no way to treat a program:
 * ignored signals then interrupt system calls, so that epoll_wait() fails with EINTR where nothing
 * had happened (doc/leaks.md).
 */
#include "agent/preload/reserved_signals.h"
#include "agent/preload/leave.h"
#include "agent/preload/link.h"
#include "agent/preload/agent_preload.h"

#define BUS_MCEERR_AO	5		/* "action optional" */
#define AT_MINSIGSTKSZ	51		/* what the frame takes on this machine */
#define FRAME_USUAL	4096u		/* where the kernel does not say */
#define HANDLER_BYTES	2048u		/* what deadly() takes */
#define FRAME_BYTES	(64ull << 10)	/* a signal's frame is smaller, with any vector registers */

/*
 * Signals 1 to 64 whose default action is death, but for SIGKILL and what the C library keeps for
 * itself (32, 33).
 */
#define BIT(signal)	(1ull << ((signal) - 1))
#define DEADLY                                                                                     \
	(~(BIT(9) | BIT(17) | BIT(18) | BIT(19) | BIT(20) | BIT(21) | BIT(22) | BIT(23) |          \
	   BIT(28) | BIT(32) | BIT(33)))
/* the instruction that caused it can be run again */
#define FAULTS		(BIT(4) | BIT(7) | BIT(8) | BIT(11))

const struct reserved_signals *reserved_signals;

static bool catching;
/* some alternate stack has no room for a signal's frame and deadly() */
static bool cramped;
/*
 * The program's own: where `deadly` is in place SIG_DFL with flags and mask that mean nothing but
 * are shown; where `once` is, the handler.
 */
static struct sig_action wanted[NR_SIGNALS];

static bool guarded(int signal)
{
	return LOAD(catching) && signal > 0 && signal < NR_SIGNALS && DEADLY & BIT(signal);
}

static bool set_default(int signal)
{
	struct kernel_action dfl = { 0 };

	return !sys_failed(sys4(rt_sigaction, signal, &dfl, 0, 8));
}

/*
 * Where the stack counts from: the frame the kernel made, with all registers in it; 0 on an
 * alternate stack.
 */
static uint64_t frame_sp(const void *context)
{
	uint64_t at = (uint64_t)context, sp = *(const uint64_t *)(at + ARCH_SIGFRAME_SP);

	return sp > at && sp - at < FRAME_BYTES ? at : 0;
}

static int si_code(const void *info)
{
	return ((const int *)info)[2];
}

/*
 * Was it raised by the instruction to which the handler returns? Of broken memory the kernel tells
 * also a thread that does not touch it.
 */
static bool happens_again(int signal, const void *info)
{
	return FAULTS & BIT(signal) && si_code(info) > 0 &&
	       !(signal == SIGBUS && si_code(info) == BUS_MCEERR_AO);
}

/*
 * All signals are blocked here, so this one stays pending until the handler has returned. A thread
 * may queue for itself what looks as if the kernel had sent it. Where no signal can be queued
 * (RLIMIT_SIGPENDING) it comes without its details, and faults just happen again.
 */
static void deadly(int signal, void *info, void *context)
{
	long pid, tid;

	leave_signal(signal, info, context);
	if (leave_ask(PMM_LEAVE_SIGNAL, frame_sp(context), (uint32_t)signal))
		return; /* too late: without the search the process had ended by now */
	if (!set_default(signal))
		for (;;)
			sys1(exit_group, 128 + signal);
	pid = sys0(getpid);
	tid = sys0(gettid);
	if (!sys_failed(sys4(rt_tgsigqueueinfo, pid, tid, signal, info)))
		return;
	if (!happens_again(signal, info))
		sys3(tgkill, pid, tid, signal);
}

void signals_die(int signal, void *info, void *context)
{
	deadly(signal, info, context);
}

static struct sig_action ours(void)
{
	struct sig_action a = { .handler = (sig_handler *)(void *)deadly,
				.flags = SA_SIGINFO | SA_RESTART };

	if (!LOAD(cramped))
		a.flags |= SA_ONSTACK;
	memset(a.mask, 0xff, sizeof(a.mask));
	return a;
}

/*
 * In place of a handler that is to be called once. Of two threads the second finds the default
 * action.
 */
static void once(int signal, void *info, void *context)
{
	struct sig_action a = ours();
	sig_handler *handler;

	if ((int)sys0(getpid) == agent.pid) {
		handler = __atomic_exchange_n(&wanted[signal].handler, SIG_DFL, __ATOMIC_ACQ_REL);
		agent.next.sigaction(signal, &a, NULL);
	} else {
		handler = wanted[signal].handler;
		set_default(signal);
	}
	if (handler == SIG_DFL)
		deadly(signal, info, context);
	else
		((void (*)(int, void *, void *))(void *)handler)(signal, info, context);
}

static bool is_ours(const void *handler)
{
	return handler == (void *)deadly || handler == (void *)once;
}

void signals_catch(void)
{
	struct sig_action a = ours();

	/* the first process does not die of its default actions */
	if (!agent.next.sigaction || agent.pid == 1)
		return;
	for (int signal = 1; signal < NR_SIGNALS; signal++) {
		struct kernel_action now;

		if (!(DEADLY & BIT(signal)) || sys_failed(sys4(rt_sigaction, signal, 0, &now, 8)) ||
		    now.handler)
			continue;
		wanted[signal].flags = (int)now.flags;
		wanted[signal].mask[0] = now.mask;
		agent.next.sigaction(signal, &a, NULL);
	}
	STORE(catching, true);
}

void signals_release(void)
{
	if (reserved_signals)
		reserved_signals->confined();
	if (!LOAD(catching))
		return;
	STORE(catching, false);
	for (int signal = 1; signal < NR_SIGNALS; signal++) {
		struct kernel_action now;

		if (DEADLY & BIT(signal) && !sys_failed(sys4(rt_sigaction, signal, 0, &now, 8)) &&
		    is_ours(now.handler))
			agent.next.sigaction(signal, &wanted[signal], NULL);
	}
}

/* What to install for what the program wants. */
static struct sig_action instead_of(const struct sig_action *new)
{
	struct sig_action a = *new;

	if (new->handler == SIG_DFL)
		return ours();
	if (new->handler != SIG_IGN && (unsigned)new->flags & SA_RESETHAND) {
		a.handler = (sig_handler *)(void *)once;
		a.flags = (int)((unsigned)a.flags & ~SA_RESETHAND) | SA_SIGINFO;
	}
	return a;
}

/*
 * `new` and `old` may be the same. The wish is noted first: the signal may strike at once.
 */
int signals_action(int signal, const struct sig_action *new, struct sig_action *old)
{
	struct sig_action was, instead;
	int ret;

	if (!guarded(signal))
		return agent.next.sigaction(signal, new, old);
	was = wanted[signal];
	if (new && (int)sys0(getpid) == agent.pid) {
		instead = instead_of(new);
		if (is_ours(instead.handler)) {
			wanted[signal] = *new;
			wanted[signal].flags |= SA_RESTORER;
		}
		new = &instead;
	}
	ret = agent.next.sigaction(signal, new, old);
	if (!ret && old && is_ours(old->handler)) {
		was.restorer = was.flags & SA_RESTORER ? old->restorer : NULL;
		*old = was;
	}
	return ret;
}

EXPORT int sigaction(int signal, const struct sig_action *new, struct sig_action *old)
{
	if (!agent.next.sigaction && (!resolve() || !agent.next.sigaction))
		return -1;
	return reserved_signals ? reserved_signals->action(signal, new, old)
			     : signals_action(signal, new, old);
}

/*
 * signal() and its relatives: whatever they did, where the action is now the default one ours takes
 * its place.
 */
static sig_handler *hidden(int signal, sig_handler *new, sig_handler *old)
{
	struct sig_action a = { 0 };
	sig_handler *was;

	if (old == SIG_ERR || !guarded(signal))
		return old;
	was = is_ours(old) ? wanted[signal].handler : old;
	if (new == SIG_DFL && !agent.next.sigaction(signal, NULL, &a))
		sigaction(signal, &a, NULL);
	return was;
}

#define SIGNAL_FORM(NAME, FLAGS)							\
EXPORT sig_handler *NAME(int signal, sig_handler *new);					\
EXPORT sig_handler *NAME(int signal, sig_handler *new)					\
{											\
	if (!agent.next.NAME && (!resolve() || !agent.next.NAME))				\
		return SIG_ERR;								\
	if (reserved_signals && reserved_signals->is_reserved(signal))				\
		return reserved_signals->handler(signal, new, FLAGS);			\
	return hidden(signal, new, agent.next.NAME(signal, new));				\
}

SIGNAL_FORM(signal, SA_RESTART)
SIGNAL_FORM(bsd_signal, SA_RESTART)
SIGNAL_FORM(ssignal, SA_RESTART)
SIGNAL_FORM(sysv_signal, SA_RESETHAND | SA_NODEFER)
SIGNAL_FORM(__sysv_signal, SA_RESETHAND | SA_NODEFER)
SIGNAL_FORM(sigset, 0)

/*
 * A signal whose frame finds no room on the alternate stack becomes SIGSEGV: then the program's own
 * stack has to do.
 */
static void leave_alternate_stacks(void)
{
	struct kernel_action now;
	struct sig_action a;

	STORE(cramped, true);
	a = ours();
	for (int signal = 1; signal < NR_SIGNALS; signal++)
		if (guarded(signal) && !sys_failed(sys4(rt_sigaction, signal, 0, &now, 8)) &&
		    now.handler == (void *)deadly)
			agent.next.sigaction(signal, &a, NULL);
}

/* Before it is in place: a signal may strike at once. */
EXPORT int sigaltstack(const struct sig_stack *new, struct sig_stack *old)
{
	int flags = new ? new->flags : 0, ret;
	uint64_t frame;

	if (!agent.next.sigaltstack && (!resolve() || !agent.next.sigaltstack))
		return -1;
	if (new && !(new->flags & SS_DISABLE) && !LOAD(cramped)) {
		frame = link_aux(AT_MINSIGSTKSZ);
		if (new->bytes < (frame ? frame : FRAME_USUAL) + HANDLER_BYTES)
			leave_alternate_stacks();
	}
	ret = agent.next.sigaltstack(new, old);
	if (!ret && reserved_signals)
		reserved_signals->stack(new ? &flags : NULL, old);
	return ret;
}
