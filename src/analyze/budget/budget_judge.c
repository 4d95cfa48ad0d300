/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is a heap within a budget? */
#include "src/analyze/budget/budget_judge.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "src/analyze/measured.h"
#include "src/analyze/rank.h"
#include "src/analyze/reach/reach.h"
#include "src/base/fmt.h"

bool budget_applies(const struct budget *b, const struct heap *h)
{
	if (strchr(b->section, ' '))
		return fnmatch(b->section, h->cmdline, 0) == 0;
	return fnmatch(b->section, h->comm, 0) == 0 ||
	       (h->exe[0] && fnmatch(b->section, str_basename(h->exe), 0) == 0);
}

void budget_result_fini(struct budget_result *r)
{
	str_fini(&r->why);
}

/* ---- what was not measured ------------------------------------------------------------------- */

/* Figures that are no measure at all: a budget is not even exceeded by them. */
static const char *no_measure(const struct heap *h, enum budget_figure figure)
{
	const char *why = measured_inexact(h);

	if (figure == BUDGET_LEAKED && h->import.tool)
		return "another tool's profile has no search for leaks";
	if (why)
		return why;
	if (!heap_import_history(h))
		return "it is another tool's profile of one moment";
	if (figure == BUDGET_LIVE && !measured_to_the_end(h))
		return "the program had not ended when it was captured";
	if (figure == BUDGET_LIVE && h->off_reason)
		return "recording stopped before the end";
	if (figure == BUDGET_LEAKED && h->search.how == HEAP_SEARCH_NONE)
		return "it was not searched for leaks (pmm run --leaks)";
	return NULL;
}

/* Something is missing: the figure is at least what was recorded. */
static const char *gap(const struct heap *h, const struct budget *b)
{
	return measured_gap(h, MEASURED_LIFE | (b->scope == BUDGET_PROGRAM ? 0 : MEASURED_STACKS) |
				       (b->figure == BUDGET_LEAKED ? MEASURED_LEAKS : 0));
}

/* ---- sites ----------------------------------------------------------------------------------- */

enum match { MATCH_NO, MATCH_YES, MATCH_UNKNOWN };

static bool name_matches(const struct budget *b, const struct frame_name *f)
{
	if (b->scope == BUDGET_FUNCTION)
		return f->function && role_matches(b->name, f->function);
	return f->module && (fnmatch(b->name, str_basename(f->module), 0) == 0 ||
			     fnmatch(b->name, f->module, 0) == 0);
}

/* What is known of the frames of one node. */
static enum match match_node(const struct budget *b, struct names *n, uint32_t node)
{
	unsigned nr;
	const struct frame_name *f = names_find(n, node, &nr);
	enum match found = MATCH_NO;

	for (unsigned i = 0; i < nr; i++) {
		if (name_matches(b, &f[i]) && f[i].role != FRAME_MARK)
			return MATCH_YES;
		if (f[i].role == FRAME_MARK ||
		    (b->scope == BUDGET_FUNCTION && f[i].role == FRAME_PROGRAM && !f[i].function))
			found = MATCH_UNKNOWN;
	}
	return found;
}

/* By node: does its stack go through what the budget is about? NULL: no memory. */
static uint8_t *match_stacks(const struct budget *b, const struct heap *h, struct names *n)
{
	uint8_t *match = calloc((size_t)h->nr_nodes + 1, 1);

	if (!match)
		return NULL;
	match[0] = MATCH_NO;
	for (uint32_t i = 1; i < h->nr_nodes; i++) {
		enum match outer = match[h->nodes[i].parent],
			   own = outer == MATCH_YES ? MATCH_YES : match_node(b, n, i);

		match[i] = (uint8_t)(own == MATCH_NO ? outer : own);
	}
	return match;
}

static void weigh_leaks(const struct heap *h, uint64_t *value)
{
	for (uint64_t i = 0; i < h->nr_leaks; i++)
		if (h->leaks[i].class == REACH_DEFINITE || h->leaks[i].class == REACH_INDIRECT)
			value[h->leaks[i].site] += h->leaks[i].bytes;
}

