/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A context whose records are looked at. */
#include "tests/unit/record_host.h"

#include "agent/unwind/rule.h"
#include "agent/unwind/unwind.h"

struct tctx *c;
struct block_info was;

struct pmm_tree *tree(void)
{
	return (struct pmm_tree *)agent.tree;
}

int begin_with(size_t arena_bytes)
{
	agent_host_init(arena_bytes);
	agent.rules = calloc(1, sizeof(*agent.rules));
	*tree() = (struct pmm_tree){ .tick = 1000, .sample_bytes = 512 << 10 };
	memset(sample_pages, 0, sizeof(sample_pages));
	c = agent_host_ctx();
	unwind_init(c, arena_get(unwind_bytes(), 64));
	c->pub.thread = 3;
	return !agent.rules;
}

int begin(void **state)
{
	(void)state;
	return begin_with(32 << 20);
}

int end(void **state)
{
	(void)state;
	free(agent.rules);
	agent_host_fini();
	return 0;
}

struct pmm_record *record(uint32_t site)
{
	pmm_ref ref = c->pub.records;

	while (ref && ((struct pmm_record *)arena_at(ref))->site != site)
		ref = ((struct pmm_record *)arena_at(ref))->next;
	return ref ? arena_at(ref) : NULL;
}

uint64_t released_after(uint32_t site, unsigned bucket)
{
	struct pmm_lifetimes *l = record(site)->lifetimes ? arena_at(record(site)->lifetimes)
							  : NULL;

	return bucket ? l ? l->frees[bucket] : 0 : pmm_released_at_once(record(site), l);
}

uint64_t all_released(uint32_t site)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < PMM_NR_LIFETIMES; i++)
		sum += released_after(site, i);
	return sum;
}

void usual_alloc(uint64_t address, uint64_t size, uint32_t site)
{
	struct block_new b = { .size = size, .site = site, .kind = PMM_KIND_MALLOC,
			       .tick = record_now(true), .thread = c->pub.thread,
			       .stamp = &c->stamp };

	record_enter(true, c, address, block_place(address), &b);
}

void events_were(uint64_t nr)
{
	assert_int_equal(c->pub.seq, 2 * nr);
}
