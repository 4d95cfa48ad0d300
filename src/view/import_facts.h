/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The head of a report of another tool's profile: what it has, and first what it lacks. */
#ifndef VIEW_IMPORT_FACTS_H
#define VIEW_IMPORT_FACTS_H

#include "src/document/table.h"
#include "src/model/heap.h"

/* Facts in place of those of a heap that pmm recorded (h->import.tool). */
void import_facts(struct table *t, const struct heap *h);

#endif
