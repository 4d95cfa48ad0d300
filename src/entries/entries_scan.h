/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was found in a process's symbols, before it is decided what to patch.
 */
#ifndef ENTRIES_ENTRIES_SCAN_H
#define ENTRIES_ENTRIES_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/str.h"
#include "src/base/vec.h"
#include "src/entries/entries.h"
#include "src/entries/entries_names.h"
#include "src/entries/filecode.h"
#include "src/entries/objects.h"

struct candidate {
	const struct entries_name *name;	/* NULL: a custom one */
	const struct entries_custom *custom;
	enum names_prefix prefix;
	size_t object;			/* number in objects.v */
	uint64_t address, size;
	unsigned type;			/* STT_* */
	char *symbol;			/* owned */
	bool local;			/* other files do not see it */
	bool dropped;			/* not to be patched; kept since others may call it */
};

struct scan {
	struct objects objects;
	struct entries_names names;
	VEC(struct candidate) found;	/* in link order, then as in the symbol tables */
	unsigned *marks;		/* per object, enum names_mark */
	uint64_t info[NAMES_NR_INFOS];
	struct str looked;		/* where besides the dynamic symbols, for people */
	unsigned nr_looked;		/* objects in it */
	/* symbols of a library that are not exported: only what the user named */
	bool only_custom;
	bool local;			/* symbols of a symbol table that other files do not see */
	const struct entries_custom *custom;
	size_t nr_custom;
	bool *custom_found;
	size_t object;			/* being read */
	struct filecode *files;		/* of the code */
	struct jumps jumps;		/* in it */
	/* the first that says nothing of the process: no memory, a failing disk */
	int error;
};

/*
 * Look through the dynamic symbols of all objects, and through symbol tables and debug files where
 * that is needed. 0 or -errno.
 */
int scan_read(pid_t pid, const struct entries_custom *custom, size_t nr_custom, struct scan *s,
	      struct err *e);
void scan_fini(struct scan *s);

/* Code of the process, without breakpoints and jumps that were put into it. 0 or -errno. */
int scan_code(const struct scan *s, uint64_t at, void *to, size_t bytes);

/* One symbol of the object s->object. (For the parts of the scan.) */
void scan_symbol(void *scan, const struct object_symbol *symbol);

/*
 * Symbol tables and debug files (entries_files.c): the program's own, since it may have an
 * allocator linked in that it does not export, and those of all objects that may have the custom
 * functions not found so far. 0 or -errno.
 */
int scan_files(struct scan *s);

/* Is there a malloc and a free that are not the loader's? */
bool scan_has_allocator(const struct scan *s);

/* Does a candidate have this role under a public name (of the C library's interface)? */
bool candidate_is(const struct candidate *c, const char *name);

/*
 * Drop what must not be patched or is seen elsewhere: the loader's, second names, functions that
 * only call others.
 */
void scan_choose(struct scan *s);

/* Where each begins, and what its file has there (entries_begin.c). 0 or -ENOMEM. */
int scan_begins(const struct scan *s, struct entries *found);

/*
 * Refuse what branches of other functions of the same object go into (entries_branches.c). 0 or
 * -ENOMEM.
 */
int scan_branches(const struct scan *s, struct entries *found);

#endif