static uint64_t site_value(const struct heap *h, uint32_t site, enum budget_figure figure)
{
	switch (figure) {
	case BUDGET_PEAK:
		return rank_weight(h, NULL, RANK_PEAK, site).bytes;
	case BUDGET_LIVE:
		return rank_weight(h, NULL, RANK_LIVE, site).bytes;
	case BUDGET_ALLOCATED:
		return h->sites[site].bytes_in;
	case BUDGET_ALLOCATIONS:
		return h->sites[site].allocs;
	case BUDGET_TEMPORARY:
		return h->sites[site].temporary;
	case BUDGET_LEAKED:
		break;
	}
	return 0;
}

static uint64_t whole(const struct heap *h, enum budget_figure figure)
{
	switch (figure) {
	case BUDGET_PEAK:
		return h->peak_bytes;
	case BUDGET_LIVE:
		return h->live_bytes;
	case BUDGET_ALLOCATED:
		return h->bytes_in;
	case BUDGET_ALLOCATIONS:
		return h->allocs;
	case BUDGET_TEMPORARY:
		return h->temporary;
	case BUDGET_LEAKED:
		break;
	}
	return 0;
}

/* Keep the largest sites, largest first. */
static void keep_site(struct budget_result *r, uint32_t site, uint64_t value)
{
	unsigned at = r->nr_sites;

	while (at && r->site_value[at - 1] < value)
		at--;
	if (at >= BUDGET_SITES || !value)
		return;
	r->nr_sites += r->nr_sites < BUDGET_SITES;
	for (unsigned i = r->nr_sites - 1; i > at; i--) {
		r->site[i] = r->site[i - 1];
		r->site_value[i] = r->site_value[i - 1];
	}
	r->site[at] = site;
	r->site_value[at] = value;
}

/* Sum up the sites that match; *unknown: those of which that is not known. */
static void sum(const struct budget *b, const struct heap *h, const uint8_t *match,
		const uint64_t *value, struct budget_result *r, uint64_t *unknown)
{
	r->absent = true;
	*unknown = 0;
	for (uint32_t i = 0; i < h->nr_sites; i++) {
		uint32_t node = h->sites[i].node;
		enum match m = b->scope == BUDGET_PROGRAM ? MATCH_YES
			       : node			  ? match[node]
							  : MATCH_UNKNOWN;

		if (m == MATCH_UNKNOWN)
			*unknown += value[i];
		if (m != MATCH_YES)
			continue;
		r->absent = false;
		r->value += value[i];
		keep_site(r, i, value[i]);
	}
	if (b->scope != BUDGET_PROGRAM)
		return;
	r->absent = false;
	if (b->figure != BUDGET_LEAKED)
		r->value = whole(h, b->figure);
}

static void decide(const struct heap *h, struct budget_result *r, uint64_t unknown)
{
	const struct budget *b = r->budget;
	const char *why = no_measure(h, b->figure);

	r->state = BUDGET_KEPT;
	r->unknown = why != NULL;
	if (!why && r->value > b->limit) {
		r->state = BUDGET_EXCEEDED;
		return;
	}
	if (!why)
		why = gap(h, b);
	if (why)
		str_add(&r->why, why);
	else if (unknown && (r->value + unknown < unknown || r->value + unknown > b->limit))
		str_addf(&r->why, "%s more may belong to it: stacks are not known, or functions "
				  "have no names",
			 budget_in_bytes(b->figure) ? fmt_bytes(unknown).s : fmt_count(unknown).s);
	if (r->why.len)
		r->state = BUDGET_NOT_MEASURED;
}

int budget_judge(const struct budget *b, const struct heap *h, struct names *n,
		 struct budget_result *out)
{
	uint64_t *value = calloc((size_t)h->nr_sites + 1, sizeof(*value)), unknown;
	uint8_t *match = b->scope == BUDGET_PROGRAM ? NULL : match_stacks(b, h, n);
	int rc = value && (match || b->scope == BUDGET_PROGRAM) ? 0 : -ENOMEM;

	*out = (struct budget_result){ .budget = b };
	for (uint32_t i = 0; i < h->nr_sites && !rc; i++)
		value[i] = site_value(h, i, b->figure);
	if (!rc && b->figure == BUDGET_LEAKED)
		weigh_leaks(h, value);
	if (!rc) {
		sum(b, h, match, value, out, &unknown);
		decide(h, out, unknown);
		rc = n->failed ? -ENOMEM : str_error(&out->why);
	}
	free(value);
	free(match);
	return rc;
}
