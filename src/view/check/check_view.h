/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heap errors as a document: one entry each with its three places, and what was looked at how.
 */
#ifndef VIEW_CHECK_CHECK_VIEW_H
#define VIEW_CHECK_CHECK_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "src/analyze/findings_join.h"
#include "src/names/names.h"
#include "src/base/str.h"
#include "src/document/doc.h"

#define CHECK_SCHEMA "pmm-check/1.1"

/* One of several runs of a program, whose errors are joined. */
struct check_run {
	const char *name;		/* "right" */
	const struct heap *heap;	/* of the program; NULL = it could not be read */
	int ended;			/* as wait() has it; -1 = the program did not run */
	bool exact;			/* blocks may lack the alignment that code needs */
	bool cut;			/* we ended it, as it took much longer than the others */
	uint64_t findings, left_out;	/* met; of which so many do not count */
	uint64_t others;		/* processes besides that were checked */
};

struct check_runs {
	const struct check_run *run;
	unsigned nr;
	const struct finding_origin *of;	/* by index of the finding */
};
struct coverage;
struct findings_tree;

struct check_view_options {
	uint64_t top;			/* entries; 0 = all */
	uint64_t depth;			/* callers shown; 0 = all */
	bool bytes;			/* contents of memory are shown */
	uint64_t from;			/* findings before this index are reported already */
	bool no_head;			/* only the entries, as reported while the program runs */
	/* JSON: other processes that were checked, with errors or without */
	uint64_t others;
	const struct check_runs *runs;	/* NULL = one run */
	const bool *skip;		/* by index - from: not to be listed; NULL = none */
	/* the heap's findings are of these processes; NULL = of one */
	const struct findings_tree *tree;
	struct coverage *coverage;	/* ... with which the report is brief; NULL = not known */
	bool brief;			/* with a head: a single line when there are no findings */
	/*
	 * Was this damage reported before, by a canary scan, so that only its release is news?
	 * NULL = no.
	 */
	bool (*again)(const void *ctx, const struct heap_finding *f);
	const void *again_ctx;
	/*
	 * Called before an entry is written: makes the heap's death the one that finding `i` is
	 * about. NULL = it is already.
	 */
	void (*turn)(void *ctx, uint64_t i);
	void *turn_ctx;
	/* How many bytes an instruction accesses, 0 = not known; NULL = not known. */
	unsigned (*access_bytes)(const uint8_t *code, unsigned bytes);
	/*
	 * Which address that there is none of does it access, with these registers (struct
	 * heap_death)? NULL = not known.
	 */
	bool (*odd_address)(const uint8_t *code, unsigned bytes, const uint64_t regs[HEAP_NR_REGS],
			    uint64_t *address, bool *writes);
};

struct check_view {
	const struct heap *heap;
	struct names *names;
	struct check_view_options opt;
	VEC(uint64_t) shown;		/* indices of findings that are listed */
	struct table *entries;		/* of the document: a group for each of these */
	struct doc doc;
};

/*
 * Build the document in v->doc; all that is pointed to must outlive it. check_view_fini() in any
 * case. 0 or -ENOMEM.
 */
int check_view_init(struct check_view *v, const struct heap *h, struct names *n,
		    const struct check_view_options *o);
void check_view_fini(struct check_view *v);

/*
 * Append what a finding is in one line: "write of 4 bytes, 12 bytes behind the end of a block of 40
 * bytes", "free of a block of 24 bytes that was freed already".
 */
void check_headline(struct str *s, const struct heap *h, const struct heap_finding *f,
		    unsigned access_bytes);

/* The same for the release of a block whose damage a canary scan has reported. */
void check_headline_again(struct str *s, const struct heap_finding *f);

/* enum pmm_finding_type: "use-after-free", "use after free". */
const char *check_type_name(unsigned type);
const char *check_type_title(unsigned type);

#endif
