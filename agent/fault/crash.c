/* SPDX-License-Identifier: MIT */
/*
 * What ends the process, noted.
 *
 * It runs in a handler with all signals blocked, or in exit() with those blocked for the time, on a
 * stack of ours where the thread has one: the program's may have run over, and its alternate one
 * need not be larger than for itself. Nothing here takes a lock. The finding is in the ledger
 * before the process is searched and before it dies, so that neither the monitor's pace nor a
 * SIGKILL loses it.
 */
#include "agent/fault/crash.h"

#include "agent/guard/guard_access.h"
#include "agent/guard/finding.h"
#include "agent/fault/reserved.h"
#include "agent/check/checker.h"
#include "agent/agent_core.h"
#include "agent/preload/leave.h"
#include "agent/sys.h"

#define SIGABRT		6
#define SIGSYS		31
#define SI_USER		0
#define SI_TKILL	(-6)
#define BUS_MCEERR_AO	5
#define TRAP_BREAKPOINT	3		/* uc->trapno */
#define TRAP_PAGE	14
#define STACK_MOST	(1ul << 20)	/* between a handler's frame and where it dies */
#define FAULTS                                                                                     \
	(SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGFPE) | SIGNAL_BIT(SIGILL) |      \
	 SIGNAL_BIT(SIGTRAP) | SIGNAL_BIT(SIGSYS))

/*
 * The last fault of this thread that a handler of the program's was called for, and the last one
 * that a finding has reported.
 */
static __thread struct {
	uint64_t frame, pc, sp;
	uint64_t address, err, trapno;
	int signal, code;		/* 0 = none */
} given;
static __thread struct {
	uint64_t pc, address;
	uint32_t number;		/* + 1 */
} reported;

/* agent.generation of the process whose end is noted. */
static uint32_t noted;

static const struct arch_ucontext *frame_context(uint64_t frame)
{
	return (const struct arch_ucontext *)(frame + 8);
}

void crash_given(const void *info, const struct arch_ucontext *uc, uint64_t frame)
{
	given.signal = ((const int *)info)[0];
	given.code = ((const int *)info)[2];
	given.address = ((const uint64_t *)info)[2];
	given.err = uc->err;
	given.trapno = uc->trapno;
	given.pc = uc->pc;
	given.sp = uc->sp;
	given.frame = frame;
}

void crash_told(const struct arch_ucontext *uc, uint64_t address, uint32_t number)
{
	reported.pc = uc->pc;
	reported.address = address;
	reported.number = number + 1;
}

/*
 * Is the handler for that fault still running, at stack pointer `sp`? Its frame is as it was, and
 * not far above.
 */
static bool in_handler(uint64_t sp)
{
	uint64_t frame = given.frame;

	if (!frame || sp >= frame || frame - sp > STACK_MOST || LOAD(agent.no_asking))
		return false;
	if (!sys_readable(frame & ~7ull) || !sys_readable(frame + ARCH_SIGFRAME_BYTES - 8))
		return false;
	return frame_context(frame)->pc == given.pc && frame_context(frame)->sp == given.sp;
}

/* ---- the note -------------------------------------------------------------------------------- */

/* Visible before the finding that it goes with. */
static void death_put(const struct pmm_death *d)
{
	struct pmm_death *to = &agent.ledger->death;

	STORE(to->state, 0);
	__atomic_thread_fence(__ATOMIC_RELEASE);	/* not mixed with an earlier one */
	memcpy((char *)to + sizeof(to->state), (const char *)d + sizeof(d->state),
	       sizeof(*d) - sizeof(d->state));
	STORE_RELEASE(to->state, 1);
}

static void crash_note(struct tctx *c, struct crash *k)
{
	const uint64_t regs[] = ARCH_REGS(k->uc);
	struct pmm_finding f = { .type = PMM_FINDING_CRASH,
				 .by = PMM_BY_SIGNAL,
				 .address = k->address };
	struct arch_ucontext at = *k->uc;
	struct check_block b;
	bool known = false;
	uint32_t number;

	_Static_assert(sizeof(regs) == sizeof(k->death.regs), "the same registers");
	memcpy(k->death.regs, regs, sizeof(regs));
	if (k->forced && reported.number && reported.pc == k->uc->pc &&
	    reported.address == k->address) {
		k->death.finding = reported.number;
		death_put(&k->death);
		return;
	}
	at.err = k->paged ? k->err : 0;
	if (k->paged)
		f.access = access_of(&at);
	if (k->trapno == TRAP_BREAKPOINT)
		at.pc--;			/* which is behind it */
	crash_place(k, &f, &b, &known);
	access_describe(c, &f, known ? &b : NULL, &at);
	if (!k->paged && f.place != PMM_PLACE_NO_ADDRESS)
		f.nr_code = 0;
	death_put(&k->death);
	number = finding_note(c, &f);
	if (number != UINT32_MAX)
		STORE(agent.ledger->death.finding, number + 1);
}

