/* SPDX-License-Identifier: MIT */
/*
 * Signals that the agent reserves: our handler, and the program's called from it as the kernel
 * would have called it.
 *
 * A signal that is not ours is not handed on by a call: its frame is made where the kernel would
 * have made it (below the red zone of what was interrupted, or on the alternate stack), if that is
 * not just where it is, and a return from a signal, of our making, then begins the program's
 * handler with the registers and the mask that the kernel would have given it. Ours is gone from
 * the stack by then, so that handlers may jump out, change the context, or be interrupted again.
 *
 * Ours runs on the alternate stack, which alone works when a stack has run over, and, beyond the
 * kernel's frame, on a stack of our own where the thread has one: the program's alternate stack
 * need not be larger than for itself.
 *
 * The kernel counts other signals' SA_ONSTACK for our stack, too. As long as the program has named
 * no alternate stack they are made to do without; when it has, handlers of threads that it named
 * none for run on ours.
 */
#include "agent/fault/reserved.h"

#include "agent/fault/crash.h"
#include "agent/fault/fault.h"
#include "agent/guard/guard.h"
#include "agent/fault/hooks_raw.h"
#include "agent/preload/inherit.h"
#include "agent/fault/step.h"
#include "agent/preload/reserved_signals.h"
#include "agent/preload/link.h"
#include "agent/preload/agent_preload.h"
#include "agent/sys.h"

#define RESERVED									\
	(SIGNAL_BIT(SIGTRAP) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGFPE) | SIGNAL_BIT(SIGSEGV) |	\
	 SIGNAL_BIT(SIGSTKFLT))
#define WAITING		0x706d6d	/* si_errno of SIGSTKFLT that is SIGSEGV in truth */
#define SI_TKILL	(-6)
#define SS_AUTODISARM	(1 << 31)
#define LOOK_CYCLES	100000u		/* some 30 us: a look takes half of one */
#define STACK_BYTES	0x40000		/* as the assembler reads it */

extern __thread uint64_t signal_stack_top __attribute__((visibility("hidden")));
__thread uint64_t signal_stack_top;		/* of our own stack, 0 = none */

static __thread uint64_t looked;		/* cycles */

static struct sig_action wanted[NR_SIGNALS];	/* of reserved signals */
static void (*restorer)(void);			/* the C library's */
/* other signals whose SA_ONSTACK was kept from the kernel */
static uint64_t without_stack;
static bool program_stacks;			/* the program has named an alternate stack */
static bool adopted;				/* it takes ours for its own */
static bool gone;				/* all signals are the program's own again ... */
static bool racing;				/* ... but for SIGSEGV */

bool reserved_gone(void)
{
	return LOAD(gone);
}

/* ---- alternate stacks ------------------------------------------------------------------------ */

static bool stack_is_own(uint64_t start)
{
	return signal_stack_top && start == signal_stack_top - STACK_BYTES;
}

static void stack_set(void)
{
	struct sig_stack ss = { .start = (void *)(signal_stack_top - STACK_BYTES),
				.bytes = STACK_BYTES };

	sys2(sigaltstack, &ss, 0);
}

uint64_t signal_stack_end(void)
{
	return signal_stack_top;
}

bool signal_stack_holds(uint64_t address)
{
	return signal_stack_top && signal_stack_top - address <= STACK_BYTES;
}

void signal_stack_take(struct tctx *c)
{
	struct sig_stack now;

	if (!reserved_signals)
		return;
	if (signal_stack_top) {
		c->signal_stack = signal_stack_top;	/* a forked child's first thread */
		return;
	}
	if (agent.confined)
		return;
	if (!c->signal_stack) {
		/* its lowest page stays closed: handlers of the program may run here */
		char *p = sys_mmap(STACK_BYTES + ARCH_PAGE, SYS_PROT_NONE,
				   SYS_MAP_PRIVATE | SYS_MAP_ANONYMOUS | SYS_MAP_NORESERVE, -1);

		if (!p || sys_failed(sys3(mprotect, p + ARCH_PAGE, STACK_BYTES,
					  SYS_PROT_READ | SYS_PROT_WRITE)))
			return;
		c->signal_stack = (uint64_t)p + ARCH_PAGE + STACK_BYTES;
	}
	signal_stack_top = c->signal_stack;
	if (!sys_failed(sys2(sigaltstack, 0, &now)) && now.flags & SS_DISABLE)
		stack_set();
}

