/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Conditions on what grew between two heaps (--fail-on), and the rows that meet them.
 *
 *	CONDITION	[SCOPE.]FIGURE>LIMIT[,LIMIT]
 *	SCOPE		total (default), line, function, module, stack
 *	FIGURE		grow (what rows are sorted by), live, peak, allocated, calls, temporary,
 *			leaked
 *	LIMIT		a percentage of the first heap's figure, or a size; of calls and temporary a
 *			number
 *
 * It is met by what grew by more than each of its limits. What was 0 has grown by more than any
 * percentage.
 */
#ifndef ANALYZE_DIFF_DIFF_CONDITION_H
#define ANALYZE_DIFF_DIFF_CONDITION_H

#include "src/analyze/diff/diff.h"
#include "src/base/err.h"
#include "src/base/vec.h"

struct diff_condition {
	const char *text;	/* as it was given */
	bool total;
	enum diff_list list;	/* without `total` */
	bool by_sort;		/* `grow`: diff_condition_key() */
	enum diff_key key;
	bool has_percent, has_amount;
	double percent;
	uint64_t amount;
};

/* Something that grew by too much: a total, or a row. */
struct diff_failure {
	const struct diff_condition *condition;
	bool total;
	enum diff_list list;
	uint32_t row;
	enum diff_key key;
	int64_t before, after;
};

struct diff_failures {
	VEC(struct diff_failure) v;
};

/* The text must outlive the condition. 0, or -EINVAL with `e`. */
int diff_condition_parse(const char *text, struct diff_condition *out, struct err *e);

/* The key that a condition judges by, where rows are sorted by `sort`. */
enum diff_key diff_condition_key(const struct diff_condition *c, enum diff_key sort);

/* Has this grown by too much? */
bool diff_condition_met(const struct diff_condition *c, int64_t before, int64_t after);

/*
 * Append what of heaps 0 and 1 meets a condition, largest growth first; `most` rows at most, which
 * for a total are the lines that grew most. 0 or -ENOMEM.
 */
int diff_condition_judge(const struct diff_condition *c, const struct diff *d, enum diff_key sort,
			 unsigned most, struct diff_failures *out);

#endif
