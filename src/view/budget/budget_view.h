/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heaps judged by budgets, as a document: a row for each heap and budget, and below what exceeds
 * one the stacks that hold most of it.
 */
#ifndef VIEW_BUDGET_BUDGET_VIEW_H
#define VIEW_BUDGET_BUDGET_VIEW_H

#include "src/analyze/budget/budget_judge.h"
#include "src/document/doc.h"

#define BUDGET_SCHEMA "pmm-budget/1.2"

struct budget_view {
	struct doc doc;
	struct table *table;	/* of the document, once it is finished */
	uint64_t nr[BUDGET_NR_STATES];
};

/* JSON's words: "kept", "exceeded", "not_measured". */
const char *budget_state_name(enum budget_state state);

/*
 * "21.3 MiB, 1.3 MiB (6.5%) over 20.0 MiB", "12 of 100": for people. What was not measured has no
 * figure.
 */
void budget_text(struct str *s, const struct budget_result *r);

/* An empty document; budget_view_fini() in any case. Trouble stays in it. */
void budget_view_init(struct budget_view *v);

/*
 * Add what was found of a heap, `source`; all is copied. NULL, of heap and names, too: no heap is
 * what the budget is about.
 */
void budget_view_add(struct budget_view *v, const char *source, const struct budget_result *r,
		     const struct heap *h, struct names *n);

/* Finish v->doc. 0 or -ENOMEM. */
int budget_view_finish(struct budget_view *v);
void budget_view_fini(struct budget_view *v);

#endif
