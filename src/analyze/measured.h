/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of a heap was not measured, so that no limit on its figures can pass. Sentences are for
 * people, without an end: "recording stopped before the end".
 */
#ifndef ANALYZE_MEASURED_H
#define ANALYZE_MEASURED_H

#include "src/model/heap.h"

/* What a figure depends on besides the recorded blocks. */
#define MEASURED_STACKS	1u	/* which stack each block has */
#define MEASURED_LEAKS	2u	/* the search for leaks */
#define MEASURED_LIFE	4u	/* the program's whole life, from its start to its end */

/* Figures are no exact ones: why; NULL: they are. */
const char *measured_inexact(const struct heap *h);

/*
 * Does it reach to the program's end? A profile of another tool that has a history does where a
 * file that is cut off would have been noticed: where it was packed.
 */
bool measured_to_the_end(const struct heap *h);

/* Something is missing, the figure is at least what was recorded: what; NULL: nothing. */
const char *measured_gap(const struct heap *h, unsigned needs);

#endif
