/*
 * Parts of the verdict's document.
 */
#ifndef VIEW_LEAKS_PART_H
#define VIEW_LEAKS_PART_H

#include "src/view/leaks.h"

/* "definite", ... as options and JSON have them. */
extern const char *const leaks_class_name[REACH_NR_CLASSES];

/* Add what ran, how was searched, sums, warnings. */
void leaks_head(struct leaks_view *v);

#endif
