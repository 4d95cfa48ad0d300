/*
 * Parts of the document on heap errors.
 */
#ifndef VIEW_CHECK_PART_H
#define VIEW_CHECK_PART_H

#include "src/view/check.h"

/* Of the table of errors. */
enum found_column {
	FOUND_TYPE,
	FOUND_BY,
	FOUND_ACCESS,
	FOUND_PLACE,
	FOUND_WHAT,
	FOUND_COUNT,
	FOUND_FIRST,
	FOUND_LAST,
	FOUND_SINCE,
	FOUND_THREAD,
	FOUND_THREAD_NAME,
	FOUND_VALGRIND_THREAD,
	FOUND_ADDRESS,
	FOUND_SIZE,
	FOUND_BLOCK,
	FOUND_BLOCK_BYTES,
	FOUND_KIND,
	FOUND_RELEASE,
	FOUND_FUNCTION,
	FOUND_OTHER,
	FOUND_SAID,
	FOUND_GUARDED,
	FOUND_AGAIN,
	FOUND_BYTES,
	FOUND_ALLOC_THREAD,
	FOUND_ALLOC_THREAD_NAME,
	FOUND_ALLOC_TIME,
	FOUND_FREE_THREAD,
	FOUND_FREE_THREAD_NAME,
	FOUND_FREE_TIME,
	FOUND_PARENT,
	FOUND_STACK,
	FOUND_FRAME,
	FOUND_INLINED = FOUND_FRAME + 6,
	FOUND_ROLE,
	FOUND_LABEL,
	FOUND_TAIL,
	FOUND_NR,
};

extern const struct column check_found_columns[FOUND_NR];

#define CHECK_LINE_WIDTH	76	/* with what it is indented by: 80 */

/* An error's own row: all but the text. access_bytes: of the access, by its instruction; 0 = not known. */
void check_figures(struct table *t, const struct check_view *v, const struct heap_finding *f, unsigned access_bytes);

/* What ran, what was looked at and how, what must be known before believing it. */
void check_head(struct check_view *v);

/* "use after free in parse, request.c:41": what it is and where it shows, for the eye that looks for a line to begin with. */
void check_title(struct str *s, struct names *n, const struct heap_finding *f, bool again);

/* Was its damage told before, by a sweep? */
static inline bool check_again(const struct check_view *v, const struct heap_finding *f)
{
	return v->opt.again && v->opt.again(v->opt.again_ctx, f);
}

/* "20 ms after the start", as exactly as is known. */
void check_when(struct str *s, const struct heap *h, uint64_t ns);

/* "3 errors: 2 use after free, 1 double free". */
void check_counts(struct str *s, const struct heap *h);

/* "free", "delete[] with a size": enum pmm_release. */
const char *check_release_text(unsigned release);

#endif
