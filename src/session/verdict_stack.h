/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What verdicts say of a heap: whose it is, and the stacks of its sites.
 */
#ifndef SESSION_VERDICT_STACK_H
#define SESSION_VERDICT_STACK_H

#include "src/export/verdict.h"
#include "src/names/names.h"

/* Sources are below the current directory, and named from there. */
void verdict_root(struct verdicts *v);

/* verdicts_init() for a heap, with verdict_root(). */
void verdict_heap(struct verdicts *v, const char *command, const struct heap *h);

/* A stack of the verdict added last: a site's, inlined functions as frames of their own. */
void verdict_site(struct verdicts *v, const char *title, const struct heap *h, struct names *n,
		  uint32_t site);

/*
 * Append what a site is called in titles, the same in every run: "make, called by parse", of frames
 * of the program; else what there is of a name.
 */
void verdict_site_title(struct str *s, const struct heap *h, struct names *n, uint32_t site);

#endif
