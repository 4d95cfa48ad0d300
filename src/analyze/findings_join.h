/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heap errors of several runs of one program, brought together: each once, with the runs that met
 * it.
 *
 * Addresses differ from run to run. Two errors are the same when kind, access and stacks agree,
 * frame by frame as places in files.
 */
#ifndef ANALYZE_FINDINGS_JOIN_H
#define ANALYZE_FINDINGS_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/vec.h"
#include "src/model/heap.h"

/* Where an error was met, and whose words describe it. */
struct finding_origin {
	uint32_t runs;			/* a bit for each run */
	unsigned run;			/* the one that describes it */
	uint32_t pid;			/* of the process there */
	bool program;			/* that is the program itself, not another process */
	char comm[17];
	struct heap_death death;	/* of that process, where the error is about it */
};

struct findings_join {
	struct heap *to;		/* borrowed */
	VEC(struct finding_origin) of;	/* by index of to->findings */
	/* where the next module goes whose own addresses are taken */
	uint64_t room;
};

/*
 * What was found by run 0 in the program: `to` gets all that follows. 0 or -ENOMEM.
 * findings_join_fini() in any case.
 */
int findings_join_init(struct findings_join *j, struct heap *to);
void findings_join_fini(struct findings_join *j);

/*
 * What a run found in one process. `counts`: NULL, or whether an error counts that no other run has
 * met; those that do not are left out, and *left_out is raised by their number. 0 or -ENOMEM.
 */
int findings_join_add(struct findings_join *j, const struct heap *from, unsigned run, bool program,
		      bool (*counts)(const struct heap_finding *f), uint64_t *left_out);

/*
 * Error `i` is reported next: the heap's death becomes the one that it is about. `join`: a struct
 * findings_join.
 */
void findings_join_turn(void *join, uint64_t i);

/*
 * When all have been added: damage that some runs noticed late goes to the access that another run,
 * which did not notice it late, met in the act: same block, by size and stack, and same kind of
 * error.
 */
void findings_join_fold(struct findings_join *j);

#endif
