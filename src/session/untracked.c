/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs of a tree that pmm does not see into. */
#include "src/session/untracked.h"

#include "include/pmm/ledger.h"
#include "src/track/launch.h"
#include "src/proc/proc.h"

#define STILL_RUNNING "still running"

const char *untracked_why(const struct heap *h)
{
	if (h->allocs)
		return NULL;
	switch (h->off_reason) {
	case PMM_OFF_OWN_ALLOCATOR:
		return "its own malloc";
	case PMM_OFF_NO_ALLOCATOR:
		return "without an allocator that is known";
	case PMM_OFF_NO_MEMORY:
		return "no memory for a ledger";
	default:
		return NULL;
	}
}

const char *untracked_name(const struct heap *h)
{
	return h->comm[0] ? h->comm : "[unknown]";
}

static void add_census(struct coverage *c, struct census *census)
{
	census_close(census);
	vec_each(&census->untracked, u)
		coverage_miss_many(c, u->name[0] ? u->name : "[unknown]", census_why(u->why),
				   census_can_be_attached(u->why) ? COVERAGE_ATTACHABLE
								  : COVERAGE_UNTRACKED,
				   u->nr, (uint32_t)u->pid);
	if (census->nr_more)
		coverage_miss_many(c, "", "", COVERAGE_UNTRACKED, census->nr_more, 0);
}

void untracked_rest(struct coverage *c, const struct launch_totals *t, uint64_t nr_missed)
{
	uint64_t idle = t->nr_without_events - coverage_missed(c, true) - nr_missed;

	add_census(c, t->census);
	c->processes += idle;
	c->covered += idle;
	c->idle += idle;
	c->replaced += t->nr_replaced;
}

static void add_living(struct coverage *c, pid_t pid)
{
	char comm[PROC_COMM_BYTES] = "";

	proc_comm(pid, comm);
	coverage_miss(c, comm[0] ? comm : "[unknown]", STILL_RUNNING, COVERAGE_MISSED,
		      (uint32_t)pid);
}

void untracked_living(struct coverage *c, const struct launch *l, unsigned nr, pid_t one)
{
	unsigned named = 0;
	pid_t pid;

	for (size_t at = 0; named < nr && (pid = launch_living(l, &at)); named++)
		add_living(c, pid);
	if (!named && nr) {
		add_living(c, one);
		named++;
	}
	if (named < nr)
		coverage_miss_many(c, "[unknown]", STILL_RUNNING, COVERAGE_MISSED, nr - named, 0);
}

void untracked_lost(struct coverage *c, unsigned nr)
{
	if (nr)
		coverage_miss_many(c, "[unknown]",
				   "no memory, address space or descriptors for a ledger",
				   COVERAGE_UNTRACKED, nr, 0);
}

bool untracked_can_be_attached(const struct coverage *c)
{
	vec_each(&c->gaps, g)
		if (g->kind == COVERAGE_ATTACHABLE)
			return true;
	return false;
}
