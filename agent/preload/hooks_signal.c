/*
 * Death by a signal, where processes are searched for leaks at their end.
 *
 * A signal whose default action is death, and of which the program wants nothing else, gets a handler of ours: it asks for the search, then
 * gives the signal back as it came, with the default action, so that it kills the process on return from the handler, at the same
 * instruction, with the same status and core dump. The program does not see the handler: what asks for actions is interposed.
 *
 * Tracing the process instead (ptrace) would see the same deaths but is no way to treat a program: ignored signals then interrupt system calls,
 * so that epoll_wait() fails with EINTR where nothing had happened (doc/leaks.md).
 */
#include "agent/preload/leave.h"
#include "agent/preload/preload.h"

#define NR_SIGNALS	65
#define SIG_DFL		((sig_handler *)0)
#define SIG_ERR		((sig_handler *)-1)
#define SA_SIGINFO	0x00000004
#define SA_ONSTACK	0x08000000
#define SA_RESTART	0x10000000
#define SIGSEGV		11
#define FRAME_BYTES	(64ull << 10)	/* a signal's frame is smaller, with any vector registers */

/* As the kernel has it. */
struct kernel_action {
	void *handler;
	uint64_t flags;
	void *restorer;
	uint64_t mask;
};

/* Signals 1 to 64 whose default action is death, but for SIGKILL and what the C library keeps for itself (32, 33). */
#define BIT(signal)	(1ull << ((signal) - 1))
#define DEADLY		(~(BIT(9) | BIT(17) | BIT(18) | BIT(19) | BIT(20) | BIT(21) | BIT(22) | BIT(23) | BIT(28) | BIT(32) | BIT(33)))
#define FAULTS		(BIT(4) | BIT(7) | BIT(8) | BIT(11))	/* the instruction that caused it can be run again */

static bool guarding;
static struct sig_action wanted[NR_SIGNALS];	/* the program's: flags and mask beside SIG_DFL, which mean nothing but are shown */

static bool guarded(int signal)
{
	return LOAD(guarding) && signal > 0 && signal < NR_SIGNALS && DEADLY & BIT(signal);
}

static bool set_default(int signal)
{
	struct kernel_action dfl = { 0 };

	return !sys_failed(sys4(rt_sigaction, signal, &dfl, 0, 8));
}

/* Where the stack counts from: the frame the kernel made, with all registers in it; 0 on an alternate stack. */
static uint64_t frame_sp(const void *context)
{
	uint64_t at = (uint64_t)context, sp = *(const uint64_t *)(at + ARCH_SIGFRAME_RSP);

	return sp > at && sp - at < FRAME_BYTES ? at : 0;
}

static int si_code(const void *info)
{
	return ((const int *)info)[2];
}

/*
 * All signals are blocked here, so this one stays pending until the handler has returned. Of another thread than the first the kernel does not
 * take back a signal of its own making; faults just happen again.
 */
static void deadly(int signal, void *info, void *context)
{
	long pid, tid;

	leave_ask(PMM_LEAVE_SIGNAL, frame_sp(context), (uint32_t)signal);
	if (!set_default(signal))
		for (;;)
			sys1(exit_group, 128 + signal);
	pid = sys0(getpid);
	tid = sys0(gettid);
	if (!sys_failed(sys4(rt_tgsigqueueinfo, pid, tid, signal, info)))
		return;
	if (!(FAULTS & BIT(signal)) || si_code(info) <= 0)
		sys3(tgkill, pid, tid, signal);
}

static struct sig_action ours(void)
{
	struct sig_action a = { .handler = (sig_handler *)(void *)deadly, .flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };

	memset(a.mask, 0xff, sizeof(a.mask));
	return a;
}

void signals_guard(void)
{
	struct sig_action a = ours();

	if (!A.next.sigaction || A.pid == 1)	/* the first process does not die of its default actions */
		return;
	for (int signal = 1; signal < NR_SIGNALS; signal++) {
		struct kernel_action now;

		if (!(DEADLY & BIT(signal)) || sys_failed(sys4(rt_sigaction, signal, 0, &now, 8)) || now.handler)
			continue;
		wanted[signal].flags = (int)now.flags;
		wanted[signal].mask[0] = now.mask;
		A.next.sigaction(signal, &a, NULL);
	}
	STORE(guarding, true);
}

void signals_unguard(void)
{
	if (!LOAD(guarding))
		return;
	STORE(guarding, false);
	for (int signal = 1; signal < NR_SIGNALS; signal++) {
		struct kernel_action now;

		if (DEADLY & BIT(signal) && !sys_failed(sys4(rt_sigaction, signal, 0, &now, 8)) && now.handler == (void *)deadly)
			set_default(signal);
	}
}

EXPORT int sigaction(int signal, const struct sig_action *new, struct sig_action *old)
{
	struct sig_action given = { 0 }, instead, was;
	bool set = new != NULL, dfl;
	int ret;

	if (!A.next.sigaction && (!resolve() || !A.next.sigaction))
		return -1;
	if (!guarded(signal))
		return A.next.sigaction(signal, new, old);
	if (set)
		given = *new;			/* they may be the same */
	dfl = set && given.handler == SIG_DFL;
	if (dfl)
		instead = ours();
	was = wanted[signal];
	ret = A.next.sigaction(signal, dfl ? &instead : new, old);
	if (ret)
		return ret;
	if (old && old->handler == (sig_handler *)(void *)deadly) {
		was.restorer = old->restorer;
		*old = was;
	}
	if (dfl) {
		wanted[signal] = given;
		wanted[signal].handler = SIG_DFL;
	}
	return 0;
}

/* signal() and its relatives: whatever they did, where the action is now the default one ours takes its place. */
static sig_handler *hidden(int signal, sig_handler *new, sig_handler *old)
{
	struct sig_action a;

	if (old == SIG_ERR || !guarded(signal))
		return old;
	if (new == SIG_DFL) {
		a = ours();
		A.next.sigaction(signal, &a, NULL);
		wanted[signal] = (struct sig_action){ 0 };
	}
	return old == (sig_handler *)(void *)deadly ? SIG_DFL : old;
}

#define SIGNAL_FORM(NAME)								\
EXPORT sig_handler *NAME(int signal, sig_handler *new);					\
EXPORT sig_handler *NAME(int signal, sig_handler *new)					\
{											\
	if (!A.next.NAME && (!resolve() || !A.next.NAME))				\
		return SIG_ERR;								\
	return hidden(signal, new, A.next.NAME(signal, new));				\
}

SIGNAL_FORM(signal)
SIGNAL_FORM(bsd_signal)
SIGNAL_FORM(ssignal)
SIGNAL_FORM(sysv_signal)
SIGNAL_FORM(__sysv_signal)
SIGNAL_FORM(sigset)
