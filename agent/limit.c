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

void limit_make_room(uint64_t bytes)
{
	struct limit l = { UINT64_MAX, UINT64_MAX };

	A.reserved_bytes = bytes;
	sys4(prlimit, 0, RLIMIT_AS, 0, &l);
	if (l.now == UINT64_MAX || A.compiled_in)	/* without hooks the program would see it */
		return;
	if (!A.limit_shifted) {
		uint32_t inherited = limit_inherited();

		A.limit_shifted = inherited != PMM_LIMIT_AS_IT_WAS;
		A.limit_has_pool = inherited == PMM_LIMIT_RAISED_POOL;
	}
	if (A.limit_shifted || l.now + bytes > l.most)
		return;
	l.now += bytes;
	A.limit_shifted = !sys_failed(sys4(prlimit, 0, RLIMIT_AS, &l, 0));
	A.limit_raised_bytes = A.limit_shifted ? bytes : 0;
}

void limit_restore(void)
{
	struct limit l;

	if (A.limit_raised_bytes && !sys_failed(sys4(prlimit, 0, RLIMIT_AS, 0, &l)) &&
	    l.now != UINT64_MAX) {
		l.now -= A.limit_raised_bytes;
		sys4(prlimit, 0, RLIMIT_AS, &l, 0);
		A.limit_shifted = false;
	}
	A.limit_raised_bytes = A.reserved_bytes = 0;
}

bool limit_room(uint64_t bytes)
{
	struct limit l = { UINT64_MAX, UINT64_MAX };

	sys4(prlimit, 0, RLIMIT_AS, 0, &l);
	if (l.now != UINT64_MAX && !A.limit_has_pool) {
		l.now += bytes;
		if (!A.limit_shifted || l.now > l.most ||
		    sys_failed(sys4(prlimit, 0, RLIMIT_AS, &l, 0)))
			return false;
		A.limit_raised_bytes += bytes;
	}
	A.pool_bytes = bytes;
	limit_note();
	return true;
}

uint32_t limit_state(void)
{
	if (!A.limit_shifted)
		return PMM_LIMIT_AS_IT_WAS;
	return A.pool_bytes || A.limit_has_pool ? PMM_LIMIT_RAISED_POOL : PMM_LIMIT_RAISED;
}

/* In a forked child before its first event the slot is the parent's, and out of reach. */
void limit_note(void)
{
	if (A.slot && agent_begun())
		STORE(A.slot->limit_raised, limit_state());
}