void signal_stack_late(struct arch_ucontext *uc)
{
	if (!signal_stack_top || !(uc->stack.flags & SS_DISABLE))
		return;
	uc->stack.start = signal_stack_top - STACK_BYTES;
	uc->stack.flags = 0;
	uc->stack.bytes = STACK_BYTES;
}

/* The program names alternate stacks from now on: signals that wanted one get it. */
static void stacks_allow(void)
{
	uint64_t signals = LOAD(without_stack);

	STORE(program_stacks, true);
	for (int signal = 1; signal < NR_SIGNALS; signal++) {
		struct sig_action a;

		if (!(signals & SIGNAL_BIT(signal)) || signals_action(signal, NULL, &a))
			continue;
		a.flags |= SA_ONSTACK;
		signals_action(signal, &a, NULL);
	}
}

/*
 * The runtime of Go asks the kernel itself for a thread's alternate stack, and takes ours for its
 * own; where there is none it names one, unseen. It is there when C code has the way back into it.
 */
static void stacks_adopted(void)
{
	if (LOAD(adopted) || !link_symbol_from(link_first(), "crosscall2", NULL))
		return;
	STORE(adopted, true);
	stacks_allow();
}

static void stack_changed(const int *new_flags, struct sig_stack *old)
{
	if (old && stack_is_own((uint64_t)old->start))
		*old = (struct sig_stack){ .flags = SS_DISABLE };
	if (!new_flags)
		return;
	if (*new_flags & SS_DISABLE) {
		if (signal_stack_top)
			stack_set();
	} else if (!LOAD(program_stacks)) {
		stacks_allow();
	}
}

/* ---- the program's handlers ------------------------------------------------------------------ */

/* The action for a signal that has come. */
static struct sig_action action_take(int signal)
{
	struct sig_action a = wanted[signal];

	if ((unsigned)a.flags & SA_RESETHAND && a.handler != SIG_IGN)
		a.handler = __atomic_exchange_n(&wanted[signal].handler, SIG_DFL, __ATOMIC_ACQ_REL);
	return a;
}

/* May this be written? Asks the kernel to, which also lets a stack grow; what is there is lost. */
static bool writable(uint64_t from, uint64_t to)
{
	for (uint64_t at = from; at < to && !agent.no_asking;
	     at = (at & ~(ARCH_PAGE - 1)) + ARCH_PAGE)
		if (sys_failed(sys4(rt_sigprocmask, 0, 0, (at + 7) & ~7ull, 8)))
			return false;
	return true;
}

/* Where the kernel would begin, going down; 0: nowhere. */
static uint64_t frame_start(const struct sig_action *a, const struct arch_ucontext *uc,
			    uint64_t fp_bytes, uint64_t *fpstate)
{
	uint64_t top = uc->sp - ARCH_RED_ZONE, start = uc->stack.start, bytes = uc->stack.bytes,
		 frame;
	bool named = !(uc->stack.flags & SS_DISABLE) && bytes &&
		     (!stack_is_own(start) || LOAD(adopted));
	bool on_it = named && !(uc->stack.flags & SS_AUTODISARM) && uc->sp > start &&
		     uc->sp - start <= bytes;

	if (a->flags & SA_ONSTACK && named && !on_it)
		top = start + bytes;
	frame = arch_sigframe_below(top, fp_bytes, fpstate);
	if (named && (on_it || top == start + bytes) && (frame <= start || frame - start > bytes))
		return 0;
	return frame;
}

