/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of the verdict's document.
 */
#ifndef VIEW_LEAKS_PRIV_H
#define VIEW_LEAKS_PRIV_H

#include "src/view/leaks_view.h"

/* "definite", ... as options and JSON have them. */
extern const char *const leaks_class_name[REACH_NR_CLASSES];

/* Was every process searched that is known of? */
bool leaks_all_searched(const struct leaks_view *v);

/* The blocks that are possibly lost only since they may have been freed (LEAK_OR_FREED). */
uint64_t leaks_or_freed(const struct leaks *l);

/* Add what ran, how was searched, sums, warnings. */
void leaks_head(struct leaks_view *v);

#endif
