/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The head of a report of another tool's profile, and what it lacks. */
#ifndef VIEW_IMPORT_IMPORT_FACTS_H
#define VIEW_IMPORT_IMPORT_FACTS_H

#include "src/base/str.h"
#include "src/document/table.h"
#include "src/model/heap.h"

/* Facts in place of those of a heap that pmm recorded (h->import.tool). */
void import_facts(struct table *t, const struct heap *h);

/* "v, recorded by heaptrack 1.4.0 for 15 ms". */
void import_process(struct str *s, const struct heap *h);

/* A sentence: what such a heap cannot say. */
void import_lacks(struct str *s, const struct heap *h);

#endif
