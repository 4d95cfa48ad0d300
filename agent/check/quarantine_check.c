/* SPDX-License-Identifier: MIT */
/*
 * Blocks that leave quarantine, or are in it when the process ends: was one written to after its
 * release?
 */
#include "agent/check/checker.h"

#include "agent/strings/bounds.h"
#include "agent/check/canary.h"
#include "agent/check/quarantine.h"
#include "agent/check/recycle.h"
#include "agent/check/reported.h"
#include "agent/preload/leave.h"

/* The block in quarantine, or on its way out, was written to. */
static SLOW void spoilt(struct tctx *c, const struct quarantined *q, uint64_t at)
{
	struct pmm_finding f = { .type = PMM_FINDING_AFTER_FREE,
				 .by = PMM_BY_QUARANTINE,
				 .access = PMM_ACCESS_WRITE,
				 .address = at };
	uint64_t end = q->address + q->size;
	struct check_block b;

	quarantine_describe(q, &b);
	if (reported_block(&b))
		return;
	finding_block(&f, &b);
	finding_bytes(&f, at,
		      at < q->address ? q->address
		      : at < end      ? end
				      : pmm_tail_end(q->address, q->size));
	finding_add(c, &f);
}

void quarantined_return(struct tctx *c, void *p, size_t size, size_t align)
{
	char *real = canary_real(p, align);

	quick_clear(p);
	if (align <= PMM_HEAD_BYTES &&
	    recycle_put(c, real, pmm_tail_end((uint64_t)p, size) - (uint64_t)real))
		return;
	if (size >= WAS_STACK_BYTES)
		ADD(agent.stack_gen, 1);
	STORE(c->busy, TCTX_IN_ALLOCATOR);
	agent.next.free(real);
	STORE(c->busy, TCTX_RECORDING);
}

void quarantined_leave(void *arg, const struct quarantined *q)
{
	size_t align = quarantine_align(q);
	uint64_t at;

	if (unlikely(!canary_quick_poisoned((void *)q->address, q->size, align, &at))) {
		spoilt(arg, q, at);
		if (canary_spilled((void *)q->address, q->size, align))
			return;
	}
	if (likely(!q->damaged))
		quarantined_return(arg, (void *)q->address, q->size, align);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void still_poisoned(void *arg, const struct quarantined *q)
{
	uint64_t at;

	if (!canary_quick_poisoned((void *)q->address, q->size, quarantine_align(q), &at))
		spoilt(arg, q, at);
}

/* Once, and not in a child made by vfork, which shares all this with its parent. */
static bool ends_here(void)
{
	uint32_t no = 0;

	return check_on() && LOAD(*agent.alive) &&
	       (LOAD(agent.confined) || (int)sys0(getpid) == agent.pid) &&
	       CAS(checker.finished, no, 1);
}

static void check_quarantine(struct tctx *c)
{
	quarantine_each(still_poisoned, c);
}

void check_look_back(struct tctx *c)
{
	if (ends_here())
		check_quarantine(c);
}

void check_finish(uint64_t sp)
{
	struct tctx *c = ends_here() ? agent_enter(sp) : NULL;

	if (!c)
		return;
	check_quarantine(c);
	agent_leave(c);
}

void leave_form(uint64_t sp)
{
	check_finish(sp);
}

/* Before the agent's own destructor: those with the larger number run first. */
static __attribute__((destructor(102))) void end(void)
{
	check_finish((uint64_t)__builtin_frame_address(0));
}
