/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What readers of profiles share: the bytes of a file, and a heap that is being made. */
#ifndef IMPORT_IMPORT_PRIV_H
#define IMPORT_IMPORT_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "src/base/err.h"
#include "src/base/hash.h"
#include "src/base/str.h"
#include "src/base/vec.h"
#include "src/import/import.h"
#include "src/model/heap.h"

/* Of a name; of the frames of a stack, and of those inlined at one address. */
#define IMPORT_MAX_NAME_BYTES	8192u	/* as SYMBOL_MAX_NAME_BYTES */
#define IMPORT_MAX_DEPTH	HEAP_MAX_DEPTH
#define IMPORT_MAX_INLINED	256u

#define NS_PER_MS		1000000ull

/* ---- the bytes of a file, unpacked ---- */

struct import_input;

/* Also from a pipe, but then it can be read once. 0 or -errno. */
int import_open(const char *path, struct import_input **out);
void import_close(struct import_input *in);

/*
 * Up to `size` bytes; less at the end only. Their number or -errno; -EBADMSG, -ENODATA: packed
 * ones.
 */
ssize_t import_bytes(struct import_input *in, char *to, size_t size);

/*
 * The next line without its line feed, NUL-terminated, valid until the next call. 1, 0 at the end,
 * -errno; -EBADMSG also: it is longer than IMPORT_MAX_LINE.
 */
int import_line(struct import_input *in, char **line);

/* Had the last one no line feed? Then the file is likely cut off. */
bool import_line_open(const struct import_input *in);

/* Then a file that is cut off is noticed. */
bool import_packed(const struct import_input *in);
bool import_zstd(const struct import_input *in);
#define IMPORT_MAX_LINE (4u << 20)

/* ---- a heap that is being made ---- */

struct import {
	const char *path;
	enum heap_tool tool;
	struct err *e;			/* not NULL */
	uint64_t max_bytes, used_bytes;
	struct heap *h;
	VEC(struct heap_node) nodes;
	VEC(uint16_t) depths;		/* by node */
	VEC(struct heap_srcloc) srclocs;
	VEC(struct heap_site) sites;
	VEC(struct heap_module) modules;
	VEC(struct heap_point) points;
	VEC(struct heap_site_point) site_points;
	struct intern places, paths;	/* of srclocs, of modules */
	struct hash_map frame_nodes, node_sites;
};

/* All say in `e` why they fail. */
int import_begin(struct import *m);
/* What it holds so far, the heap too. */
void import_end(struct import *m);

/* So much memory will be taken more. 0 or -EFBIG. */
int import_take(struct import *m, uint64_t bytes);

int import_damaged(struct import *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int import_no_memory(struct import *m);
/* Of reading the file: import_open(), import_bytes(), import_line(). */
int import_unreadable(struct import *m, int rc);

/* Text of a file as a heap may have it. NULL when out of memory. */
char *import_text(const char *text);

/* A module; ones without a path are 0. Its number or -errno. */
int64_t import_module(struct import *m, const char *path, uint64_t start, uint64_t end,
		      uint64_t bias);

/* What a frame at a place in the source has as its pc; NULL and 0: not known. -errno. */
int64_t import_place(struct import *m, const char *function, const char *file, uint32_t line);

/* The pc of a place that import_place() gave. */
static inline uint64_t import_place_pc(int64_t place)
{
	return HEAP_SRCLOC_PC + (uint64_t)place;
}

/* The child of `parent` with this frame, entered if new. Its number or -errno. */
int64_t import_node(struct import *m, uint32_t parent, uint64_t pc, uint32_t module);

/* The site of a stack. Its number or -errno. */
int64_t import_site(struct import *m, uint32_t node);

/* The program that its command line names. 0 or -errno. */
int import_command(struct import *m, const char *cmdline);

/*
 * Give nodes without a module that of their address, by lines of /proc/PID/maps; `text` is
 * changed.
 */
int import_modules(struct import *m, char *text);

/*
 * A site's figures from samples of one in `period` bytes (0, 1: of all), corrected for what was
 * not sampled: live_*, and what was allocated in all or 0.
 */
struct import_counts {
	uint64_t live_blocks, live_bytes, allocs, bytes_in;
};
void import_unsample(struct import_counts *c, uint64_t period);

/*
 * How many samples the live blocks of a site are taken to come from, where a profile has estimates
 * but not their number; at least 1 for a site with blocks.
 */
void import_guess_samples(struct import *m, uint32_t site, uint64_t blocks, uint64_t bytes);

/* Add them to a site of the heap that is made. 0, -EBADMSG (they make no sense). */
int import_add(struct import *m, uint32_t site, const struct import_counts *c);

/* ---- readers ---- */

int import_heaptrack(struct import *m);
int import_counts(struct import *m);
int import_pprof(struct import *m);

/* What heaptrack's events mean when they are read again. */
struct replay {
	VEC(uint64_t) sizes;		/* by number of an `a` line */
	VEC(uint32_t) sites;
	uint64_t peak_event;		/* events up to the peak */
	uint64_t end_ns;
	uint64_t nr_events;
};
int import_replay(struct import *m, const struct replay *r);

#endif
