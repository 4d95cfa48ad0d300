/* SPDX-License-Identifier: MIT */
/*
 * Asking the monitor for a search at the process's end, and waiting for it.
 *
 * What the wait may cost is bounded: it ends when the monitor dies, and when its clock stops
 * while we have really been waiting, so that a process and a monitor that were stopped together
 * (job control) find each other again. Under seccomp the wait makes no system call.
 *
 * The words that are waited for are in memory that the program may write over: one that makes no
 * sense ends the wait, and whether the monitor lives and ticks is read from the board, which the
 * program cannot write.
 */
#include "agent/preload/leave.h"

#include "agent/clock.h"
#include "agent/ctx.h"
#include "agent/preload/preload_channel.h"
#include "agent/sys.h"

#define FUTEX_WAIT	0
#define PAUSE_NS	20000000ull	/* between looks at the monitor's life and clock */
/* of a pause that took longer no more is believed: we were stopped, too */
#define LONGEST_PAUSE_NS 200000000ull
/* the clock stood still for that long: there is no monitor any more */
#define GONE_NS		4000000000ull
/* ... and a process that could not say so waits no longer to be found by the monitor */
#define UNHEARD_NS	60000000000ull
#define SURE_NS		1000000000ull	/* ... where it had stood before */
#define FIRST_NS	2000000000ull	/* for the first thread to end the process */
/* for another thread to fill the record; it may be one that we interrupted */
#define FILLING_NS	200000000ull
#define SPINS		20000		/* some 0.5 ms */

bool leave_wanted(void)
{
	return agent_is_on() && LOAD(agent.tree->flags) & PMM_TREE_LEAKS &&
	       !agent.own_allocator;
}

/*
 * A forked child without events of its own has no ledger yet and nothing to lose. One made by vfork
 * ends in its parent's memory: recognised by its number, for which under seccomp we do not ask;
 * exit() it must not call.
 */
static bool is_tracked(enum pmm_leave_cause cause)
{
	if (!leave_wanted() || !LOAD(*agent.alive) || !agent.slot)
		return false;
	return agent.confined ? cause <= PMM_LEAVE_QUICK_EXIT : (int)sys0(getpid) == agent.pid;
}

static void pause_while(uint32_t *word, uint32_t value)
{
	int64_t wait[2] = { 0, PAUSE_NS };

	if (!agent.confined)
		sys4(futex, word, FUTEX_WAIT, value, wait);
	else
		for (unsigned i = 0; i < SPINS && LOAD(*word) == value; i++)
			arch_pause();
}

/* How long the monitor's clock may be stopped. */
static uint64_t patience_ns(void)
{
	uint64_t now_ns = clock_ns(SYS_CLOCK_MONOTONIC) - LOAD(agent.clock_ahead_ns),
		 tick_ns = agent.tree->start_monotonic_ns + LOAD(agent.tree->tick) * PMM_TICK_NS;

	return now_ns > tick_ns && now_ns - tick_ns > GONE_NS ? SURE_NS : GONE_NS;
}

/* sock: of channel_leave(), or negative. */
static void wait_for_monitor(struct pmm_slot *s, int sock)
{
	uint64_t still_ns = 0, limit_ns = patience_ns(), now_ns,
		 before_ns = clock_ns(SYS_CLOCK_MONOTONIC);
	uint32_t state, tick = LOAD(agent.tree->tick);
	uint64_t begin_ns = before_ns;

	while ((state = LOAD_ACQUIRE(s->leave)) > PMM_LEAVE_NOT && state < PMM_LEAVE_DONE) {
		if (still_ns >= limit_ns ||
		    (state == PMM_LEAVE_FILLING && still_ns >= FILLING_NS) || agent_monitor_dead())
			break;
		pause_while(&s->leave, state);
		now_ns = clock_ns(SYS_CLOCK_MONOTONIC);
		if (sock >= 0 ? channel_refused(sock)
			      : state == PMM_LEAVE_ASKED && now_ns - begin_ns > UNHEARD_NS)
			break;
		still_ns += now_ns - before_ns < LONGEST_PAUSE_NS ? now_ns - before_ns
								  : LONGEST_PAUSE_NS;
		before_ns = now_ns;
		if (LOAD(agent.tree->tick) == tick || state == PMM_LEAVE_FILLING)
			continue;
		tick = LOAD(agent.tree->tick);
		still_ns = 0;
		limit_ns = GONE_NS;
	}
	if (state == PMM_LEAVE_ASKED)
		CAS(s->leave, state, PMM_LEAVE_DONE);
}

