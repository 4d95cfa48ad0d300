/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Suppressions: blocks that the user does not want reported, by the stacks that allocated them.
 *
 * Read are Valgrind's form (its entries for leaks; others are skipped) and LeakSanitizer's,
 * distinguished by content. A stack begins, as there, with the allocator's function: malloc,
 * _Znwm ...
 * `fun:` is compared with names as the object file has them (C++: mangled), like memcheck does,
 * LeakSanitizer's patterns with readable names, files and modules. doc/leaks.md has both grammars.
 *
 *     s = suppress_new();
 *     suppress_parse(s, "my.supp", text, bytes, e);
 *                           any number of them; the first in order of reading that matches counts
 *     suppress_add_default(s, e);
 *     suppress_begin(s, names);  for each search
 *     name = suppress_match(s, site, class, blocks, bytes);
 *
 * All patterns together are one automaton, made as stacks ask for it (suppress_match.c): a stack
 * costs a look-up for each frame that no other stack had, however many suppressions there are.
 */
#ifndef ANALYZE_SUPPRESS_SUPPRESS_H
#define ANALYZE_SUPPRESS_SUPPRESS_H

#include <stdint.h>

#include "src/names/names.h"
#include "src/analyze/reach/reach.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/base/vec.h"

struct suppress;

/* One suppression, and what it has suppressed since it was read. */
struct suppress_use {
	const char *name;	/* Valgrind's: its name; LeakSanitizer's: the pattern */
	const char *file;	/* that it was read from */
	uint32_t line;		/* where it begins */
	uint64_t sites, blocks, bytes;
};

/* No suppressions yet. NULL when out of memory. */
struct suppress *suppress_new(void);

/* NULL is fine. Names that suppress_match() gave end with it. */
void suppress_free(struct suppress *s);

/*
 * Add what `text` (the contents of `file`, a name for messages) says, wholly or not at all. 0;
 * -EINVAL with what is wrong, file and line in `e`; -ENOMEM. Not between suppress_begin() and
 * suppress_match().
 */
int suppress_parse(struct suppress *s, const char *file, const char *text, size_t bytes,
		   struct err *e);

/*
 * Add the set that pmm brings along (suppressions.supp), of which entries with names that end in ",
 * at exit" speak only of what was found at a program's end. 0 or -ENOMEM.
 */
int suppress_add_default(struct suppress *s, struct err *e);

/*
 * From now on sites are those of this heap (names->heap). Both must outlive the calls of
 * suppress_match(). 0 or -ENOMEM.
 */
int suppress_begin(struct suppress *s, struct names *names);

/*
 * The name of the first suppression for blocks of this class (enum reach_class) from a site; NULL =
 * none. Counts the use. For the last suppress_begin(); without one nothing matches. When memory is
 * out nothing matches.
 */
const char *suppress_match(struct suppress *s, uint32_t site, unsigned class, uint64_t blocks,
			   uint64_t bytes);

/* How many there are; the i-th in order of reading. */
size_t suppress_nr(const struct suppress *s);
struct suppress_use suppress_find_use(const struct suppress *s, size_t i);

enum suppress_form { SUPPRESS_VALGRIND, SUPPRESS_LSAN };

/* By site the enum pmm_kind of its blocks, 0 where it has none; free(). NULL when out of memory. */
uint8_t *suppress_kinds(const struct heap *h);

/*
 * The frames that stand for the allocator's function, of which stacks have none, innermost first:
 * their number, 0 = not known.
 */
unsigned suppress_allocator(unsigned kind, const struct frame_name **frames);

/*
 * Append a suppression for exactly this: Valgrind's with the whole stack up to main, from the
 * allocator's function (`kind`, of suppress_kinds()) on, and the class; LeakSanitizer's with the
 * function that answers for the stack. `name` NULL: made from function and class. What is written
 * can be read by suppress_parse() and matches the site.
 */
void suppress_write(struct str *out, enum suppress_form form, struct names *names, uint32_t site,
		    unsigned kind, unsigned class, const char *name);

/* "definite", "indirect", "possible", "reachable", as match-leak-kinds: has them. */
const char *suppress_class_name(unsigned class);

#endif
