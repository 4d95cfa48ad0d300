/*
 * Reading a process's memory in large pieces and finding the words in it that point into blocks. One scanner for each thread.
 */
#ifndef ANALYZE_REACH_SCAN_H
#define ANALYZE_REACH_SCAN_H

#include <stdint.h>

#include "src/analyze/reach_index.h"
#include "src/model/memory.h"

#define REACH_WINDOW (256 << 10)	/* bytes read at once */

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
	unsigned nr;			/* words taken and not yet resolved */
	uint64_t value[REACH_BATCH];
	struct reach_hit hits[REACH_BATCH];
};

/* 0 or -ENOMEM. */
int reach_scanner_init(struct reach_scanner *s, const struct reach_index *ix, const struct memory *m, uint64_t tag_mask,
		       struct reach_space *space);
void reach_scanner_fini(struct reach_scanner *s);

/*
 * The memory at `from` (a multiple of 8): a pointer to as much of [from, to) as is at hand, *bytes of it. Where it must be read, as much as
 * goes in a window up to `ahead` is. Where nothing can be read there: NULL, and *bytes is how far to go on (counted as unread).
 */
const uint64_t *reach_window(struct reach_scanner *s, uint64_t from, uint64_t to, uint64_t ahead, uint64_t *bytes);

/* Take those words into s->value that may point into a block; how many of the nr words were looked at (less when the batch is full). */
static inline size_t reach_sieve(struct reach_scanner *s, const uint64_t *words, size_t nr)
{
	uint64_t keep = ~s->tag_mask, low = s->ix->low, span = s->ix->span;
	size_t limit = nr < REACH_BATCH - s->nr ? nr : REACH_BATCH - s->nr;
	unsigned n = s->nr;

	/* No branch depends on what is in memory: which word is a pointer cannot be predicted. */
	for (size_t i = 0; i < limit; i++) {
		uint64_t value = words[i] & keep;

		s->value[n] = value;
		n += value - low <= span;
	}
	s->nr = n;
	return limit;
}

/* Find the blocks of the words taken: s->hits; s->nr is unchanged. */
static inline void reach_sieved(struct reach_scanner *s)
{
	reach_resolve(s->ix, s->value, s->nr, s->hits);
}

/* What reach_scan() calls: s->hits and s->value of s->nr words. */
typedef void reach_hits_fn(void *arg, const struct reach_scanner *s);

/* All aligned words in [from, to), a batch at a time. s->nr must be 0 and is so after it. */
void reach_scan(struct reach_scanner *s, uint64_t from, uint64_t to, reach_hits_fn *fn, void *arg);

/* All aligned words of a block, without those of the blocks in it. */
void reach_scan_block(struct reach_scanner *s, uint32_t block, reach_hits_fn *fn, void *arg);

#endif
