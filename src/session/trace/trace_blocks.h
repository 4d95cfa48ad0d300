/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page faults of a trace joined with heaps that pmm records already: a process under `pmm run` or
 * `pmm attach`, this one's or another's, has a ledger, which says whose block an address is in.
 *
 * A process is asked for its ledger at its first fault, and twice more later. What is found belongs
 * to one result: sums begin anew after trace_blocks_result().
 */
#ifndef SESSION_TRACE_TRACE_BLOCKS_H
#define SESSION_TRACE_TRACE_BLOCKS_H

#include "src/base/hash.h"
#include "src/base/vec.h"
#include "src/kernel/kernel_source.h"
#include "src/kernel/modules.h"
#include "src/kernel/stack_table.h"

struct trace_block_result;
struct tracked_process;

/* All zero is empty. */
struct trace_blocks {
	VEC(struct tracked_process *) processes;
	struct hash_map at;		/* pid -> index in `processes` */
	VEC(struct trace_block_result) results;
};

/*
 * A record with the number of its stack (0: none); `by_agent`: pmm's agent has caused it. What is
 * no page fault is left alone.
 */
void trace_blocks_add(struct trace_blocks *b, const struct trace_record *r, uint32_t stack,
		      bool by_agent);

/*
 * Read the ledgers: b->results has those of processes with faults in the time, valid until the next
 * call. 0 or -ENOMEM.
 */
int trace_blocks_result(struct trace_blocks *b, const struct stack_table *stacks,
			const struct modules *modules);

void trace_blocks_fini(struct trace_blocks *b);

#endif
