/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heaps compared: what the tables of lines, functions, modules and stacks share. */
#include <string.h>

#include "src/base/fmt.h"
#include "src/view/diff/diff_view_priv.h"

const char *const diff_list_key[DIFF_NR_LISTS] = {
	[DIFF_LINES] = "lines",
	[DIFF_FUNCTIONS] = "functions",
	[DIFF_MODULES] = "modules",
	[DIFF_STACKS] = "stacks",
};

const char *const diff_list_label[DIFF_NR_LISTS] = {
	[DIFF_LINES] = "line",
	[DIFF_FUNCTIONS] = "function",
	[DIFF_MODULES] = "module",
	[DIFF_STACKS] = "stack",
};

struct table *diff_list_new(struct doc *d, const struct diff_list_rows *rows, const char *title,
			    const struct column *plain, unsigned nr, struct column **columns)
{
	bool tree = rows->list == DIFF_STACKS;
	struct table *t = table_new(tree ? TABLE_TREE : TABLE_ROWS, diff_list_key[rows->list],
				    title, NULL, nr);
	struct diff_list_rows *ctx = t ? arena_alloc(&t->note_text, sizeof(*ctx)) : NULL;

	*columns = ctx ? arena_alloc(&t->note_text, nr * sizeof(**columns)) : NULL;
	if (!*columns) {
		table_free(t);
		doc_add(d, NULL);
		return NULL;
	}
	memcpy(*columns, plain, nr * sizeof(*plain));
	*ctx = *rows;
	t->column = *columns;
	t->children_key = tree ? "frames" : NULL;
	t->ctx = ctx;
	return t;
}

void diff_list_add(struct doc *d, struct table *t, uint64_t nr, uint64_t nr_all)
{
	t->nr_groups = nr;
	if (nr < nr_all)
		table_note(t, "%s that changed (--top 0 shows all)",
			   fmt_many(nr_all - nr, "more row").s);
	doc_add(d, t);
}
