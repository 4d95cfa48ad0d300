/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Budgets: what a program, or a function or module of it, may hold and do, from a file that a
 * project keeps (doc/budget.md), and whether a heap is within them.
 *
 *	[app]
 *	peak = 20M
 *	function.parse.live_at_end = 100K
 *
 * What was not measured is neither within a budget nor beyond it.
 */
#ifndef ANALYZE_BUDGET_BUDGET_JUDGE_H
#define ANALYZE_BUDGET_BUDGET_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/analyze/leaks.h"
#include "src/base/arena.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/base/vec.h"
#include "src/names/names.h"

enum budget_figure {
	BUDGET_PEAK,
	BUDGET_LIVE,
	BUDGET_ALLOCATED,
	BUDGET_ALLOCATIONS,
	BUDGET_TEMPORARY,
	BUDGET_LEAKED,
};
#define BUDGET_NR_FIGURES (BUDGET_LEAKED + 1)

enum budget_scope { BUDGET_PROGRAM, BUDGET_FUNCTION, BUDGET_MODULE };

struct budget {
	const char *section;	/* a pattern of programs */
	const char *key;	/* as it is in the file: "function.parse.peak" */
	enum budget_scope scope;
	const char *name;	/* of the function or module, a pattern; NULL without */
	enum budget_figure figure;
	uint64_t limit;
	unsigned line;
};

struct budgets {
	VEC(struct budget) v;	/* in the order of the file */
	struct arena texts;
};

/* "peak", "live_at_end" ...; does it measure bytes? */
const char *budget_figure_name(enum budget_figure figure);
bool budget_in_bytes(enum budget_figure figure);

/*
 * Parse the text of a file of this name. budgets_fini() in any case. 0, -EINVAL (`e` names file and
 * line), -ENOSYS (built without libinih), -ENOMEM.
 */
int budgets_parse(struct budgets *b, const char *text, const char *file, struct err *e);
void budgets_fini(struct budgets *b);

/*
 * Is a budget about the program of this heap? Its section is a shell pattern of the process's name
 * or of its program's file, with a space in it of the command line.
 */
bool budget_applies(const struct budget *b, const struct heap *h);

enum budget_state { BUDGET_KEPT, BUDGET_EXCEEDED, BUDGET_NOT_MEASURED };
#define BUDGET_NR_STATES (BUDGET_NOT_MEASURED + 1)

#define BUDGET_SITES	3u

struct budget_result {
	const struct budget *budget;
	enum budget_state state;
	uint64_t value;		/* not measured: at least that, if it is known */
	bool unknown;		/* it is not */
	bool absent;		/* no stack has such a function, or no module is called that */
	struct leak_sum suppressed;	/* lost, and taken out of the heap before */
	struct str why;		/* of what was not measured */
	/* exceeded: the sites that hold or did most of it, and how much */
	uint32_t site[BUDGET_SITES];
	uint64_t site_value[BUDGET_SITES];
	unsigned nr_sites;
};

/* Judge a heap by a budget; budget_result_fini() in any case. 0 or -ENOMEM. */
int budget_judge(const struct budget *b, const struct heap *h, struct names *n,
		 struct budget_result *out);
/* Are suppressed leaks told apart in a result? Of the program as a whole. */
static inline bool budget_has_suppressed(const struct budget_result *r)
{
	return r->budget->figure == BUDGET_LEAKED && r->budget->scope == BUDGET_PROGRAM &&
	       r->suppressed.sites;
}

void budget_result_fini(struct budget_result *r);

#endif
