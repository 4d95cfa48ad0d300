/* SPDX-License-Identifier: MIT */
/*
 * Letting one instruction through to closed pages of the pool.
 *
 * Usually by the trap flag: SIGTRAP comes after the instruction. With it, `rep movs` and `rep stos`
 * would trap after each element; they are run elsewhere, at a copy of theirs in front of a
 * breakpoint, and so at full speed from page to page.
 *
 * Other threads may access the pages at that time and are not stopped. What the thread's state is
 * kept in belongs to the thread, so that nothing is waited for; the pages of a thread that a signal
 * from outside kills, or a fork copies, at that moment stay open.
 */
#include "agent/fault/step.h"

#include "agent/check/left_open.h"
#include "agent/guard/guard.h"
#include "agent/fault/reserved.h"
#include "agent/sys.h"
#include "arch/agent_signal.h"

/* more than an instruction can need at once: 16 elements of two pages, twice */
#define STEP_PAGES	64u
#define WAIT_TRIES	1000u	/* a thread that was killed meanwhile is not waited for */
#define WAIT_NS		1000000u
/*
 * stops in turn at a page: other threads close it, all are being opened, or another party keeps it
 * closed
 */
#define AGAIN_MOST	100000u
#define SAME_MOST	(1u << 20)	/* one that leads to itself is none of them */

/* What the instruction does to flags. */
enum flags { FLAGS_KEPT, FLAGS_PUSHED, FLAGS_POPPED };

struct step {
	bool active;
	bool leave_open;			/* leave the pages open */
	bool traced;			/* the program has set the trap flag itself */
	uint8_t flags;			/* enum flags */
	uint32_t nr_same;		/* traps at pc */
	uint32_t nr_again;		/* how often the last page was opened again */
	/* opened since the beginning; the last STEP_PAGES of them are open */
	uint32_t nr_pages;
	uint64_t mask;
	uint64_t pc;
	uint64_t stub, stub_end;	/* where it runs instead of at pc, 0 = there */
	uint64_t next;			/* where it leads then */
	uint64_t pages[STEP_PAGES];
};

static uint32_t nr_steps;	/* of all threads, under way */
static __thread struct step step __attribute__((tls_model("initial-exec")));

ARCH_REP_STUBS("step_stubs")
extern const uint8_t step_stubs[] __attribute__((visibility("hidden")));

bool step_active(void)
{
	return step.active;
}

static void pages_close(void)
{
	uint32_t nr = step.nr_pages < STEP_PAGES ? step.nr_pages : STEP_PAGES;

	for (uint32_t i = 0; i < nr; i++)
		if (!step.leave_open || !left_open_add(step.pages[i]))
			guard_page_close(step.pages[i]);
	step.nr_pages = 0;
}

static void slot_close(uint32_t at)
{
	guard_page_close(step.pages[at % STEP_PAGES]);
	step.pages[at % STEP_PAGES] = 0;
}

/*
 * Was the last page that was opened this one? Another thread has closed it since: it is no longer
 * open for us.
 */
static bool forget_last(uint64_t page)
{
	if (!step.nr_pages || step.pages[(step.nr_pages - 1) % STEP_PAGES] != page)
		return false;
	slot_close(--step.nr_pages);
	return true;
}

static bool page_open(uint64_t page)
{
	if (!forget_last(page))
		step.nr_again = 0;
	else if (step.nr_again++ == AGAIN_MOST)
		return false;
	if (step.nr_pages >= STEP_PAGES)
		slot_close(step.nr_pages);
	if (!guard_page_open(page))
		return false;
	step.pages[step.nr_pages++ % STEP_PAGES] = page;
	return true;
}

/*
 * Signals that an instruction makes, as far as the program does not block them, are the only ones
 * to come.
 */
static uint64_t stepping_mask(uint64_t mask)
{
	uint64_t faults = SIGNAL_BIT(SIGILL) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGFPE);

	return ~(SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGTRAP) | (faults & ~mask));
}

static void begin(struct arch_ucontext *uc)
{
	struct arch_insn insn = arch_insn_at(uc->pc);

	step = (struct step){ .active = true,
			      .traced = uc->cpu_flags & ARCH_FLAG_TRAP,
			      .mask = uc->mask,
			      .pc = uc->pc };
	step.flags = insn.pushes_flags ? FLAGS_PUSHED : insn.pops_flags ? FLAGS_POPPED : FLAGS_KEPT;
	if (insn.rep_stub >= 0 && !step.traced) {
		step.stub = (uint64_t)step_stubs + (uint64_t)insn.rep_stub * ARCH_REP_STUB_BYTES;
		step.stub_end = step.stub + arch_rep_bytes(insn.rep_stub);
		step.next = uc->pc + insn.bytes;
		uc->pc = step.stub;
	} else {
		uc->cpu_flags |= ARCH_FLAG_TRAP;
	}
	uc->mask = stepping_mask(uc->mask);
}

bool step_open(struct arch_ucontext *uc, uint64_t page, bool leave_open)
{
	if (!step.active) {
		/* in this order, as in pages_enter(): step_wait() is called with no_guards set */
		__atomic_fetch_add(&nr_steps, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&agent.no_guards, __ATOMIC_SEQ_CST)) {
			ADD(nr_steps, -1u);
			/* the page is open, or will be at once: made again */
			return true;
		}
		begin(uc);
	}
	step.leave_open |= leave_open;
	if (page_open(page))
		return true;
	step_cancel(uc);
	return false;
}

static void end(struct arch_ucontext *uc)
{
	if (step.flags != FLAGS_POPPED && !step.traced)
		uc->cpu_flags &= ~ARCH_FLAG_TRAP;
	pages_close();
	uc->mask = step.mask;
	step.active = false;
	ADD(nr_steps, -1u);
}

void step_wait(void)
{
	for (unsigned i = 0; i < WAIT_TRIES && __atomic_load_n(&nr_steps, __ATOMIC_SEQ_CST); i++)
		sys_sleep_ns(WAIT_NS);
}

bool step_done(struct arch_ucontext *uc, bool *traced)
{
	*traced = step.traced;
	if (!step.active)
		return false;
	if (step.stub) {
		if (uc->pc != step.stub_end + 1)	/* behind the breakpoint */
			return false;
		uc->pc = step.next;
	} else if (uc->pc == step.pc && !step.traced && step.nr_same++ < SAME_MOST) {
		/* one element of many: string instructions, gather and scatter */
		return true;
	}
	if (step.flags == FLAGS_PUSHED && !step.traced)
		*(volatile uint16_t *)uc->sp &= (uint16_t)~ARCH_FLAG_TRAP;
	end(uc);
	return true;
}

void step_cancel(struct arch_ucontext *uc)
{
	if (!step.active)
		return;
	if (step.stub)
		uc->pc = uc->pc == step.stub_end ? step.next : step.pc;
	if (!step.traced)
		uc->cpu_flags &= ~ARCH_FLAG_TRAP;
	step.flags = FLAGS_KEPT;
	end(uc);
}