/* The first thread was waited for in vain. */
static bool overdue;

/*
 * Another thread was first. Without the search the process would have ended with it, so ends it
 * now: a thread that runs into what is being torn down must not change the exit status. Not for
 * ever, for what is left to do there may wait for this thread.
 */
static void let_it_end(struct pmm_slot *s)
{
	uint64_t begin_ns = clock_ns(SYS_CLOCK_MONOTONIC);

	while (!LOAD(overdue) && clock_ns(SYS_CLOCK_MONOTONIC) - begin_ns < FIRST_NS)
		pause_while(&s->leave, PMM_LEAVE_DONE);
	STORE(overdue, true);
}

/* The thread that is in exit() or quick_exit(); 0 = none. */
static uint32_t leaver;

/*
 * agent.generation of the process in which a thread has asked. The slot's word does not tell: the
 * program may have written over it.
 */
static uint32_t asked;

static bool ask_first(void)
{
	uint32_t was = LOAD(asked);

	return was != agent.generation && CAS(asked, was, agent.generation);
}

bool leave_in_turn(void)
{
	uint32_t tid = ctx_tid(arch_thread_pointer()), other = 0;
	uint64_t begin_ns;

	if (!is_tracked(PMM_LEAVE_EXIT))
		return false;
	if (!agent.confined && !CAS(leaver, other, tid) && other != tid) {
		begin_ns = clock_ns(SYS_CLOCK_MONOTONIC);
		while (LOAD(asked) != agent.generation &&
		       clock_ns(SYS_CLOCK_MONOTONIC) - begin_ns < FIRST_NS) {
			if (sys_failed(sys3(tgkill, agent.pid, other, 0))) {
				/* it has ended alone, or is one of a process that forked us */
				STORE(leaver, tid);
				break;
			}
			pause_while(&agent.slot->leave, PMM_LEAVE_NOT);
		}
	}
	return LOAD(asked) == agent.generation;
}

bool leave_over(void)
{
	return LOAD(overdue) || !is_tracked(PMM_LEAVE_EXIT) ||
	       LOAD(agent.ledger->leave.tid) == ctx_tid(arch_thread_pointer());
}

/*
 * The thread that ends the process has not come back from its wait: what strikes it there is too
 * late, whatever the monitor has said.
 */
static bool waiting;

bool leave_is_others(void)
{
	if (!LOAD(*agent.alive) || LOAD(asked) != agent.generation)
		return false;
	return LOAD(waiting) || LOAD(agent.ledger->leave.tid) != ctx_tid(arch_thread_pointer());
}

bool leave_ask(enum pmm_leave_cause cause, uint64_t sp, uint32_t number)
{
	bool first, waited;
	uint32_t tid;
	int sock = -1;

	if (!is_tracked(cause))
		return false;
	tid = ctx_tid(arch_thread_pointer());
	first = ask_first();
	if (first) {
		STORE(agent.slot->leave, PMM_LEAVE_FILLING);
		STORE(waiting, true);
		agent.ledger->leave = (struct pmm_leave){
			.sp = sp, .tid = tid, .cause = cause, .number = number
		};
		STORE_RELEASE(agent.slot->leave, PMM_LEAVE_ASKED);
		if (!agent.confined)
			sock = channel_leave(); /* unheard, the monitor finds the word at its next
						   tick */
	}
	waited = LOAD(waiting) || LOAD(agent.slot->leave) != PMM_LEAVE_DONE;
	wait_for_monitor(agent.slot, sock);
	if (sock >= 0)
		sys1(close, sock);
	if (first)
		STORE(waiting, false);
	if (!first && agent.ledger->leave.tid != tid)
		let_it_end(agent.slot);
	return !first && agent.ledger->leave.tid == tid && waited;
}
