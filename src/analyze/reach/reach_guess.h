/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is a pointer into a block's middle as good as one to its start? The four guesses of memcheck's
 * manual (--leak-check-heuristics).
 */
#ifndef ANALYZE_REACH_REACH_GUESS_H
#define ANALYZE_REACH_REACH_GUESS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/analyze/reach/reach_index.h"
#include "src/model/memory.h"

#define REACH_GUESS_CACHE 256
#define REACH_GUESS_HEADS 1024

/* A block's first two words. */
struct reach_head {
	uint32_t block;
	size_t held;		/* bytes that could be read; 0: nothing was kept */
	uint64_t word[2];
};

/* One for each thread. */
struct reach_guess {
	const struct reach_index *ix;
	const struct memory *memory;
	unsigned heuristics;				/* enum reach_heuristic */
	struct { uint64_t address; bool is; } vtables[REACH_GUESS_CACHE];
	struct reach_head heads[REACH_GUESS_HEADS];
};

/* Could any guess accept a pointer so far into a block? Reads nothing. */
bool reach_guess_worth(const struct reach_guess *g, uint32_t block, uint32_t offset);

/* Does one accept it? */
bool reach_guess(struct reach_guess *g, uint32_t block, uint32_t offset);

#endif
