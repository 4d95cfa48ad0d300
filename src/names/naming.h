/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols joined to heaps: the symbolizer of a heap's modules, and the names of its frames by it.
 */
#ifndef NAMES_NAMING_H
#define NAMES_NAMING_H

#include <sys/types.h>

#include "src/names/names.h"
#include "src/symbol/symbol.h"

/*
 * A symbolizer for the modules of a heap; the caller's. NULL when out of memory. `o` as
 * symbolizer_new().
 */
struct symbolizer *naming_symbols(const struct heap *h, const struct symbolizer_options *o);

/* For names_init(); its context is the symbolizer. */
unsigned naming_resolve(void *sym, const struct heap *h, uint32_t node, struct frame_name *out,
			unsigned max);

/* The same of frames that symbol_lookup() gave: `nr` of them, or what it returned instead. */
unsigned naming_frames(const struct symbol_frame *frame, int nr, struct frame_name *out);

/* Whose names are looked up, and how. All zero: functions out of ELF symbol tables, here. */
struct naming_options {
	bool none;		/* no symbols at all */
	bool full;		/* files, lines and inlined frames as well; kept between runs */
	bool debuginfod;	/* with full: ask the servers of $DEBUGINFOD_URLS */
	pid_t pid;		/* running, maybe in another file system tree; 0: look here */
	uint64_t max_bytes;	/* of symbolizer_options */
	names_resolve *resolve; /* if names are looked up elsewhere: the function for that; NULL */
	void *resolve_ctx;
};

/* Names of one heap, from their first look-up to the last. */
struct naming {
	const struct heap *heap;
	struct symbolizer *sym; /* NULL: none wanted, or no memory for it */
	struct names names;
	bool wanted;		/* a symbolizer */
	bool full;
};

/*
 * Always succeeds: without memory for a symbolizer the names are those of modules. The heap must
 * outlive it; naming_close(). The cache is written by symbolizer_save() alone.
 */
void naming_open(struct naming *n, const struct heap *h, const struct naming_options *o);
void naming_close(struct naming *n);

/*
 * Where paths of a process that lives in another file system tree begin; "" = here. A chroot's
 * paths may be shown as we see them.
 */
void naming_root(pid_t pid, const struct heap *h, char root[64]);

#endif
