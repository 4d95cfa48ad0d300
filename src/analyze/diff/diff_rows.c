/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a comparison has found: rows, their names, their order. */
#include <errno.h>
#include <stdlib.h>


#include "src/analyze/diff/diff_priv.h"

const char *const diff_key_name[DIFF_NR_KEYS + 1] = {
	[DIFF_LIVE] = "live",
	[DIFF_PEAK] = "peak",
	[DIFF_ALLOCATED] = "allocated",
	[DIFF_CALLS] = "calls",
	[DIFF_TEMPORARIES] = "temporary",
	[DIFF_LEAKED] = "leaked",
	[DIFF_NR_KEYS] = NULL,
};

static const struct {
	enum diff_metric decides, bytes, count;
} metrics[DIFF_NR_KEYS] = {
	[DIFF_LIVE] = { DIFF_LIVE_BYTES, DIFF_LIVE_BYTES, DIFF_LIVE_BLOCKS },
	[DIFF_PEAK] = { DIFF_PEAK_BYTES, DIFF_PEAK_BYTES, DIFF_PEAK_BLOCKS },
	[DIFF_ALLOCATED] = { DIFF_ALLOCATED_BYTES, DIFF_ALLOCATED_BYTES, DIFF_ALLOCATIONS },
	[DIFF_CALLS] = { DIFF_ALLOCATIONS, DIFF_ALLOCATED_BYTES, DIFF_ALLOCATIONS },
	[DIFF_TEMPORARIES] = { DIFF_TEMPORARY, DIFF_NR_METRICS, DIFF_TEMPORARY },
	[DIFF_LEAKED] = { DIFF_LEAKED_BYTES, DIFF_LEAKED_BYTES, DIFF_LEAKED_BLOCKS },
};

enum diff_metric diff_metric_of(enum diff_key key)
{
	return metrics[key].decides;
}

enum diff_metric diff_bytes_of(enum diff_key key)
{
	return metrics[key].bytes;
}

enum diff_metric diff_count_of(enum diff_key key)
{
	return metrics[key].count;
}

unsigned diff_sides(const struct diff *d)
{
	return d->nr_sides;
}

const int64_t *diff_total(const struct diff *d, unsigned side)
{
	return &d->totals.v[(size_t)side * DIFF_NR_METRICS];
}

uint32_t diff_rows(const struct diff *d, enum diff_list list)
{
	switch (list) {
	case DIFF_LINES:
		return (uint32_t)d->lines.nr;
	case DIFF_FUNCTIONS:
		return (uint32_t)d->functions.nr;
	case DIFF_MODULES:
		return (uint32_t)d->modules.nr;
	case DIFF_STACKS:
		break;
	}
	return (uint32_t)d->stacks.nr;
}

