/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Free address space near code.
 */
#ifndef INJECT_GAP_H
#define INJECT_GAP_H

#include <stdint.h>

#include "src/proc/proc.h"

#define GAP_REACH (1ull << 31)	/* of a 32-bit displacement */

/*
 * Where `bytes` (whole pages) would be free and within a 32-bit displacement of everything in
 * [low, high), not in the way of a heap that grows up or a stack that grows down. 0 = nowhere.
 */
uint64_t gap_near(const struct proc_maps *maps, uint64_t low, uint64_t high, uint64_t bytes);

#endif
