/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stack as rows below its headline, the frame that answers for it. In text the allocator's and
 * run-time library's frames inside that shrink to one line "via ..."; the callers follow. JSON has
 * every frame, with its role.
 */
#ifndef VIEW_STACK_VIEW_H
#define VIEW_STACK_VIEW_H

#include "src/names/names.h"
#include "src/document/table.h"

/* Where in the table things go. */
struct stack_columns {
	unsigned label;			/* and its tail behind it */
	/* the table has none of the following, and its JSON no rows of frames */
	bool text_only;
	unsigned frame;			/* first of REPORT_FRAME_COLUMNS */
	unsigned inlined, role;
	unsigned depth;			/* of the frames' rows; 0 = 1 */
	/* of several stacks of a row: its name, for column which_column; NULL = there is one */
	const char *which;
	unsigned which_column;
	uint32_t cut;			/* its outer frames that have no rows */
	uint32_t most;			/* others, of a stack that has such frames */
};

/*
 * Add the frames of `node`, `limit` callers at most in text (0 = all; `more` is then said behind
 * the number of those left out). `responsible`: its headline's, as names_responsible(); NULL = all
 * frames are shown.
 */
void stack_add(struct table *t, struct names *n, uint32_t node,
	       const struct frame_name *responsible, uint64_t limit, const char *more,
	       const struct stack_columns *c);

#endif
