/*
 * Limits on address space, as the program sees them.
 *
 * The ledger's mapping, and a pool of guarded blocks, are large and mostly empty, but RLIMIT_AS counts them. So that a limit means to
 * the program what it means without pmm, what the program sets is raised by their size, and what it reads is lowered again.
 */
#include "agent/preload/preload.h"
#include "agent/segment.h"

#define RLIMIT_AS	9
#define INFINITE	UINT64_MAX

static uint64_t raised(uint64_t limit)
{
	uint64_t ours = A.reserved_bytes + A.pool_bytes;

	return limit > INFINITE - ours ? INFINITE : limit + ours;
}

static uint64_t lowered(uint64_t limit)
{
	uint64_t ours = A.reserved_bytes + A.pool_bytes;

	return limit == INFINITE || limit < ours ? limit : limit - ours;
}

static bool concerns_us(int what, int pid)
{
	return what == RLIMIT_AS && A.reserved_bytes && (!pid || pid == A.pid);
}

static struct limit raised_limit(const struct limit *in)
{
	A.limit_shifted = true;
	segment_note_limit();
	return (struct limit){ raised(in->now), raised(in->most) };
}

static void lower_limit(struct limit *out)
{
	if (!A.limit_shifted)
		return;
	out->now = lowered(out->now);
	out->most = lowered(out->most);
}

#define SET_FORM(NAME)									\
EXPORT int NAME(int what, const struct limit *in)					\
{											\
	struct limit changed;								\
											\
	if (!A.next.malloc && !resolve())						\
		return -1;								\
	if (in && concerns_us(what, 0)) {						\
		changed = raised_limit(in);						\
		in = &changed;								\
	}										\
	return A.next.setrlimit(what, in);						\
}

#define GET_FORM(NAME)									\
EXPORT int NAME(int what, struct limit *out)						\
{											\
	int ret;									\
											\
	if (!A.next.malloc && !resolve())						\
		return -1;								\
	ret = A.next.getrlimit(what, out);						\
	if (!ret && concerns_us(what, 0))						\
		lower_limit(out);							\
	return ret;									\
}

#define BOTH_FORM(NAME)									\
EXPORT int NAME(int pid, int what, const struct limit *in, struct limit *out)		\
{											\
	bool ours = concerns_us(what, pid), was = A.limit_shifted;			\
	struct limit changed;								\
	int ret;									\
											\
	if (!A.next.malloc && !resolve())						\
		return -1;								\
	if (in && ours) {								\
		changed = raised_limit(in);						\
		in = &changed;								\
	}										\
	ret = A.next.prlimit(pid, what, in, out);					\
	if (!ret && out && ours && was)							\
		lower_limit(out);							\
	return ret;									\
}

/* On x86-64 and every other 64-bit machine the names with and without 64 are the same function. */
SET_FORM(setrlimit)
SET_FORM(setrlimit64)
GET_FORM(getrlimit)
GET_FORM(getrlimit64)
BOTH_FORM(prlimit)
BOTH_FORM(prlimit64)
