/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of a comparison's document: each adds its tables to v->doc, in order. Trouble stays there.
 */
#ifndef VIEW_DIFF_DIFF_VIEW_PRIV_H
#define VIEW_DIFF_DIFF_VIEW_PRIV_H

#include "src/base/str.h"
#include "src/view/diff/diff_view.h"

/* What must be known before the figures are believed. */
void diff_warnings(struct diff_view *v);
void diff_failed(struct diff_view *v);
void diff_lists(struct diff_view *v);

/* "lines", "line". */
extern const char *const diff_list_key[DIFF_NR_LISTS], *const diff_list_label[DIFF_NR_LISTS];

/* Of which list the rows of a table are, and of which comparison: its `ctx`. */
struct diff_list_rows {
	void *view;
	enum diff_list list;
};

/*
 * A table of a list, with `nr` columns like `plain` that can be changed in *columns; its caller
 * sets what fills it. NULL: no memory, as the document knows then.
 */
struct table *diff_list_new(struct doc *d, const struct diff_list_rows *rows, const char *title,
			    const struct column *plain, unsigned nr, struct column **columns);

/* Add it to the document: it has nr groups of rows of nr_all that changed. */
void diff_list_add(struct doc *d, struct table *t, uint64_t nr, uint64_t nr_all);

/* Are amounts of it bytes? Else they are counts. An amount in words. */
bool diff_in_bytes(enum diff_key key);
struct fmt diff_amount(enum diff_key key, uint64_t n);

/* Set JSON columns function, file, line, module, module_offset (in this order from `first`). */
#define DIFF_NAME_COLUMNS                                                                          \
	JSON_COLUMN("function", UNIT_TEXT), JSON_COLUMN("file", UNIT_TEXT),                        \
		JSON_COLUMN("line", UNIT_NUMBER), JSON_COLUMN("module", UNIT_TEXT),                \
		JSON_COLUMN("module_offset", UNIT_ADDRESS)
#define DIFF_NAME_NR 5
void diff_set_name(struct table *t, unsigned first, const struct diff_name *name);

/* "parse", "libx.so+0x12"; and behind it, in the column after `label`, "a.c:12" or "[app]". */
void diff_add_label(struct str *s, const struct diff_name *name);
void diff_set_label(struct table *t, unsigned label, const struct diff_name *name);

/* "+27.6%", "+3.1-fold", "new"; what has not changed is "". */
struct fmt diff_growth(int64_t before, int64_t after);

#endif
