/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's modules outside a traced process.
 */
#include "tests/unit/agent_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "agent/limit.h"
#include "agent/segment.h"

static struct pmm_tree tree;
static uint8_t threaded;
static size_t mapped;

/* What each form of the agent has for itself. */
struct agent_host_form agent_host_form;

bool segment_closed(void)
{
	return false;
}

int segment_open(void)
{
	return -1;
}

int segment_file(void)
{
	agent_host_form.files++;
	return agent_host_form.file ? agent_host_form.file() : -1;
}

void segment_publish(bool new_image)
{
	agent_host_form.published++;
	agent_host_form.new_image = new_image;
}

void segment_lost(void)
{
	agent_host_form.lost++;
}

uint32_t limit_inherited(void)
{
	return agent_host_form.inherited;
}

uint64_t *ctx_countdown(struct tctx *c)
{
	return &c->bytes_left;
}

void agent_host_init_at(void *base, size_t bytes)
{
	agent = (struct agent){ 0 };
	agent_host_form = (struct agent_host_form){ 0 };
	agent.tree = &tree;
	agent.single_threaded = &threaded;
	agent.max_frames = 16;
	agent.generation = 1;
	agent.base = base;
	agent.ledger = (struct pmm_ledger *)agent.base;
	agent.ledger->arena_off = agent.ledger->arena_used = agent.ledger->arena_ready =
		PMM_ARENA_OFF;
	agent.ledger->arena_end = bytes;
	agent.ledger->nr_nodes = agent.ledger->nr_sites = agent.ledger->nr_modules =
		agent.ledger->nr_stamps = 1;
	block_init();
}

void agent_host_init(size_t arena_bytes)
{
	void *base;

	mapped = PMM_ARENA_OFF + arena_bytes;
	base = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	agent_host_init_at(base, mapped);
}

void agent_host_fini(void)
{
	munmap(agent.base, mapped);
}

struct tctx *agent_host_ctx(void)
{
	struct tctx *c = arena_get(sizeof(*c), 64);
	uint32_t nr = ADD(agent.ledger->nr_ctx, 1);

	STORE_RELEASE(agent.ledger->ctx[nr], arena_ref(c));
	return c;
}

static int64_t records_sum(int64_t (*value)(const struct pmm_record *))
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < agent.ledger->nr_ctx; i++) {
		const struct pmm_ctx *c = arena_at(agent.ledger->ctx[i]);

		for (pmm_ref r = c->records; r; r = ((struct pmm_record *)arena_at(r))->next)
			sum += value(arena_at(r));
	}
	return sum;
}

static int64_t record_live(const struct pmm_record *r)
{
	return (int64_t)(r->bytes_in - r->bytes_out);
}

/*
 * As the ledger's contract says: the saved value when the record changed after the peak was sealed.
 */
static int64_t record_at_peak(const struct pmm_record *r)
{
	bool rising = agent.ledger->total >> 20 & 1;

	return !rising && r->epoch > agent.ledger->peak_epoch ? r->at_peak_bytes : record_live(r);
}

int64_t agent_host_live(void)
{
	return records_sum(record_live);
}

int64_t agent_host_at_peak(void)
{
	return records_sum(record_at_peak);
}

uint64_t agent_host_total(void)
{
	uint64_t total = agent.ledger->total >> 21;

	for (uint32_t i = 0; i < agent.ledger->nr_ctx; i++) {
		uint64_t credit = ((struct pmm_ctx *)arena_at(agent.ledger->ctx[i]))->credit;

		if (credit >> 63)
			total -= credit & ~(1ull << 63);
	}
	return total;
}

uint64_t agent_host_canaried(void)
{
	uint64_t nr = 0;

	for (uint32_t i = 0; i < agent.ledger->nr_ctx; i++)
		nr += ((struct pmm_ctx *)arena_at(agent.ledger->ctx[i]))->canaried;
	return nr;
}