const int64_t *diff_values(const struct diff *d, enum diff_list list, uint32_t row, unsigned side)
{
	static const int64_t nothing[DIFF_NR_METRICS];
	const struct diff_figures *f = &d->figures[list].v[side];

	return ((size_t)row + 1) * DIFF_NR_METRICS <= f->value.nr
		       ? &f->value.v[(size_t)row * DIFF_NR_METRICS]
		       : nothing;
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char *text_of(const struct diff *d, uint32_t number)
{
	return number ? intern_text(&d->texts, number - 1) : NULL;
}

static const char *special_text(uint32_t row)
{
	return row == DIFF_UNKNOWN ? "[stack unknown]" : "[in no stack]";
}

static struct diff_name function_name(const struct diff *d, uint32_t function, uint32_t line)
{
	const struct diff_function *f = &d->functions.v[function];

	if (function <= DIFF_RESIDUE)
		return (struct diff_name){ .function = special_text(function), .mark = true };
	return (struct diff_name){ .function = text_of(d, f->shown.function),
				   .file = text_of(d, f->shown.file),
				   .module = text_of(d, f->shown.module),
				   .line = line,
				   .offset = f->shown.function ? 0 : f->id.offset,
				   .mark = f->shown.mark };
}

static struct diff_name line_name(const struct diff *d, uint32_t line)
{
	return function_name(d, d->lines.v[line].function, d->lines.v[line].number);
}

struct diff_name diff_name_of(const struct diff *d, enum diff_list list, uint32_t row)
{
	struct diff_name name = { 0 };

	if (list == DIFF_LINES)
		return line_name(d, row);
	if (list == DIFF_FUNCTIONS)
		return function_name(d, row, 0);
	if (row <= DIFF_RESIDUE)
		return (struct diff_name){ .function = special_text(row), .mark = true };
	if (list == DIFF_MODULES)
		name.module = text_of(d, d->modules.v[row].shown);
	else
		name = line_name(d, d->stacks.v[row].line);
	return name;
}

uint32_t diff_next_frame(const struct diff *d, uint32_t row, uint32_t at, struct diff_name *out)
{
	const struct diff_trie *t = &d->trie[LEVEL_LINES];

	at = at ? t->nodes.v[at].parent : d->stacks.v[row].at[LEVEL_LINES];
	if (at)
		*out = line_name(d, t->nodes.v[at].key);
	return at;
}

/* ---- what could not be compared -------------------------------------------------------------- */

static void add_values(int64_t *to, const int64_t *value)
{
	for (unsigned m = 0; m < DIFF_NR_METRICS; m++)
		to[m] += value[m];
}

struct diff_unmatched diff_unmatched(const struct diff *d, unsigned side)
{
	struct diff_unmatched u = { 0 };
	const unsigned other = side ? 0 : 1;

	add_values(u.unknown, diff_values(d, DIFF_FUNCTIONS, DIFF_UNKNOWN, side));
	for (uint32_t i = DIFF_RESIDUE + 1; i < d->functions.nr; i++) {
		const struct diff_function *f = &d->functions.v[i];
		const int64_t *value = diff_values(d, DIFF_FUNCTIONS, i, side);

		if (f->id.name)
			continue;
		if (f->nr_sides > 1) {
			if (!f->id.build)
				add_values(u.guessed, value);
			continue;
		}
		if (f->side != side || d->modules.v[f->module_row].nr_sides < 2 ||
		    (f->id.build && diff_has_build(d, other, f->id.build)))
			continue;
		add_values(u.unnamed, value);
		if (!u.module)
			u.module = text_of(d, f->shown.module);
	}
	return u;
}

/* ---- order ----------------------------------------------------------------------------------- */

struct ranked {
	int64_t change;
	uint32_t row;
};

static uint64_t size_of(int64_t n)
{
	return n < 0 ? -(uint64_t)n : (uint64_t)n;
}

static int by_change(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (size_of(x->change) != size_of(y->change))
		return size_of(x->change) < size_of(y->change) ? 1 : -1;
	return x->row < y->row ? -1 : x->row > y->row;
}

int diff_rank(const struct diff *d, enum diff_list list, enum diff_key key, unsigned before,
	      unsigned after, uint64_t top, struct diff_ranking *out)
{
	enum diff_metric m = diff_metric_of(key);
	VEC(struct ranked) all = { 0 };
	int rc = 0;

	*out = (struct diff_ranking){ 0 };
	for (uint32_t i = 0; i < diff_rows(d, list) && !rc; i++) {
		int64_t change = diff_values(d, list, i, after)[m] -
				 diff_values(d, list, i, before)[m];

		if (!change)
			continue;
		*(change > 0 ? &out->more : &out->less) += change;
		rc = vec_push(&all, (struct ranked){ change, i });
	}
	vec_sort(&all, by_change);
	out->nr_all = (uint32_t)all.nr;
	out->nr = top && top < all.nr ? (uint32_t)top : (uint32_t)all.nr;
	out->row = malloc(((size_t)out->nr + 1) * sizeof(*out->row));
	if (!out->row)
		rc = -ENOMEM;
	for (uint32_t i = 0; i < out->nr && !rc; i++)
		out->row[i] = all.v[i].row;
	vec_fini(&all);
	if (rc)
		diff_ranking_fini(out);
	return rc;
}

void diff_ranking_fini(struct diff_ranking *r)
{
	free(r->row);
	*r = (struct diff_ranking){ 0 };
}