static void note(void *arg)
{
	struct crash *k = arg;
	struct tctx *c = access_enter(k->uc->sp);

	if (!c)
		return;
	if (check_ready()) {
		crash_note(c, k);
		check_look_back(c);
		finding_allow_core();
	}
	agent_leave(c);
}

/* On our own stack, unless that is in use. */
static void note_apart(struct crash *k)
{
	uint64_t here = (uint64_t)__builtin_frame_address(0), top = signal_stack_end();

	if (!top || signal_stack_holds(here) || signal_stack_holds(k->uc->sp))
		note(k);
	else
		arch_call_on(top, note, k);
}

/* Does this process end here, and not a child made by vfork(), in its memory, or another thread? */
static bool is_end(void)
{
	return agent_is_on() && !agent.own_allocator && !leave_is_others() &&
	       !(LOAD(*agent.alive) && (int)sys0(getpid) != agent.pid);
}

/* The first to note it; a forked child that had no event yet has one thread. */
static bool is_first(void)
{
	uint32_t was = LOAD(noted);

	return !LOAD(*agent.alive) ||
	       (was != agent.generation && CAS(noted, was, agent.generation));
}

/* ---- ends ------------------------------------------------------------------------------------ */

static struct crash of_fault(int signal, int code, uint64_t address, const struct arch_ucontext *uc)
{
	struct crash k = { .signal = signal,
			   .code = code,
			   .uc = uc,
			   .err = uc->err,
			   .trapno = uc->trapno,
			   .forced = true };

	k.paged = (k.signal == SIGSEGV || k.signal == SIGBUS) && k.trapno == TRAP_PAGE;
	k.address = k.paged ? address : 0;
	k.death.fault = (uint32_t)k.signal;
	k.death.code = k.code;
	return k;
}

/* The one that a handler was called for, and the registers that go with it. */
static struct crash of_given(const struct arch_ucontext *uc)
{
	struct arch_ucontext at = *uc;
	struct crash k;

	at.err = given.err;
	at.trapno = given.trapno;
	k = of_fault(given.signal, given.code, given.address, &at);
	k.uc = uc;
	return k;
}

/*
 * A signal that the handler had sent while it was blocked there comes when it has returned, before
 * the instruction is run again.
 */
static bool is_sent_on(int signal, const struct arch_ucontext *uc)
{
	return given.signal && signal == given.signal && uc->pc == given.pc &&
	       uc->sp == given.sp;
}

static bool is_fault(const int *info)
{
	return reserved_forced(info) && FAULTS & SIGNAL_BIT(info[0]) &&
	       !(info[0] == SIGBUS && info[2] == BUS_MCEERR_AO);
}

/* Sent by this process itself. */
static bool is_own(const int *info)
{
	return (info[2] == SI_TKILL || info[2] == SI_USER) && info[4] == (int)sys0(getpid);
}

void leave_signal(int signal, void *info, void *context)
{
	const struct arch_ucontext *uc = context;
	bool own = is_own(info), crash = true;
	struct crash k;

	if (is_fault(info))
		k = of_fault(signal, ((const int *)info)[2], ((const uint64_t *)info)[2], uc);
	else if (own && in_handler(uc->sp))
		k = of_given(frame_context(given.frame));
	else if (own && is_sent_on(signal, uc))
		k = of_given(uc);
	else if (own && signal == SIGABRT)
		k = (struct crash){ .signal = SIGABRT, .code = ((const int *)info)[2], .uc = uc };
	else
		crash = false;
	if ((!crash && !LOAD(*agent.alive)) || !is_end() || !is_first())
		return;
	if (crash) {
		k.death.signal = (uint32_t)signal;
		note_apart(&k);
		STORE(noted, agent.generation);
		return;
	}
	death_put(&(struct pmm_death){
		.signal = (uint32_t)signal,
		.code = ((const int *)info)[2],
		.sender = reserved_forced(info) ? 0 : (uint32_t)((const int *)info)[4] });
}

/* A handler that ends the process with 0 has dealt with the fault. */
void leave_called(int status, uint64_t sp)
{
	struct caller from = ARCH_LEAVE_CALLER(sp);
	uint64_t all = ~0ull, mask = 0;
	struct tctx *c;
	struct crash k;
	bool inside;

	if (!(status & 255) || !in_handler(sp) || LOAD(agent.confined) || !is_end())
		return;
	c = access_enter(sp);
	if (!c)
		return;
	inside = unwind_interrupted(c, &from);
	agent_leave(c);
	if (!inside || !is_first())
		return;
	k = of_given(frame_context(given.frame));
	k.death.status = (uint32_t)status & 255;
	sys4(rt_sigprocmask, SYS_SIG_SETMASK, &all, &mask, 8);
	note_apart(&k);
	STORE(noted, agent.generation);
	sys4(rt_sigprocmask, SYS_SIG_SETMASK, &mask, 0, 8);
}
