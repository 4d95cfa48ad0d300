/* SPDX-License-Identifier: MIT */
/*
 * Accesses to the guard pool in a process that runs already.
 *
 * Our handler for SIGSEGV is in place with the flags and the mask of the program's own, so the
 * kernel makes just the frame that it would have made for that one: on the same stack, with the
 * same signals blocked. What is not ours is handed on by a jump, with stack and registers as at our
 * entry, and the program's handler finds all as the kernel makes it. It may jump out, and it
 * returns past us.
 *
 * What is ours becomes a finding, and the page is opened for good: the access is made again, and
 * the program continues. No state is kept for it, no instruction is run by itself. The price: a
 * block reports one error, and what is next to it is not guarded again.
 *
 * The program's sigaction() is hooked; it sets and sees its own action. Ways into the kernel past
 * it are noticed when the next block is about to be guarded: then no more are, and all pages are
 * opened.
 */
#include "agent/inject/guards_fault.h"

#include "agent/guard/guard_access.h"
#include "agent/guard/guarded.h"
#include "agent/inject/agent_inject.h"
#include "agent/sys.h"
#include "arch/agent_signal.h"

#define SIGSEGV		11
#define SEGV_MAPERR	1
#define SEGV_ACCERR	2
#define SA_SIGINFO	0x00000004u
#define SA_RESTORER	0x04000000u
#define SA_RESETHAND	0x80000000u
#define SIG_IGNORED	1
#define TRIES		100	/* another thread sets another action each time */
#define WAITS		1000000

/* As the kernel has it. */
struct kernel_action {
	uint64_t handler;		/* 0 = default, SIG_IGNORED */
	uint64_t flags;
	uint64_t restorer;
	uint64_t mask;
};

static uint32_t stopped;		/* enum pmm_check_stop */
/* the program's own; restorer 0 = the C library's, which is in ours */
static struct kernel_action wanted;
static uint32_t taken;			/* our handler is in place */
enum { TAKING = 1, TAKEN };

ARCH_FAULT_ENTRY("fault_entry", "fault_decide", "fault_restorer")
extern void fault_entry(int signal, void *info, void *context)
	__attribute__((visibility("hidden")));
extern const char fault_restorer[] __attribute__((visibility("hidden")));

static bool action_get(struct kernel_action *a)
{
	return !sys_failed(sys4(rt_sigaction, SIGSEGV, 0, a, 8));
}

static void action_set(const struct kernel_action *a)
{
	sys4(rt_sigaction, SIGSEGV, a, 0, 8);
}

static bool is_handler(uint64_t handler)
{
	return handler > SIG_IGNORED;
}

/* Ours, in the place of the program's; what was there in *old. */
static void install(struct kernel_action *old)
{
	struct kernel_action a = { .flags = SA_SIGINFO | SA_RESTORER };

	if (is_handler(wanted.handler)) {
		a.flags |= wanted.flags & ~(uint64_t)SA_RESETHAND;
		a.mask = wanted.mask;
	}
	a.restorer = is_handler(wanted.handler) && wanted.flags & SA_RESTORER
			     ? wanted.restorer
			     : (uint64_t)fault_restorer;
	a.handler = (uint64_t)fault_entry;
	sys4(rt_sigaction, SIGSEGV, &a, old, 8);
}

/*
 * What the program sets at the same time is found in the place of what was expected there, and
 * taken over.
 */
static bool install_handler(void)
{
	struct kernel_action old = { 0 };

	if (!action_get(&wanted) || wanted.handler == SIG_IGNORED)
		return false;
	for (unsigned i = 0; i < TRIES; i++) {
		install(&old);
		if (old.handler == (uint64_t)fault_entry ||
		    (old.handler == wanted.handler && old.flags == wanted.flags &&
		     old.mask == wanted.mask))
			return true;
		wanted = old;
	}
	return true;
}

/* Is it taken? Waits for a thread that is just doing that; it is not interrupted. */
static bool is_taken(void)
{
	for (unsigned i = 0; i < WAITS && LOAD(taken) == TAKING; i++)
		arch_pause();
	return LOAD_ACQUIRE(taken) == TAKEN;
}

