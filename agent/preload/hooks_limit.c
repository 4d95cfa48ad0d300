/* SPDX-License-Identifier: MIT */
/*
 * Limits on address space and data, as the program sees them.
 *
 * The ledger's mapping, and a pool of guarded blocks, are large and mostly empty, but RLIMIT_AS
 * counts them; RLIMIT_DATA counts the agent's private memory. So that a limit means to the program
 * what it means without pmm, what the program sets is raised by their size, and what it reads is
 * lowered again.
 */
#include "agent/preload/agent_preload.h"
#include "agent/limit.h"

#define RLIMIT_DATA	2
#define INFINITE	UINT64_MAX

static uint64_t ours(int what)
{
	return what == RLIMIT_AS ? agent.reserved_bytes + agent.pool_bytes : PMM_OWN_DATA_BYTES;
}

static uint64_t raised(int what, uint64_t limit)
{
	return limit > INFINITE - ours(what) ? INFINITE : limit + ours(what);
}

static uint64_t lowered(int what, uint64_t limit)
{
	return limit == INFINITE || limit < ours(what) ? limit : limit - ours(what);
}

static bool concerns_us(int what, int pid)
{
	return (!pid || pid == agent.pid) &&
	       ((what == RLIMIT_AS && agent.reserved_bytes) ||
		(what == RLIMIT_DATA && agent.tree && agent.tree->flags & PMM_TREE_DATA));
}

/* Has it been raised? That on data is from the beginning. */
static bool shifted(int what)
{
	return what == RLIMIT_DATA || agent.limit_shifted;
}

static struct limit raised_limit(int what, const struct limit *in)
{
	return (struct limit){ raised(what, in->now), raised(what, in->most) };
}

/* Set what the program wants with our room beside it, if that may be; errno stays. */
static bool set_raised(int what, const struct limit *in, struct limit *was)
{
	struct limit changed = raised_limit(what, in);

	if (sys_failed(sys4(prlimit, 0, what, &changed, was)))
		return false;
	if (what == RLIMIT_AS) {
		agent.limit_shifted = true;
		agent.limit_most_raised |= in->most != INFINITE;
		limit_note();
	}
	return true;
}

static void lower_limit(int what, struct limit *out)
{
	out->now = lowered(what, out->now);
	out->most = lowered(what, out->most);
}

/* Where our room cannot be beside it, it is the program's: unless that has been shifted before. */
#define SET_FORM(NAME)									\
EXPORT int NAME(int what, const struct limit *in)					\
{											\
	struct limit changed;								\
											\
	if (!agent.next.malloc && !resolve())						\
		return -1;								\
	if (in && concerns_us(what, 0)) {						\
		if (set_raised(what, in, NULL))						\
			return 0;							\
		if (shifted(what)) {							\
			changed = raised_limit(what, in);				\
			in = &changed;							\
		}									\
	}										\
	return agent.next.setrlimit(what, in);						\
}

#define GET_FORM(NAME)									\
EXPORT int NAME(int what, struct limit *out)						\
{											\
	int ret;									\
											\
	if (!agent.next.malloc && !resolve())						\
		return -1;								\
	ret = agent.next.getrlimit(what, out);						\
	if (!ret && concerns_us(what, 0) && shifted(what))				\
		lower_limit(what, out);							\
	return ret;									\
}

#define BOTH_FORM(NAME)									\
EXPORT int NAME(int pid, int what, const struct limit *in, struct limit *out)		\
{											\
	bool ours = concerns_us(what, pid), was = shifted(what);			\
	struct limit changed;								\
	int ret = 0;									\
											\
	if (!agent.next.malloc && !resolve())						\
		return -1;								\
	if (!in || !ours || !set_raised(what, in, out)) {				\
		if (in && ours && was) {						\
			changed = raised_limit(what, in);				\
			in = &changed;							\
		}									\
		ret = agent.next.prlimit(pid, what, in, out);				\
	}										\
	if (!ret && out && ours && was)							\
		lower_limit(what, out);							\
	return ret;									\
}

/* On x86-64 and every other 64-bit machine the names with and without 64 are the same function. */
SET_FORM(setrlimit)
SET_FORM(setrlimit64)
GET_FORM(getrlimit)
GET_FORM(getrlimit64)
BOTH_FORM(prlimit)
BOTH_FORM(prlimit64)
