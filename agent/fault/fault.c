/* SPDX-License-Identifier: MIT */
/*
 * Accesses that the kernel stops.
 *
 * All of it runs in the handler of reserved.c, with all signals blocked and on a stack of our own,
 * so a thread is here once at a time. The interrupted code may be a hook of ours, whose context is
 * then busy: the event is recorded with a nested one.
 */
#include "agent/fault/fault.h"

#include "agent/guard/guard_access.h"
#include "agent/fault/crash.h"
#include "agent/check/left_open.h"
#include "agent/guard/guard.h"
#include "agent/fault/reserved.h"
#include "agent/fault/step.h"
#include "agent/check/checker.h"
#include "agent/agent_core.h"
#include "agent/unwind/module.h"
#include "agent/sys.h"

#define SEGV_MAPERR	1
#define SEGV_ACCERR	2
/* code may access that much below its stack pointer */
#define STACK_NEAR	(ARCH_RED_ZONE + 8)
#define TRIES_MOST	100000u		/* while the pool is being opened */
#define FRAME_MOST	(64ul << 20)		/* of one function */

static int *info_code(void *info)
{
	return (int *)info + 2;
}

static uint64_t info_address(const void *info)
{
	return ((const uint64_t *)info)[2];
}

/* A context for the event, or NULL. Taking it may have given the thread its alternate stack. */
static struct tctx *enter(struct arch_ucontext *uc)
{
	struct tctx *c = access_enter(uc->sp);

	signal_stack_late(uc);
	return c;
}

/* ---- the pool -------------------------------------------------------------------------------- */

/* An access while the pool is being opened for good, and how often it was made. */
static __thread uint64_t closed_address, closed_pc;
static __thread uint32_t closed_tries;

static __thread struct guard_stop last_stop;

/*
 * What is to be done about an access. One to a live block, which was given out after the access had
 * been stopped, is to be made again; code in one is no heap error, but must not run.
 */
enum verdict { ACCESS_AGAIN, ACCESS_STEP, ACCESS_LEAVE_OPEN };

static enum verdict judge(struct tctx *c, uint64_t address, const struct arch_ucontext *uc)
{
	struct pmm_finding f = { .type = PMM_FINDING_WILD, .address = address };
	struct check_block b;
	uint32_t number;
	bool known;

	if (!check_ready())
		return ACCESS_STEP;
	known = check_find(address, 0, &b);
	if (known && !b.freed && address - b.address < b.size)
		return uc->err & ARCH_FAULT_FETCH ? ACCESS_STEP : ACCESS_AGAIN;
	if (known)
		f.type = access_type(&b, address);
	number = access_note(c, &f, known ? &b : NULL, uc);
	if (known && !b.freed && access_of(uc) == PMM_ACCESS_WRITE)
		beside_told(&b, address);
	if (uc->err & ARCH_FAULT_FETCH)
		crash_told(uc, address, number);
	return left_open_wanted(number) ? ACCESS_LEAVE_OPEN : ACCESS_STEP;
}

/*
 * All of the pool has been opened since, or will be in a moment: made again. What never was
 * prepared for use stays closed.
 */
static bool opened(uint64_t address, const struct arch_ucontext *uc)
{
	if (closed_address != address || closed_pc != uc->pc)
		closed_tries = 0;
	closed_address = address;
	closed_pc = uc->pc;
	return closed_tries++ < TRIES_MOST;
}

/* An access to the pool. False: the program's. */
static bool stopped(void *info, struct arch_ucontext *uc)
{
	uint64_t address = info_address(info), page = address & ~(ARCH_PAGE - 1);
	struct tctx *c;
	enum verdict v = ACCESS_STEP;

	if (guard_page_protected(page, &last_stop))
		return false;
	if (step_active())
		return step_open(uc, page, false);
	if (LOAD(agent.no_guards))
		return opened(address, uc);
	left_open_tend();
	c = enter(uc);
	if (c) {
		v = judge(c, address, uc);
		agent_leave(c);
	}
	reserved_look();
	if (!(uc->err & ARCH_FAULT_FETCH))
		return v == ACCESS_AGAIN || step_open(uc, page, v == ACCESS_LEAVE_OPEN);
	*info_code(info) = SEGV_ACCERR;		/* as of heap, which is mapped and no code */
	return false;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/*
 * Did the thread's stack run over? Then the stack pointer is at its end or beyond, the access
 * is not far below it, and what is next above both that can be read is where the stack ends.
 */
static bool stack_over(const struct arch_ucontext *uc, uint64_t address)
{
	uint64_t start = (address < uc->sp ? address : uc->sp) & ~(ARCH_PAGE - 1), end = start;

	if (address + STACK_NEAR < uc->sp || address - uc->sp + STACK_NEAR > FRAME_MOST ||
	    uc->err & ARCH_FAULT_FETCH)
		return false;
	while (!sys_readable(end))
		if ((end += ARCH_PAGE) - start > FRAME_MOST)
			return false;
	return address < end && uc->sp < end + STACK_NEAR;
}

static void overflowed(struct arch_ucontext *uc, uint64_t address)
{
	struct pmm_finding f = { .type = PMM_FINDING_STACK_OVERFLOW, .address = address };
	struct tctx *c = enter(uc);

	if (!c)
		return;
	if (check_ready())
		crash_told(uc, address, access_note(c, &f, NULL, uc));
	agent_leave(c);
}

/* ---- signals --------------------------------------------------------------------------------- */

bool fault_handle(int signal, void *info, void *context)
{
	struct arch_ucontext *uc = context;
	int code = *info_code(info);
	bool access = signal == SIGSEGV && (code == SEGV_MAPERR || code == SEGV_ACCERR), traced;

	if (access && guard_in_pool(info_address(info)) && stopped(info, uc))
		return true;
	if (signal == SIGTRAP && reserved_forced(info) && step_done(uc, &traced))
		return !traced;
	step_cancel(uc);
	if (access && !LOAD(agent.no_guards) && stack_over(uc, info_address(info)))
		overflowed(uc, info_address(info));
	return false;
}

void fault_thread(void)
{
	struct tctx *c = ctx_find();

	if (c)
		signal_stack_take(c);
}

/*
 * The real allocator asks the kernel for this and that when it begins, which may be with the first
 * canaried block, under seccomp.
 */
static void allocator_begin(void)
{
	if (agent.next.malloc && agent.next.free)
		agent.next.free(agent.next.malloc(1));
}

void fault_start(void)
{
	allocator_begin();
	reserved_start();
	agent.taken = signal_stack_take;
	fault_thread();
}
