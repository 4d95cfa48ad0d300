/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading a process's memory in large pieces and finding the words in it that point into blocks.
 * One scanner for each thread.
 */
#ifndef ANALYZE_REACH_REACH_SCAN_H
#define ANALYZE_REACH_REACH_SCAN_H

#include <stdint.h>

#include "src/analyze/reach/reach_index.h"
#include "src/model/memory.h"

#define REACH_WINDOW (256 << 10)	/* bytes read at once */
/* of fewer bytes it is not worth asking whether they were ever touched */
#define REACH_ASK (1ull << 20)

struct reach_scanner {
	const struct reach_index *ix;
	const struct memory *memory;
	uint64_t tag_mask;
	uint8_t *window;
	uint64_t at;			/* address of the window's first byte */
	size_t held;			/* bytes in it */
	uint64_t read_bytes, unread_bytes;
	uint64_t failures;		/* reads in vain */
	uint64_t missed;		/* where the last of them ended */
	unsigned doublings;		/* see missing() */
	struct reach_space *space;
	struct reach_batch batch;	/* words that may be pointers */
	uint64_t place[REACH_BATCH];	/* the addresses of these words */
	unsigned given;			/* hits before this one are settled */
	uint64_t next_ns;		/* by the coarse clock: ask again whether to stop */
	bool stopped;
};

#define REACH_CHUNK_HEAD	8	/* of glibc, before each block */
#define REACH_CHUNK_MIN		32

/*
 * glibc's lists of free chunks hold the address of the chunk behind a block, which is within the
 * block's last bytes.
 */
static inline bool reach_is_chunk_behind(const struct heap_block *b, uint32_t offset)
{
	uint64_t chunk = (b->size_bytes + REACH_CHUNK_HEAD + 15) & ~15ull;

	return offset >= REACH_CHUNK_MIN - 16 &&
	       offset == (chunk < REACH_CHUNK_MIN ? REACH_CHUNK_MIN : chunk) - 16;
}

/* Is the search to end early? Costs next to nothing: to be asked between small pieces of work. */
bool reach_stopped(struct reach_scanner *s);

/* 0 or -ENOMEM. */
int reach_scanner_init(struct reach_scanner *s, const struct reach_index *ix,
		       const struct memory *m, uint64_t tag_mask, struct reach_space *space);
void reach_scanner_fini(struct reach_scanner *s);

/*
 * How much of [from, to), both multiples of 8, was never touched, from `from` on. Large blocks are
 * often filled in part only; reading the rest would take long, and the program's memory for page
 * tables.
 */
uint64_t reach_untouched(const struct memory *m, uint64_t from, uint64_t to);

/*
 * The memory at `from` (a multiple of 8): a pointer to as much of [from, to) as is at hand, *bytes
 * of it. Where it must be read, as much as goes in a window up to `ahead` is. Where nothing can be
 * read there (counted as unread), or was ever written: NULL, and *bytes is how far to continue.
 */
const uint64_t *reach_window(struct reach_scanner *s, uint64_t from, uint64_t to, uint64_t ahead,
			     uint64_t *bytes);

/*
 * What the following call, as often as there are new hits: s->batch.hits[s->given] to the one
 * before s->batch.found.
 */
typedef void reach_hits_fn(void *arg, const struct reach_scanner *s);

/*
 * All words of [from, to), both multiples of 8; `ahead` as above. Hits of the last ones come with
 * those of the next call, or with reach_scan_end().
 */
void reach_scan_words(struct reach_scanner *s, uint64_t from, uint64_t to, uint64_t ahead,
		      reach_hits_fn *fn, void *arg);

void reach_scan_end(struct reach_scanner *s, reach_hits_fn *fn, void *arg);

/* All aligned words in [from, to), to the end. */
void reach_scan(struct reach_scanner *s, uint64_t from, uint64_t to, reach_hits_fn *fn, void *arg);

/* All aligned words of a block, without those of the blocks in it, to the end. */
void reach_scan_block(struct reach_scanner *s, uint32_t block, reach_hits_fn *fn, void *arg);

#endif