/* The frame for the program's handler: where it is, or a copy. 0: there is no room for it. */
static uint64_t frame_make(const struct sig_action *a, const struct arch_ucontext *uc)
{
	uint64_t here = (uint64_t)uc - 8, fp_bytes = arch_fpstate_bytes(uc->fpstate), fpstate;
	uint64_t frame = frame_start(a, uc, fp_bytes, &fpstate);

	if (!frame || frame == here)
		return frame;
	if (!writable(frame, fpstate + fp_bytes))
		return 0;
	memcpy((void *)frame, (const void *)here, ARCH_SIGFRAME_BYTES);
	if (!fp_bytes)
		return frame;
	memcpy((void *)fpstate, (const void *)uc->fpstate, fp_bytes);
	((struct arch_ucontext *)(frame + 8))->fpstate = fpstate;
	return frame;
}

/* Signals to be blocked while the handler runs. */
static uint64_t handler_mask(int signal, const struct sig_action *a, uint64_t real)
{
	uint64_t mask = mask_shown(real) | a->mask[0];

	if (!(a->flags & SA_NODEFER))
		mask |= SIGNAL_BIT(signal);
	return mask_hidden(mask);
}

/*
 * SIGSEGV that was sent while the program blocks it: it waits until what is blocked in its
 * place is not any more. One that was sent to the process may be had by any thread.
 */
static void hold(const int *info)
{
	uint64_t copy[ARCH_SIGINFO_BYTES / 8];

	memcpy(copy, info, sizeof(copy));
	((int *)copy)[1] = WAITING;
	if (info[2] == SI_TKILL || agent.confined ||
	    sys_failed(sys3(rt_sigqueueinfo, sys0(getpid), SIGSTKFLT, copy)))
		sys4(rt_tgsigqueueinfo, sys0(getpid), sys0(gettid), SIGSTKFLT, copy);
}

int reserved_waited(int signal, int *info)
{
	if (signal != SIGSTKFLT || info[1] != WAITING)
		return signal;
	info[0] = SIGSEGV;
	info[1] = 0;
	return SIGSEGV;
}

/* Die on return without a system call: by the same instruction, or by one that cannot be. */
static void die_quietly(int signal, bool forced, struct arch_ucontext *uc)
{
	uc->mask |= SIGNAL_BIT(signal);
	if (!forced)
		uc->pc = ~0ull >> 1;
}

/* All signals are blocked. */
static void give(int signal, void *info, struct arch_ucontext *uc)
{
	struct arch_ucontext begin = *uc;
	bool forced = reserved_forced(info),
	     blocked = signal == SIGSEGV && !reserved_gone() && mask_blocks(uc->mask);
	struct sig_action a;

	if (blocked && !forced) {
		hold(info);
		return;
	}
	a = action_take(signal);
	if (a.handler == SIG_IGN && !forced)
		return;
	if (blocked || a.handler == SIG_DFL || a.handler == SIG_IGN ||
	    !(begin.sp = frame_make(&a, uc))) {
		if (reserved_gone())
			die_quietly(signal, forced, uc);
		else
			signals_die(signal, info, uc);
		return;
	}
	if (forced)
		crash_given(info, uc, begin.sp);
	arch_handler_start(&begin, (uint64_t)a.handler, signal, begin.sp + 8 + sizeof(begin),
			   begin.sp + 8);
	begin.mask = handler_mask(signal, &a, uc->mask);
	if (uc->stack.flags & SS_AUTODISARM)
		begin.stack.flags = SS_DISABLE;
	arch_sigreturn(&begin);
}

__attribute__((used)) static void reserved_handle(int signal, void *info, struct arch_ucontext *uc)
{
	signal = reserved_waited(signal, info);
	if (!fault_handle(signal, info, uc))
		give(signal, info, uc);
}

ARCH_SIGNAL_ENTRY("reserved_entry", "reserved_handle", "signal_stack_top", STACK_BYTES)
extern void reserved_entry(int signal, void *info, void *context)
	__attribute__((visibility("hidden")));

/* ---- the program's wishes -------------------------------------------------------------------- */

