/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a process did with its heap, as facts: the lines that a report's head and the summary of a
 * run have in common, and the summary's own.
 */
#ifndef VIEW_HEAP_FACTS_H
#define VIEW_HEAP_FACTS_H

#include "src/document/facts.h"
#include "src/model/heap.h"

/* "mapped", what mmap gave, and to whom; nothing where that is nothing. */
void heap_facts_mapped(struct table *t, const struct heap *h);

/* "RSS", and in a line without a name what it consists of; nothing where it is not known. */
void heap_facts_resident(struct table *t, const struct heap *h);

/* "about ", which goes before figures that are estimates; "" where they are exact. */
const char *heap_about(const struct heap *h);

/* "calls". `brief`: without a rate and a mean size. */
void heap_facts_calls(struct table *t, const struct heap *h, bool brief);

/*
 * The summary of a run that has ended, facts_new(): its peak, what was live, mapped and resident,
 * its calls, and requests that were unusual. NULL when out of memory.
 */
struct table *heap_facts_summary(const struct heap *h);

/* The same of a process that mapped memory and asked its allocator for none. */
struct table *heap_facts_summary_mapped(const struct heap *h);

#endif
