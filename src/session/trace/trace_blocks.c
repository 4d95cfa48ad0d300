/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ledgers of traced processes, asked by address as records come, read whole for a result. */
#include "src/session/trace/trace_blocks.h"

#include <errno.h>
#include <stdlib.h>

#include "src/analyze/trace/kernel_join.h"
#include "src/ledger/ledger_at.h"
#include "src/ledger/ledger_heap.h"
#include "src/names/naming.h"
#include "src/session/trace/trace_about.h"
#include "src/view/trace/trace_view.h"

#define TRIES		3u
#define TRY_NS		200000000ull	/* until the second try; to the third it is 5 times */
#define MAX_PROCESSES	1024u

struct tracked_process {
	pid_t pid;
	struct ledger_map *map;		/* NULL: it is not tracked, as far as is known */
	struct ledger_at *at;
	unsigned tries;
	uint64_t next_ns;
	struct kernel_sums sums;
	struct heap *heap;		/* of the last result */
	struct naming naming;
};

static void drop_heap(struct tracked_process *p)
{
	if (p->heap)
		naming_close(&p->naming);
	heap_free(p->heap);
	p->heap = NULL;
}

static void process_free(struct tracked_process *p)
{
	drop_heap(p);
	kernel_sums_fini(&p->sums);
	ledger_at_free(p->at);
	ledger_map_close(p->map);
	free(p);
}

static struct tracked_process *process_of(struct trace_blocks *b, pid_t pid)
{
	uint32_t *at = hash_find(&b->at, (uint64_t)pid);
	struct tracked_process *p;

	if (at)
		return b->processes.v[*at];
	if (b->processes.nr == MAX_PROCESSES)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	if (!hash_put(&b->at, (uint64_t)pid, b->processes.nr) && !vec_push(&b->processes, p))
		return p;
	free(p);
	return NULL;
}

/* A process that has just begun makes its ledger soon. */
static bool is_tracked(struct tracked_process *p, uint64_t now_ns)
{
	if (p->at)
		return true;
	if (p->tries == TRIES || now_ns < p->next_ns)
		return false;
	p->next_ns = now_ns + TRY_NS * (p->tries ? 5 : 1);
	p->tries++;
	if (ledger_map_open_pid(p->pid, &p->map, NULL))
		return false;
	p->at = ledger_at_new(p->map);
	return p->at;
}

static int block_at(void *arg, pid_t pid, uint64_t address, struct ledger_at_block *out)
{
	const struct tracked_process *p = arg;

	(void)pid;
	return ledger_at_find(p->at, address, out);
}

void trace_blocks_add(struct trace_blocks *b, const struct trace_record *r, uint32_t stack,
		      bool by_agent)
{
	struct kernel_about about;
	struct tracked_process *p;

	if (!trace_is_fault(r))
		return;
	p = process_of(b, (pid_t)r->tgid);
	if (!p || !is_tracked(p, r->time_ns))
		return;
	(void)trace_about_find(&about, r, by_agent, block_at, p);	/* now or never */
	kernel_sums_add(&p->sums, r, stack, about, r->time_ns);
}

/* Its faults as a heap has them; where its ledger cannot be read, nothing. */
static int result_of(struct trace_blocks *b, struct tracked_process *p,
		     const struct stack_table *stacks, const struct modules *modules)
{
	const struct ledger_options o = { .running = true, .no_blocks = true, .pid = p->pid };
	const struct naming_options names = { .full = true, .pid = p->pid };
	int rc;

	drop_heap(p);
	if (!p->sums.rows.nr)
		return 0;
	if (ledger_map_refresh(p->map) || ledger_read(p->map, &o, &p->heap, NULL)) {
		p->heap = NULL;
		kernel_sums_fini(&p->sums);
		return 0;
	}
	naming_open(&p->naming, p->heap, &names);
	p->heap->kernel.traced = true;
	rc = kernel_join(p->heap, &p->sums, stacks, modules);
	if (!rc)
		rc = vec_push(&b->results,
			      (struct trace_block_result){ p->pid, p->heap, &p->naming.names });
	return rc;
}

int trace_blocks_result(struct trace_blocks *b, const struct stack_table *stacks,
			const struct modules *modules)
{
	int rc = 0;

	b->results.nr = 0;
	vec_each(&b->processes, p)
		if (!rc && (*p)->at)
			rc = result_of(b, *p, stacks, modules);
	return rc;
}

void trace_blocks_fini(struct trace_blocks *b)
{
	vec_each(&b->processes, p)
		process_free(*p);
	vec_fini(&b->processes);
	vec_fini(&b->results);
	hash_fini(&b->at);
}
