/* SPDX-License-Identifier: MIT */
/*
 * Pages of the pool that stay open for a while. No locks: an entry belongs to the thread that
 * changes its `page` from 0 to TAKEN, until it stores the page (release; left_open_close() loads it
 * with acquire, and so sees `until`), and to the thread that changes it back to 0.
 */
#include "agent/check/left_open.h"

#include "agent/agent_arena.h"
#include "agent/guard/guard.h"

/* accesses of a finding that are stopped one by one: some 20 ms of processor time */
#define MAX_STOPS	1000u
/* some 10 ms, so that a page costs at most a hundred stops a second */
#define OPEN_CYCLES	30000000u
#define PAGES		256u
#define TAKEN		1u

static struct {
	uint64_t page;			/* 0 = free */
	uint64_t until;
} pages[PAGES];

uint32_t left_open_nr;

bool left_open_wanted(uint32_t finding)
{
	struct pmm_finding *f;

	if (finding == UINT32_MAX)
		return LOAD(agent.ledger->check.findings_lost) > MAX_STOPS;
	f = arena_chunk(agent.ledger->finding_dir, finding, PMM_FINDING_SHIFT, sizeof(*f));
	return f && LOAD(f->count) > MAX_STOPS;
}

bool left_open_add(uint64_t page)
{
	for (uint32_t i = 0; i < PAGES; i++) {
		uint64_t none = 0;

		if (LOAD(pages[i].page) || !CAS(pages[i].page, none, TAKEN))
			continue;
		ADD(left_open_nr, 1);
		ADD(agent.ledger->check.left_open, 1);
		STORE(pages[i].until, arch_cycles() + OPEN_CYCLES);
		STORE_RELEASE(pages[i].page, page);
		return true;
	}
	return false;
}

void left_open_close(void)
{
	uint64_t now = arch_cycles();

	for (uint32_t i = 0; i < PAGES; i++) {
		uint64_t page = LOAD_ACQUIRE(pages[i].page);

		if (page <= TAKEN || now < LOAD(pages[i].until) || !CAS(pages[i].page, page, 0))
			continue;
		guard_page_close(page);
		ADD(left_open_nr, -1u);
	}
}