static bool is_reserved(int signal)
{
	return signal > 0 && signal < NR_SIGNALS && RESERVED & SIGNAL_BIT(signal) &&
	       (!reserved_gone() || (LOAD(racing) && signal == SIGSEGV));
}

/*
 * Where the filter does not allow what it takes to open a page, to give a signal to the program or
 * to die of one, all is the program's own again; other threads' masks when they are set next. With
 * other threads all but SIGSEGV: the kernel may be about to stop one of them at a page that was
 * closed.
 */
static void confined(void)
{
	uint64_t mask = 0;

	if (!LOAD(agent.no_guards) || reserved_gone())
		return;
	guard_open_all();
	step_wait();
	STORE(racing, !*agent.single_threaded && !agent.no_return);
	sys4(rt_sigprocmask, SYS_SIG_SETMASK, 0, &mask, 8);
	mask = mask_shown(mask);
	STORE(gone, true);
	for (int signal = 1; signal < NR_SIGNALS; signal++)
		if (RESERVED & SIGNAL_BIT(signal) && !is_reserved(signal))
			agent.next.sigaction(signal, &wanted[signal], NULL);
	mask = mask_hidden(mask);
	sys4(rt_sigprocmask, SYS_SIG_SETMASK, &mask, 0, 8);
}

/* A child made by vfork: its actions are its own, and our notes are its parent's. */
static bool is_vforked(void)
{
	return LOAD(*agent.alive) && (int)sys0(getpid) != agent.pid;
}

void reserved_install(int signal)
{
	struct sig_action a = { .handler = (sig_handler *)(void *)reserved_entry,
				.flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };

	if (wanted[signal].handler != SIG_DFL && wanted[signal].handler != SIG_IGN)
		a.flags &= wanted[signal].flags | ~SA_RESTART;
	memset(a.mask, 0xff, sizeof(a.mask));
	agent.next.sigaction(signal, &a, NULL);
	if (!restorer && !agent.next.sigaction(signal, NULL, &a))
		restorer = a.restorer;
}

bool reserved_ignored(int signal)
{
	return wanted[signal].handler == SIG_IGN;
}

void *reserved_handler(void)
{
	return (void *)reserved_entry;
}

/*
 * The program's own system call has put another action in place of ours: it is what the program
 * wishes from now on. What inherit.c ignores for a moment is left so.
 */
static void reinstall_handler(int signal)
{
	struct kernel_action now;

	if (sys_failed(sys4(rt_sigaction, signal, 0, &now, 8)) ||
	    now.handler == reserved_handler() ||
	    (now.handler == (void *)SIG_IGN && reserved_ignored(signal)) || is_vforked())
		return;
	wanted[signal] = (struct sig_action){ .handler = (sig_handler *)now.handler,
					      .mask = { now.mask },
					      .flags = (int)((unsigned)now.flags | SA_RESTORER),
					      .restorer = restorer };
	reserved_install(signal);
}

void reserved_look(void)
{
	for (int signal = 1; signal < NR_SIGNALS; signal++)
		if (is_reserved(signal))
			reinstall_handler(signal);
}

static void mask_look(void)
{
	uint64_t mask = 0, hidden;

	if (inherit_lasts() || sys_failed(sys4(rt_sigprocmask, SYS_SIG_SETMASK, 0, &mask, 8)) ||
	    !(mask & SIGNAL_BIT(SIGSEGV)))
		return;
	hidden = mask_hidden(mask);
	sys4(rt_sigprocmask, SYS_SIG_SETMASK, &hidden, 0, 8);
}

/* The pool is at work. */
static void at_work(uint64_t now)
{
	if (now - looked < LOOK_CYCLES || reserved_gone() || !LOAD(*agent.alive))
		return;
	looked = now;
	mask_look();
	reinstall_handler(SIGSEGV);
}

