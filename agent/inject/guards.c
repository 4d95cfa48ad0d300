/* SPDX-License-Identifier: MIT */
/*
 * Guarded blocks in a process that runs already.
 */
#include "agent/inject/guards.h"

#include "agent/guard/area.h"
#include "agent/guard/budget.h"
#include "agent/guard/finding.h"
#include "agent/guard/guarded.h"
#include "agent/inject/guards_fault.h"

#define MOST_BYTES	(64u << 10)	/* memory that is released when we sleep stays with us */

void guards_start(struct pmm_inject_args *args)
{
	const struct pmm_check *o = &agent.tree->check;

	if (o->level != PMM_CHECK_SAMPLED || !agent.sampled)
		return;
	budget_start(o->budget_permille);
	if (!guard_start(o))
		return;
	guard_protects();
	finding_start(PMM_ON_ERROR_CONTINUE);
	agent.guards_at = areas.start;
	agent.guards_bytes = areas.end - areas.start;
	args->guards[0].start = areas.start;
	args->guards[0].bytes = agent.guards_bytes;
	args->guards[1].start = (uint64_t)areas.record;
	args->guards[1].bytes = areas.record_bytes;
	args->guards[2].start = (uint64_t)areas.lists;
	args->guards[2].bytes = areas.lists_bytes;
	args->rest_at = (uint64_t)guards_rest;
}

void *guards_sample(struct tctx *c, size_t size, size_t align, uint32_t kind,
		    const struct caller *from)
{
	uint64_t *why;
	uint32_t run;

	if (!c->sampling) {
		c->sampling = true;
		*c->countdown = sample_next(c);
	}
	if (size < *c->countdown || size > MOST_BYTES || size < agent.min_size || !guards_ready())
		return NULL;
	run = guarded_alloc(c, size, align, kind, unwind_site(c, from, 0), &why);
	if (run == UINT32_MAX) {
		guarded_refused(c, why);
		return NULL;
	}
	*c->countdown = sample_next(c);
	return (void *)guard_at(run)->address;
}

void guards_free(void *p, uint32_t how, const struct caller *from)
{
	struct tctx *c = inject_enter(from);
	uint32_t run = guard_block((uint64_t)p);

	if (run != UINT32_MAX && guard_release(run)) {
		if (c)
			guarded_release(c, run, how, unwind_site(c, from, 0), false);
		else
			guard_close(run);
	} else if (c) {
		guarded_stray(c, (uint64_t)p, how, unwind_site(c, from, 0));
	}
	if (c)
		agent_leave(c);
}

size_t guards_size(const void *p)
{
	uint32_t run = guard_block((uint64_t)p);

	return run == UINT32_MAX ? 0 : guard_at(run)->size_bytes;
}
