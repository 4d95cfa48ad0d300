/*
 * Parts of the document on heap errors.
 */
#ifndef VIEW_CHECK_PART_H
#define VIEW_CHECK_PART_H

#include "src/view/check.h"

/* What ran, what was looked at and how, what must be known before believing it. */
void check_head(struct check_view *v);

/* "free", "delete[] with a size": enum pmm_release. */
const char *check_release_text(unsigned release);

#endif
