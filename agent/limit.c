/* SPDX-License-Identifier: MIT */
/*
 * The limit on address space, raised by what the agent maps.
 */
#include "agent/limit.h"

#include "agent/agent.h"
#include "agent/ctx.h"
#include "agent/sys.h"

uint64_t limit_of(int which)
{
	struct limit l = { UINT64_MAX, UINT64_MAX };

	sys4(prlimit, 0, which, 0, &l);
	return l.now;
}

/*
 * The hard limit with the soft one where this process may: hooks lower both, so the program sees
 * what it had. Else the soft one alone, if the hard one leaves the room.
 */
static bool raise(struct limit l, uint64_t bytes)
{
	struct limit both = { l.now + bytes, l.most };

	if (l.most != UINT64_MAX) {
		both.most += bytes;
		if (!sys_failed(sys4(prlimit, 0, RLIMIT_AS, &both, 0))) {
			agent.limit_most_raised = true;
			return true;
		}
		both.most = l.most;
		if (agent.limit_most_raised || both.now > both.most)
			return false;
	}
	return !sys_failed(sys4(prlimit, 0, RLIMIT_AS, &both, 0));
}

void limit_make_room(uint64_t bytes)
{
	struct limit l = { UINT64_MAX, UINT64_MAX };

	agent.reserved_bytes = bytes;
	agent.limit_taken = false;
	sys4(prlimit, 0, RLIMIT_AS, 0, &l);
	if (l.now == UINT64_MAX || agent.compiled_in)	/* without hooks the program would see it */
		return;
	if (!agent.limit_shifted) {
		uint32_t inherited = limit_inherited();

		agent.limit_shifted = inherited != PMM_LIMIT_AS_IT_WAS;
		agent.limit_has_pool = inherited == PMM_LIMIT_RAISED_POOL;
	}
	if (agent.limit_shifted)
		return;
	agent.limit_shifted = raise(l, bytes);
	agent.limit_raised_bytes = agent.limit_shifted ? bytes : 0;
	agent.limit_taken = !agent.limit_shifted;
}

void limit_restore(void)
{
	struct limit l;

	if (agent.limit_raised_bytes && !sys_failed(sys4(prlimit, 0, RLIMIT_AS, 0, &l)) &&
	    l.now != UINT64_MAX) {
		l.now -= agent.limit_raised_bytes;
		if (agent.limit_most_raised && l.most != UINT64_MAX)
			l.most -= agent.limit_raised_bytes;
		sys4(prlimit, 0, RLIMIT_AS, &l, 0);
		agent.limit_shifted = agent.limit_most_raised = false;
	}
	agent.limit_raised_bytes = agent.reserved_bytes = 0;
}

bool limit_room(uint64_t bytes)
{
	struct limit l = { UINT64_MAX, UINT64_MAX };

	sys4(prlimit, 0, RLIMIT_AS, 0, &l);
	if (l.now != UINT64_MAX && !agent.limit_has_pool) {
		if (!agent.limit_shifted || !raise(l, bytes))
			return false;
		agent.limit_raised_bytes += bytes;
	}
	agent.pool_bytes = bytes;
	limit_note();
	return true;
}

uint32_t limit_state(void)
{
	if (!agent.limit_shifted)
		return agent.limit_taken ? PMM_LIMIT_TAKEN : PMM_LIMIT_AS_IT_WAS;
	return agent.pool_bytes || agent.limit_has_pool ? PMM_LIMIT_RAISED_POOL : PMM_LIMIT_RAISED;
}

/* In a forked child before its first event the slot is the parent's, and out of reach. */
void limit_note(void)
{
	if (agent.slot && agent_begun())
		STORE(agent.slot->limit_raised, limit_state());
}
