/*
 * Parts of the document on heap errors.
 */
#ifndef VIEW_CHECK_PART_H
#define VIEW_CHECK_PART_H

#include "src/view/check.h"

#define CHECK_LINE_WIDTH	76	/* with what it is indented by: 80 */

/* What ran, what was looked at and how, what must be known before believing it. */
void check_head(struct check_view *v);

/* "use after free in parse, request.c:41": what it is and where it shows, for the eye that looks for a line to begin with. */
void check_title(struct str *s, struct names *n, const struct heap_finding *f);

/* "3 errors: 2 use after free, 1 double free". */
void check_counts(struct str *s, const struct heap *h);

/* "free", "delete[] with a size": enum pmm_release. */
const char *check_release_text(unsigned release);

#endif
