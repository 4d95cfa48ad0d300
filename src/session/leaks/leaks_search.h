/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One search for leaks: what can be reached of a heap's blocks, as entries and as rows in a heap.
 * The same for a running process, for one about to end and for a core file.
 *
 * Here nothing is named, judged or printed: the program may be stopped. Afterwards leaks_report()
 * (leaks_report.h) reports it; or leaks_carry() (src/analyze/leaks.h) puts what is in the heap into
 * the one that becomes the capture.
 */
#ifndef SESSION_LEAKS_LEAKS_SEARCH_H
#define SESSION_LEAKS_LEAKS_SEARCH_H

#include "src/analyze/leaks.h"
#include "src/base/err.h"
#include "src/roots/roots.h"

struct leaks_search_options {
	struct reach_options reach;	/* want_parents is set here */
	/* HEAP_SEARCH_EXIT, _CORE; else known from the roots: copy or stopped */
	enum heap_search_how how;
	bool roots;			/* look for a root of each site too, where that is cheap */
	bool contents;			/* keep the first bytes of an example of each entry */
	const struct leaks_seen *seen;	/* the search before; NULL = none */
	/*
	 * Called once all is classified, while the memory is there: looks more closely. Its errors
	 * are its own affair. NULL = none does.
	 */
	void (*inspect)(void *arg, struct roots *s, const struct reach *r);
	void *inspect_arg;
	/*
	 * called just before the roots are released, and the process with it; NULL = not wanted
	 */
	void (*left)(void *arg);
	void *left_arg;
};

/* The defaults: all heuristics, all processors. */
#define LEAKS_SEARCH_DEFAULT	{ .reach.heuristics = REACH_ALL_HEURISTICS }
extern const struct leaks_search_options leaks_search_default;

struct leaks_found {
	/* of the roots, with rows and what is to be known of the search */
	struct heap *heap;
	struct leaks leaks;		/* not judged yet */
	struct reach reach;		/* the classes, for leaks_see() */
	struct err why_stopped;		/* "" = a copy was searched, or it is not known */
	uint64_t held_bytes;		/* see struct roots */
	bool late;
	/*
	 * possibly lost, as only what can be used behind the asked-for bytes of other blocks points
	 * to them
	 */
	uint64_t slack_blocks;
};

/*
 * Search, and release the roots in any case: the program continues as soon as its memory is not
 * needed any more. 0 or -errno with `e`; leaks_found_fini() in any case.
 */
int leaks_search(struct roots *s, const struct leaks_search_options *o, struct leaks_found *out,
		 struct err *e);
void leaks_found_fini(struct leaks_found *f);

#endif