/*
 * SIGSEGV's handler is ours (put in place at the first call), and it can do its work on this
 * thread; else why not.
 */
static uint32_t handler_ready(void)
{
	struct kernel_action now = { 0 };
	uint64_t mask = 0, all = ~0ull;
	uint32_t none = 0;
	bool ok;

	if (sys_failed(sys4(rt_sigprocmask, 0, 0, &mask, 8)) || mask & 1ull << (SIGSEGV - 1))
		return PMM_CHECK_STOP_BLOCKED;
	if (LOAD(taken) == 0 && CAS(taken, none, TAKING)) {
		sys4(rt_sigprocmask, SYS_SIG_SETMASK, &all, 0, 8);
		ok = install_handler();
		STORE_RELEASE(taken, ok ? TAKEN : 0);
		sys4(rt_sigprocmask, SYS_SIG_SETMASK, &mask, 0, 8);
		return ok ? PMM_CHECK_RUNS : PMM_CHECK_STOP_IGNORED;
	}
	if (!is_taken())
		return PMM_CHECK_STOP_HANDLER;
	return action_get(&now) && now.handler == (uint64_t)fault_entry ? PMM_CHECK_RUNS
									: PMM_CHECK_STOP_HANDLER;
}

/* Give it back. */
static void handler_end(void)
{
	struct kernel_action now, a = wanted;

	if (LOAD(taken) != TAKEN || !action_get(&now) || now.handler != (uint64_t)fault_entry)
		return;
	if (!a.restorer)
		a.restorer = now.restorer;
	action_set(&a);
	STORE(taken, 0);
}

/* ---- whether blocks are guarded -------------------------------------------------------------- */

void guards_stop(uint32_t why)
{
	uint32_t none = PMM_CHECK_RUNS;

	if (!agent.guards_bytes || !CAS(stopped, none, why))
		return;
	if (agent_is_on() && LOAD(*agent.alive))
		STORE(agent.ledger->check.stopped, why);
	guard_disarm(false);
}

/* A child made by vfork has its parent's memory and signal handlers of its own. */
bool guards_ready(void)
{
	uint32_t why;

	if (LOAD(stopped) || LOAD(agent.confined) || (int)sys0(getpid) != agent.pid)
		return false;
	why = handler_ready();
	if (why != PMM_CHECK_RUNS)
		guards_stop(why);
	return why == PMM_CHECK_RUNS;
}

long guards_rest(void *unused)
{
	(void)unused;
	STORE(agent.state, AGENT_OFF);
	STORE(stopped, PMM_NR_CHECK_STOPS);
	guard_disarm(true);
	handler_end();
	return (long)guard_live();
}

/* ---- the handler ----------------------------------------------------------------------------- */

/*
 * An access to the pool that is an error: reported, where there is a context, and the page opened.
 * An access to a live block, which was given out after it had been stopped, is just made again.
 * False: the program's.
 */
static bool met(struct tctx *c, int *info, uint64_t address, const struct arch_ucontext *uc)
{
	struct pmm_finding f = { .type = PMM_FINDING_WILD, .address = address };
	struct check_block b;
	bool known = guarded_find(address, 0, &b);

	if (c && known && !b.freed && address - b.address < b.size && !(uc->err & ARCH_FAULT_FETCH))
		return true;
	if (known)
		f.type = access_type(&b, address);
	if (c)
		access_note(c, &f, known ? &b : NULL, uc);
	if (!(uc->err & ARCH_FAULT_FETCH))
		return guard_page_give(address & ~(ARCH_PAGE - 1));
	info[2] = SEGV_ACCERR;		/* as of heap, which is mapped and no code */
	return false;
}

/* True: what was stopped can be done now. */
static bool opened(int *info, uint64_t address, const struct arch_ucontext *uc)
{
	struct tctx *c = access_enter(uc->sp);
	bool ours;

	if (!c)
		return met(NULL, info, address, uc);
	ours = !guard_page_protected(address & ~(ARCH_PAGE - 1), &c->last_stop) &&
	       met(c, info, address, uc);
	agent_leave(c);
	return ours;
}

