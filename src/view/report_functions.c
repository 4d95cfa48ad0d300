/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions in the report: what is held through each, by itself or by what it calls.
 */
#include <string.h>

#include "src/analyze/functions.h"
#include "src/view/report_priv.h"

enum {
	FUNCTION_BYTES,
	FUNCTION_SHARE,
	FUNCTION_COUNT,
	FUNCTION_SITES,
	FUNCTION_NAME,
	FUNCTION_MODULE,
	FUNCTION_TAIL,
	FUNCTION_NR
};

static void columns_of(struct column *c, enum rank_key key)
{
	static const struct column plain[FUNCTION_NR] = {
		[FUNCTION_BYTES] = { "value_bytes", NULL, UNIT_BYTES },
		[FUNCTION_SHARE] = { "share_percent", "share", UNIT_PERCENT },
		[FUNCTION_COUNT] = { "value_count", NULL, UNIT_COUNT },
		[FUNCTION_SITES] = { "sites", "stacks", UNIT_COUNT },
		[FUNCTION_NAME] = { "function", "function", UNIT_TEXT, COLUMN_LABEL },
		[FUNCTION_MODULE] = JSON_COLUMN("module", UNIT_TEXT),
		[FUNCTION_TAIL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_TAIL },
	};

	memcpy(c, plain, sizeof(plain));
	c[FUNCTION_BYTES].title = report_titles[key].bytes;
	c[FUNCTION_COUNT].title = report_titles[key].count;
	if (!report_titles[key].bytes)
		c[FUNCTION_BYTES].flags |= COLUMN_JSON_ONLY;
}

static void add_function(struct table *t, const struct functions *all, const struct function_sum *f,
			 enum rank_key key)
{
	table_row(t, 0, ROW_PLAIN, ROW_BOTH);
	table_set(t, FUNCTION_BYTES, f->weight.bytes);
	table_set_float(t, FUNCTION_SHARE,
			report_percent(rank_value(key, f->weight), rank_value(key, all->total)));
	table_set(t, FUNCTION_COUNT, f->weight.count);
	table_set(t, FUNCTION_SITES, f->nr_sites);
	table_set_text(t, FUNCTION_NAME, f->frame->function);
	table_set_text(t, FUNCTION_MODULE, f->frame->module);
	if (f->frame->module)
		table_setf(t, FUNCTION_TAIL, "[%s]", report_basename(f->frame->module));
}

void report_functions(struct report *r)
{
	struct table *t = table_new(TABLE_ROWS, "functions", "Functions with all they call", NULL,
				    FUNCTION_NR);
	struct column *columns = t ? arena_alloc(&t->note_text, FUNCTION_NR * sizeof(*columns))
				   : NULL;
	struct functions all;

	if (!columns ||
	    functions_rank(r->heap, &r->selection, r->names, r->opt.sort, r->opt.top, &all)) {
		table_free(t);
		doc_add(&r->doc, NULL);
		return;
	}
	columns_of(columns, r->opt.sort);
	t->column = columns;
	t->estimated = r->heap->mode == HEAP_SAMPLED;
	for (uint32_t i = 0; i < all.nr; i++)
		add_function(t, &all, &all.v[i], r->opt.sort);
	r->left_out[REPORT_FUNCTIONS] = all.nr_all - all.nr;
	if (all.nr < all.nr_all)
		table_note(t, "%s (--top 0 shows all)",
			   fmt_many(all.nr_all - all.nr, "more name").s);
	else if (!all.nr)
		table_note(t, "nothing to show");
	functions_fini(&all);
	doc_add(&r->doc, t);
}
