/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verdict on leaks as a document, and as Valgrind's XML.
 */
#ifndef VIEW_LEAKS_VIEW_H
#define VIEW_LEAKS_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "src/analyze/coverage.h"
#include "src/analyze/leaks.h"
#include "src/names/names.h"
#include "src/base/str.h"
#include "src/document/doc.h"

#define LEAKS_SCHEMA "pmm-leaks/1.2"

enum leaks_show {
	LEAKS_SHOW_REACHABLE	= 1 << REACH_REACHED,
	LEAKS_SHOW_POSSIBLE	= 1 << REACH_POSSIBLE,
	LEAKS_SHOW_INDIRECT	= 1 << REACH_INDIRECT,
	LEAKS_SHOW_DEFINITE	= 1 << REACH_DEFINITE,
	LEAKS_SHOW_LIKELY	= 1 << 4,	/* of whatever class */
	LEAKS_SHOW_SUPPRESSED	= 1 << 5,	/* entries that are suppressed, of whatever class */
	LEAKS_SHOW_GROWING	= 1 << 6,	/* likewise */
	LEAKS_SHOW_DEFAULT	= LEAKS_SHOW_DEFINITE | LEAKS_SHOW_LIKELY | LEAKS_SHOW_GROWING,
	LEAKS_SHOW_ALL		= 127,
};

struct leaks_tree;

struct leaks_view_options {
	unsigned show;			/* enum leaks_show */
	uint64_t top;			/* entries of each verdict; 0 = all */
	uint64_t depth;			/* callers shown; 0 = all */
	/* read during the pause, as a copy does not have them as of that moment */
	uint64_t held_bytes;
	/* JSON: what `show` leaves out has a list of its own, `top` of them */
	bool others;
	uint64_t nr_not_new;		/* entries that a repeat leaves out as no news */
	bool late;			/* some such memory was read later */
	/* possibly lost for their only pointers are behind the asked-for bytes of blocks */
	uint64_t slack_blocks;
	/* append what the root is called; NULL = not known */
	void (*root)(void *arg, const struct leak_entry *e, struct str *s);
	void *root_arg;
	/* why no copy could be made; NULL = one was, or it is not known */
	const char *why_stopped;
	const struct leaks_tree *tree;	/* the leaks are of these processes; NULL = of one */
	/* text: it was said already which programs were not tracked */
	bool untracked_reported;
	/* of a tree of processes, also of one that is a single process; NULL = not known */
	struct coverage *coverage;
};

struct leaks_view {
	const struct heap *heap;
	struct names *names;
	const struct leaks *leaks;
	struct leaks_view_options opt;
	VEC(const struct leak_entry *) shown[LEAK_NR_VERDICTS];	/* in order */
	uint64_t nr_all[LEAK_NR_VERDICTS];	/* that would be shown without `top` */
	/* that `show` leaves out: each listed apart, or only counted */
	VEC(const struct leak_entry *) others;
	uint64_t nr_others, nr_hidden[LEAK_NR_VERDICTS];
	/* probably no leaks, not asked for; without those possibly lost */
	struct leak_sum hidden;
	struct leak_sum hidden_possible;
	struct doc doc;
};

/*
 * Build the document in v->doc; all that is pointed to must outlive it. leaks_view_fini() in any
 * case. 0 or -ENOMEM.
 */
int leaks_view_init(struct leaks_view *v, const struct heap *h, struct names *n,
		    const struct leaks *l, const struct leaks_view_options *o);
void leaks_view_fini(struct leaks_view *v);

/* Is the entry one of those asked for? */
bool leaks_view_shows(const struct leak_entry *e, unsigned show);

/*
 * Append why an entry is what it is, one line without full stop: "nothing points to these 3 blocks
 * any more; oldest 2h04m".
 */
void leaks_why(struct str *s, const struct heap *h, struct names *n, const struct leak_entry *e);

/* The class in memcheck's words: "definitely lost". */
const char *leaks_class_text(unsigned class);

/*
 * Write the entries asked for as Valgrind's memcheck would with --xml=yes (protocol 4), and the
 * uses of suppressions (NULL = none). 0 or -errno.
 */
int leaks_print_xml(const struct heap *h, struct names *n, const struct leaks *l,
		    const struct leaks_view_options *o, const struct suppress *suppress, FILE *out);

#endif