/* The default action, as it came, once the handler has returned. */
static void die(int signal, int *info)
{
	struct kernel_action dfl = { 0 };

	action_set(&dfl);
	if (info[2] <= 0)
		sys4(rt_tgsigqueueinfo, sys0(getpid), sys0(gettid), signal, info);
}

/* Where to continue: the program's handler, or 0, back. */
__attribute__((used)) static uint64_t fault_decide(int signal, int *info,
						   const struct arch_ucontext *uc)
{
	uint64_t all = ~0ull, mask = 0, handler;

	if ((info[2] == SEGV_MAPERR || info[2] == SEGV_ACCERR) && guards_has(((void **)info)[2])) {
		sys4(rt_sigprocmask, SYS_SIG_SETMASK, &all, &mask, 8);
		if (opened(info, ((uint64_t *)info)[2], uc))
			return 0;		/* and the mask is again what it was */
		sys4(rt_sigprocmask, SYS_SIG_SETMASK, &mask, 0, 8);
	}
	is_taken();
	handler = LOAD_ACQUIRE(wanted.handler);	/* and then its flags and mask: wish() */
	if (is_handler(handler) && wanted.flags & SA_RESETHAND)
		handler = __atomic_exchange_n(&wanted.handler, 0, __ATOMIC_ACQ_REL);
	if (is_handler(handler))
		return handler;
	if (handler == 0 || info[2] > 0)
		die(signal, info);
	return 0;
}

/* ---- the program's sigaction() --------------------------------------------------------------- */

typedef int sigaction_function(int signal, const struct sig_action *new, struct sig_action *old);

/* A child made by vfork: its actions are its own, and our notes are its parent's. */
static bool is_vforked(void)
{
	return LOAD(*agent.alive) && (int)sys0(getpid) != agent.pid;
}

/* Note the wish first: the signal may strike at once. What is to be set in its place, in *mine. */
static void wish(const struct sig_action *new, struct sig_action *mine)
{
	*mine = *new;
	wanted.flags = (uint32_t)new->flags | SA_RESTORER;
	wanted.restorer = 0;
	wanted.mask = new->mask[0];
	STORE_RELEASE(wanted.handler, (uint64_t)new->handler);
	if ((uint64_t)new->handler == SIG_IGNORED) {
		guards_stop(PMM_CHECK_STOP_IGNORED);
		return;
	}
	mine->handler = (sig_handler *)(void *)fault_entry;
	mine->flags = (int)(((uint32_t)mine->flags | SA_SIGINFO) & ~SA_RESETHAND);
}

static void show(struct sig_action *old, const struct kernel_action *was)
{
	if ((uint64_t)old->handler != (uint64_t)fault_entry)
		return;
	old->handler = (sig_handler *)was->handler;
	old->flags = (int)was->flags;
	old->mask[0] = was->mask;
}

/* Ours was put in place while the program's was: is it still there? */
static void install_again(const struct sig_action *new)
{
	struct kernel_action now;

	if (!action_get(&now) || now.handler == (uint64_t)fault_entry ||
	    now.handler != (uint64_t) new->handler)
		return;
	if (now.handler == SIG_IGNORED) {
		guards_stop(PMM_CHECK_STOP_IGNORED);
		return;
	}
	wanted = now;
	install(&now);
}

static SLOW int sigaction_body(const struct sig_action *new, struct sig_action *old,
			       sigaction_function *next)
{
	bool before = is_taken(), noted = new && before && !is_vforked();
	struct kernel_action was = wanted;
	struct sig_action mine, asked;
	int ret;

	if (new)
		asked = *new;			/* `old` may be the same */
	if (noted)
		wish(&asked, &mine);
	ret = PASS(next(SIGSEGV, noted ? &mine : new, old));
	if (!before && is_taken()) {
		was = wanted;
		if (!ret && new && !is_vforked())
			install_again(&asked);
	}
	if (!ret && old)
		show(old, &was);
	return ret;
}

int inject_sigaction(int signal, const struct sig_action *new, struct sig_action *old,
		     const struct pmm_entry *e)
{
	if (signal != SIGSEGV)
		return NEXT(e, sigaction_function *)(signal, new, old);
	return sigaction_body(new, old, NEXT(e, sigaction_function *));
}
