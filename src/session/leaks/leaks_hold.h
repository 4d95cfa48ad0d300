/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `pmm leaks --holds`: who holds the blocks of a call site, or the block at an address.
 */
#ifndef SESSION_LEAKS_LEAKS_HOLD_H
#define SESSION_LEAKS_LEAKS_HOLD_H

#include <stdio.h>
#include <sys/types.h>

#include "src/analyze/reach/reach.h"
#include "src/base/err.h"
#include "src/roots/roots.h"
#include "src/view/hold_view.h"

struct leaks_job;

/* What is asked, and the answers: one for each process searched that has such blocks. */
struct leaks_hold {
	const struct leaks_job *job;
	/* "0x7f...", "FUNCTION", "FILE:LINE", "FILE", or a site's number */
	const char *what;
	FILE *out;
	/* running process, for names in its file system tree; 0 = none */
	pid_t pid;
	VEC(char *) texts;
	bool lost;			/* some of the blocks asked for are */
	struct err error;		/* why the last process that gave no answer gave none */
	int code;			/* 0 = there was none such */
};

/*
 * Look while the scene is there; `r`: its classes, NULL = not known yet. The answer has no heap
 * yet. 0 or -errno with `e`: -ENOENT there are no such blocks. hold_answer_fini() in any case.
 */
int leaks_hold_look(struct leaks_hold *k, struct roots *s, const struct reach *r,
		    struct hold_answer *a, struct err *e);

/* Put an answer into words, with its heap. 0 or -errno with `e`. */
int leaks_hold_write(struct leaks_hold *k, const struct hold_answer *a, struct err *e);

/*
 * For leaks_search(): all that for a process at its end; failures are reported when all have ended.
 */
void leaks_hold_at_end(void *k, struct roots *s, const struct reach *r);

/*
 * Print the answers. 1 = some of the blocks asked for are lost, 0 = not, -errno with `e`; -ENOENT:
 * nobody has such blocks.
 */
int leaks_hold_tell(struct leaks_hold *k, struct err *e);

/* A running process; a core file with its capture. As leaks_hold_tell(). */
int leaks_hold_live(struct leaks_hold *k, pid_t pid, struct err *e);
int leaks_hold_core(struct leaks_hold *k, const char *core, const char *capture, struct err *e);

void leaks_hold_fini(struct leaks_hold *k);

#endif
