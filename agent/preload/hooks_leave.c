/* SPDX-License-Identifier: MIT */
/*
 * The C library's ways out of the process, as the program calls them.
 *
 * exit() is only noted: who called it, for the frames below are dead. The search comes after all
 * handlers and destructors: the first handler to be registered is the last one that runs, and ours
 * is registered before the program's first code, also before the one that runs the destructors of
 * all objects (glibc: __libc_start_main registers _dl_fini). Where destructors run after all
 * handlers (musl) our own destructor is the place. What then remains for the C library to do is to
 * write out its buffers.
 *
 * Several threads may be in exit() at once. glibc hands each handler to one of them and lets who
 * finds none left end the process, also while another one still runs destructors or waits in our
 * handler. So threads that call exit() come in one after the other, as POSIX has it since 2024
 * (leave_in_turn). For those that the C library sends there itself, when main returns, our handler
 * is registered twice, and again before it asks: a thread that comes to the end of the list finds
 * it there. The first that does ends the process, as without us; the others wait.
 */
#include "agent/unwind/module.h"
#include "agent/preload/leave.h"
#include "agent/preload/agent_preload.h"

enum { EXIT, EXIT_AT_ONCE, EXIT_AT_ONCE_C, EXIT_QUICK };	/* as numbers below */

#define NR_NOTES	64u

/*
 * The last call of exit() or quick_exit() of each thread. Notes are not given back; a thread that
 * finds none has no dead frames.
 */
static struct note {
	uint32_t tid;			/* 0 = free */
	int status;
	uint64_t sp;
} notes[NR_NOTES];
static bool destructed, handled;

extern int __cxa_atexit(void (*handler)(void *), void *arg, void *dso) __attribute__((weak));
extern int __cxa_at_quick_exit(void (*handler)(void *), void *dso) __attribute__((weak));

/*
 * Handlers run before the destructors of objects, and those of quick_exit() cannot be joined from
 * here.
 */
static bool is_musl(void)
{
	return !&__cxa_at_quick_exit;
}

static struct note *note_of(uint32_t tid, bool make)
{
	for (unsigned i = 0; i < NR_NOTES; i++) {
		struct note *n = &notes[(tid + i) % NR_NOTES];
		uint32_t none = 0;

		if (LOAD(n->tid) == tid || (make && CAS(n->tid, none, tid)))
			return n;
	}
	return NULL;
}

static void note(int status, uint64_t sp)
{
	struct note *n = note_of(ctx_tid(arch_thread_pointer()), true);

	if (n) {
		n->sp = sp;
		n->status = status;
	}
}

/* The real ones return as little. */
static void end_at_once(int status)
{
	for (;;)
		sys1(exit_group, status);
}

__attribute__((used)) static void *leave_hook(int status, uint64_t sp, unsigned which)
{
	if (!agent.next.malloc)
		resolve();
	void (*next[])(int) = { agent.next.exit, agent.next._exit, agent.next._Exit,
				agent.next.quick_exit };

	leave_called(status, sp);
	if (which != EXIT)
		leave_form(sp);
	if (which == EXIT_AT_ONCE || which == EXIT_AT_ONCE_C) {
		leave_ask(PMM_LEAVE_AT_ONCE, sp, (uint32_t)status);
	} else if (which == EXIT_QUICK && is_musl()) {
		/* its handlers run after us */
		leave_ask(PMM_LEAVE_QUICK_EXIT, sp, (uint32_t)status);
	} else if (leave_wanted()) {
		note(status, sp);
		if (leave_in_turn())	/* no handler is left that would make it wait */
			leave_ask(which == EXIT_QUICK ? PMM_LEAVE_QUICK_EXIT : PMM_LEAVE_EXIT, sp,
				  (uint32_t)status);
	}
	return next[which] ? (void *)next[which] : (void *)end_at_once;
}

ARCH_HOOK_LEAVE("exit", 0)
ARCH_HOOK_LEAVE("_exit", 1)
ARCH_HOOK_LEAVE("_Exit", 2)
ARCH_HOOK_LEAVE("quick_exit", 3)

/*
 * The C library called exit() itself. When main has returned (or the start function of the last
 * thread) there are only frames of its own between here and the outermost one, whose stack pointer
 * this returns; else, as in err(), 0.
 */
static uint64_t returned_to(const struct caller *from)
{
	struct tctx *c = ctx_find();
	struct module_at libc;
	uint64_t sp;

	if (!c || c->busy || !module_find((uint64_t)agent.next.exit, &libc))
		return 0;
	ctx_busy(c, from->sp);
	sp = unwind_outermost(c, from, libc.start, libc.end);
	agent_leave(c);
	return sp;
}

static void ask_at_exit(const struct caller *from, enum pmm_leave_cause cause)
{
	const struct note *n;
	uint64_t sp;

	if (!leave_wanted() || !LOAD(*agent.alive))
		return;
	n = note_of(ctx_tid(arch_thread_pointer()), false);
	if (n) {
		leave_ask(cause, n->sp, (uint32_t)n->status);
		return;
	}
	sp = returned_to(from);
	leave_ask(sp ? PMM_LEAVE_RETURN : cause, sp, 0);
}

static void at_exit(void *unused)
{
	struct caller from = CALLER_HERE();

	(void)unused;
	handled = true;
	if (is_musl() ? !destructed : leave_over())
		return;
	if (!is_musl())
		__cxa_atexit(at_exit, NULL, NULL);
	ask_at_exit(&from, PMM_LEAVE_EXIT);
}

static void at_quick_exit(void *unused)
{
	struct caller from = CALLER_HERE();

	(void)unused;
	if (leave_over())
		return;
	__cxa_at_quick_exit(at_quick_exit, NULL);
	ask_at_exit(&from, PMM_LEAVE_QUICK_EXIT);
}

void leave_destructor(void)
{
	struct caller from = CALLER_HERE();

	destructed = true;
	if (is_musl() && (handled || !&__cxa_atexit))
		ask_at_exit(&from, PMM_LEAVE_EXIT);
}

void leave_start(void)
{
	if (!leave_wanted())
		return;
	if (&__cxa_atexit)
		__cxa_atexit(at_exit, NULL, NULL);
	if (!is_musl()) {
		__cxa_atexit(at_exit, NULL, NULL);
		__cxa_at_quick_exit(at_quick_exit, NULL);
	}
	signals_catch();
}
