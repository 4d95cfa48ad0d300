/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `pmm leaks --holds`: who holds the blocks of a call site, or the block at an address.
 */
#ifndef SESSION_LEAKS_LEAKS_HOLD_H
#define SESSION_LEAKS_LEAKS_HOLD_H

#include <sys/types.h>

#include "src/analyze/reach/reach.h"
#include "src/base/cancel.h"
#include "src/base/err.h"
#include "src/roots/roots.h"
#include "src/view/hold_view.h"

struct leaks_job;
struct session_sink;

/* What is asked; each process searched that has such blocks gives a document. */
struct leaks_hold {
	const struct leaks_job *job;
	/* "0x7f...", "FUNCTION", "FILE:LINE", "FILE", or a site's number */
	const char *what;
	const struct session_sink *to;
	/* running process, for names in its file system tree; 0 = none */
	pid_t pid;
	uint64_t nr_answers;
	bool lost;			/* some of the blocks asked for are */
	struct err error;		/* why the last process that gave no answer gave none */
	int code;			/* 0 = there was none such */
};

/*
 * Look while the roots are there; `r`: its classes, NULL = not known yet. The answer has no heap
 * yet. 0 or -errno with `e`: -ENOENT there are no such blocks. hold_answer_fini() in any case.
 */
int leaks_hold_look(struct leaks_hold *k, struct roots *s, const struct reach *r,
		    struct hold_answer *a, struct err *e);

/* Hand over an answer, with its heap. 0 or -errno with `e`. */
int leaks_hold_give(struct leaks_hold *k, const struct hold_answer *a, struct err *e);

/*
 * For leaks_search(): all that for a process at its end; failures are reported when all have ended.
 * The process waits while its answer is handed over: that must not block.
 */
void leaks_hold_at_end(void *k, struct roots *s, const struct reach *r);

/*
 * When all have been looked at. 1 = some of the blocks asked for are lost, 0 = not, -errno with
 * `e`; -ENOENT: no process has such blocks.
 */
int leaks_hold_end(const struct leaks_hold *k, struct err *e);

/*
 * A running process, held until session_ops.released; a core file with its capture. As
 * leaks_hold_end().
 */
int leaks_hold_live(struct leaks_hold *k, pid_t pid, struct stop stop, struct err *e);
int leaks_hold_core(struct leaks_hold *k, const char *core, const char *capture, struct err *e);

#endif