/* Any other signal: its mask must not block ours, and its stack is the program's, if any. */
static int action_other(int signal, const struct sig_action *new, struct sig_action *old)
{
	bool known = signal > 0 && signal < NR_SIGNALS,
	     was = known && LOAD(without_stack) & SIGNAL_BIT(signal);
	uint64_t bit = known ? SIGNAL_BIT(signal) : 0;
	struct sig_action a;
	int ret;

	if (new) {
		if (new->flags & SA_ONSTACK)
			stacks_adopted();
		a = *new;
		a.mask[0] = mask_for_handler(a.mask[0]);
		if (a.flags & SA_ONSTACK && !LOAD(program_stacks)) {
			__atomic_fetch_or(&without_stack, bit, __ATOMIC_RELAXED);
			a.flags &= ~SA_ONSTACK;
		} else {
			__atomic_fetch_and(&without_stack, ~bit, __ATOMIC_RELAXED);
		}
	}
	ret = signals_action(signal, new ? &a : NULL, old);
	if (!ret && old) {
		if (was)
			old->flags |= SA_ONSTACK;
		if (old->mask[0] & SIGNAL_BIT(SIGSTKFLT))
			old->mask[0] |= SIGNAL_BIT(SIGSEGV);
	}
	return ret;
}

/* The wish is noted first: the signal may strike at once. `new` and `old` may be the same. */
static int action(int signal, const struct sig_action *new, struct sig_action *old)
{
	struct sig_action was;

	if (!is_reserved(signal))
		return action_other(signal, new, old);
	was = wanted[signal];
	if (is_vforked()) {
		if (agent.next.sigaction(signal, new, old))
			return -1;
		if (old && old->handler == (sig_handler *)reserved_handler())
			*old = was;
		return 0;
	}
	if (new) {
		if (new->flags & SA_ONSTACK)
			stacks_adopted();
		wanted[signal] = *new;
		wanted[signal].flags |= SA_RESTORER;
		wanted[signal].restorer = restorer;
		reserved_install(signal);
	}
	if (old)
		*old = was;
	return 0;
}

/* sigset(): besides, the signal is unblocked, or blocked instead. */
static sig_handler *handler_or_hold(int signal, sig_handler *new)
{
	struct sig_action a = { .handler = new }, old;
	uint64_t mask = 0, bit = SIGNAL_BIT(signal);
	bool held;

	sys4(rt_sigprocmask, SYS_SIG_SETMASK, 0, &mask, 8);
	mask = mask_shown(mask);
	held = mask & bit;
	action(signal, new == SIG_HOLD ? NULL : &a, &old);
	mask = mask_hidden(new == SIG_HOLD ? mask | bit : mask & ~bit);
	sys4(rt_sigprocmask, SYS_SIG_SETMASK, &mask, 0, 8);
	return held ? SIG_HOLD : old.handler;
}

static sig_handler *handler_set(int signal, sig_handler *new, unsigned flags)
{
	struct sig_action a = { .handler = new, .flags = (int)flags }, old;

	if (!flags)
		return handler_or_hold(signal, new);
	/* signal() blocks what it is called for, and says so */
	if (flags & SA_RESTART)
		a.mask[0] = SIGNAL_BIT(signal);
	action(signal, &a, &old);
	return old.handler;
}

static const struct reserved_signals ops = { .action = action,
					     .is_reserved = is_reserved,
					     .handler = handler_set,
					     .confined = confined,
					     .stack = stack_changed,
					     .syscall = raw_instead };

void reserved_start(void)
{
	uint64_t mask = 0, hidden;

	if (!agent.next.sigaction || reserved_signals)
		return;
	for (int signal = 1; signal < NR_SIGNALS; signal++)
		if (is_reserved(signal))
			signals_action(signal, NULL, &wanted[signal]);
	reserved_signals = &ops;
	guard_at_work = at_work;
	for (int signal = 1; signal < NR_SIGNALS; signal++)
		if (is_reserved(signal))
			reserved_install(signal);
	if (sys_failed(sys4(rt_sigprocmask, 0, 0, &mask, 8)))
		return;
	hidden = mask_hidden(mask);
	if (hidden != mask)
		sys4(rt_sigprocmask, SYS_SIG_SETMASK, &hidden, 0, 8);
}
