/* SPDX-License-Identifier: MIT */
/*
 * Which accesses that the kernel stopped are one error.
 *
 * The C library's frames do not count, wherever in a stack they are: one call of it reads and
 * writes by many instructions of several functions, and sorting calls back from many depths.
 */
#ifndef AGENT_GUARD_ALIKE_H
#define AGENT_GUARD_ALIKE_H

#include <stdint.h>

#include "include/pmm/check.h"

/*
 * A word that is the same for findings that are one, of those alike in all but their stacks: `rest`
 * stands for that.
 */
uint64_t alike_key(const struct pmm_finding *f, uint64_t rest);

static inline uint64_t alike_mixed(uint64_t h, uint64_t with)
{
	h = (h ^ with) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 32;
}

#endif
