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

/* One for each thread. */
struct reach_guess {
	const struct reach_index *ix;
	const struct memory *memory;
	unsigned heuristics;				/* enum reach_heuristic */
	struct { uint64_t address; bool is; } vtables[REACH_GUESS_CACHE];
};

/* Could any guess accept a pointer so far into a block? Reads nothing. */
bool reach_guess_worth(const struct reach_guess *g, uint32_t block, uint32_t offset);

/* Does one accept it? */
bool reach_guess(struct reach_guess *g, uint32_t block, uint32_t offset);

#endif
