/*
 * The few lines that `pmm run` leaves on stderr when the program has ended.
 */
#ifndef CMD_SUMMARY_H
#define CMD_SUMMARY_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/base/vec.h"
#include "src/model/heap.h"

struct summary {
	const struct heap *heap; /* of the program itself; NULL = the agent never started in it */
	char *const *argv;	 /* the command */
	int status;		 /* wait status */
	uint64_t run_ns;
	VEC(char *) captures;	  /* names written; the program's own is root_capture as well */
	const char *root_capture; /* NULL = none */
	unsigned nr_replaced, nr_lost; /* images replaced by exec; processes without a slot */
	unsigned nr_living;	       /* processes that go on, watched in the background ... */
	pid_t living;		       /* ... the first one */
	bool told;   /* what was not recorded of the program is told elsewhere */
	bool shrunk; /* a resource limit left less room for the ledger than asked for */
};

/* Print it. `brief`: only what the user must know even with --quiet. */
void summary_print(const struct summary *s, bool brief);

#endif
