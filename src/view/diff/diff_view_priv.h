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
