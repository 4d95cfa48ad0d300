/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was looked at in a check for heap errors, in words: the first thing to know of its result.
 */
#ifndef VIEW_CHECK_CHECK_COVERAGE_H
#define VIEW_CHECK_CHECK_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/str.h"
#include "src/model/heap.h"

/*
 * Blocks that the process allocated, as far as pmm saw them; with PMM_CHECK_SAMPLED those that were
 * looked at.
 */
uint64_t check_blocks(const struct heap_check *c);

/*
 * "all 595,806 blocks had canaries, 101,288 of them guard pages too": how many had which
 * protection.
 */
void check_coverage(struct str *to, const struct heap_check *c);

/* Was none of them looked at? Then check_coverage() says that nothing could be found. */
bool check_covers_none(const struct heap_check *c);

/*
 * "; canaries only: 494,518 for their cost (--budget)": what was left out for which reason;
 * nothing where nothing was.
 */
void check_left_out(struct str *to, const struct heap_check *c);

#endif
