/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs of a tree that pmm does not see into. */
#include "src/session/untracked.h"

#include "include/pmm/ledger.h"
#include "src/track/launch.h"
#include "src/proc/proc.h"

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
		coverage_miss_many(c, u->name[0] ? u->name : "[unknown]", census_why(u->why), true,
				   u->nr, (uint32_t)u->pid);
	if (census->nr_more)
		coverage_miss_many(c, "", "", true, census->nr_more, 0);
}

void untracked_rest(struct coverage *c, const struct launch_totals *t)
{
	uint64_t idle = t->nr_without_events - coverage_missed(c, true);

	add_census(c, t->census);
	c->processes += idle;
	c->covered += idle;
	c->idle += idle;
	c->replaced += t->nr_replaced;
}

void untracked_others(struct coverage *c, unsigned nr_lost, unsigned nr_living, pid_t living)
{
	char comm[PROC_COMM_BYTES] = "";

	if (nr_lost)
		coverage_miss_many(c, "[unknown]",
				   "no memory, address space or descriptors for a ledger", true,
				   nr_lost, 0);
	if (nr_living) {
		proc_comm(living, comm);
		coverage_miss_many(c, comm[0] ? comm : "[unknown]", "still running", false,
				   nr_living, (uint32_t)living);
	}
}
