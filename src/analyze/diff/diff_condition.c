/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conditions on what grew: their grammar, and what meets them. */
#include "src/analyze/diff/diff_condition.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fmt.h"

#define PART_BYTES	40	/* of the longest word */

static int refuse(const char *text, struct err *e, const char *what)
{
	err_set(e, -EINVAL, "'%s' is no condition: %s", text, what);
	err_hint(e, "as in 'grow>5%%,1M', 'line.live>64K' or 'leaked>0'; see doc/diff.md");
	return -EINVAL;
}

static int parse_scope(const char *word, struct diff_condition *c)
{
	static const struct {
		const char *name;
		bool total;
		enum diff_list list;
	} scopes[] = {
		{ "total", true, DIFF_LINES },
		{ "line", false, DIFF_LINES },
		{ "function", false, DIFF_FUNCTIONS },
		{ "module", false, DIFF_MODULES },
		{ "stack", false, DIFF_STACKS },
	};

	for (size_t i = 0; i < sizeof(scopes) / sizeof(*scopes); i++)
		if (!strcmp(word, scopes[i].name)) {
			c->total = scopes[i].total;
			c->list = scopes[i].list;
			return 0;
		}
	return -EINVAL;
}

static int parse_figure(const char *word, struct diff_condition *c)
{
	c->by_sort = !strcmp(word, "grow");
	if (c->by_sort)
		return 0;
	for (unsigned i = 0; i < DIFF_NR_KEYS; i++)
		if (!strcmp(word, diff_key_name[i])) {
			c->key = i;
			return 0;
		}
	return -EINVAL;
}

static int parse_percent(const char *word, double *out)
{
	char *end;

	/* strtod() takes more: signs, infinities, hexadecimal */
	if (strspn(word, "0123456789.") + 1 != strlen(word))
		return -EINVAL;
	*out = strtod(word, &end);
	return end > word && !strcmp(end, "%") && isfinite(*out) ? 0 : -EINVAL;
}

/* A size is a number of calls, too: 5K are 5120. */
static int parse_limit(const char *word, struct diff_condition *c)
{
	size_t bytes = strlen(word);

	if (bytes && word[bytes - 1] == '%') {
		if (c->has_percent)
			return -EINVAL;
		c->has_percent = true;
		return parse_percent(word, &c->percent);
	}
	if (c->has_amount)
		return -EINVAL;
	c->has_amount = true;
	return fmt_parse_size(word, &c->amount, NULL);
}

/* Take the word up to one of `ends` off *at, which is behind it then. */
static bool next_word(const char **at, const char *ends, char word[PART_BYTES])
{
	size_t bytes = strcspn(*at, ends);

	if (!bytes || bytes >= PART_BYTES)
		return false;
	memcpy(word, *at, bytes);
	word[bytes] = '\0';
	*at += bytes;
	return true;
}

int diff_condition_parse(const char *text, struct diff_condition *out, struct err *e)
{
	const char *at = text, *above = strchr(text, '>'), *dot = strchr(text, '.');
	char word[PART_BYTES];

	*out = (struct diff_condition){ .text = text, .total = true };
	if (!above)
		return refuse(text, e, "it has no '>' with a limit behind it");
	if (dot && dot < above) {
		if (!next_word(&at, ".", word) || parse_scope(word, out))
			return refuse(text, e, "before the '.' is none of total, line, function, "
					       "module, stack");
		at++;
	}
	if (!next_word(&at, ">", word) || parse_figure(word, out))
		return refuse(text, e, "before the '>' is none of grow, live, peak, allocated, "
				       "calls, temporary, leaked");
	do {
		at++;
		if (!next_word(&at, ",", word) || parse_limit(word, out))
			return refuse(text, e, "its limits are one percentage, one size, or both "
					       "with a ',' between");
	} while (*at);
	return 0;
}

enum diff_key diff_condition_key(const struct diff_condition *c, enum diff_key sort)
{
	return c->by_sort ? sort : c->key;
}

bool diff_condition_met(const struct diff_condition *c, int64_t before, int64_t after)
{
	if (after <= before)
		return false;
	if (c->has_amount && (uint64_t)after - (uint64_t)before <= c->amount)
		return false;
	return !c->has_percent || before <= 0 ||
	       ((double)after - (double)before) * 100 > c->percent * (double)before;
}

/* Rows of a list that grew; those that meet the condition, or all of a total that does. */
static int judge_rows(const struct diff_condition *c, const struct diff *d, enum diff_list list,
		      enum diff_key key, unsigned most, struct diff_failures *out)
{
	enum diff_metric m = diff_metric_of(key);
	struct diff_ranking r;
	unsigned nr = 0;
	int rc = diff_rank(d, list, key, 0, 1, 0, &r);

	for (uint32_t i = 0; !rc && i < r.nr && (!most || nr < most); i++) {
		int64_t before = diff_values(d, list, r.row[i], 0)[m],
			after = diff_values(d, list, r.row[i], 1)[m];

		if (after <= before || (!c->total && !diff_condition_met(c, before, after)))
			continue;
		rc = vec_push(&out->v, (struct diff_failure){ c, false, list, r.row[i], key,
							       before, after });
		nr++;
	}
	diff_ranking_fini(&r);
	return rc;
}

int diff_condition_judge(const struct diff_condition *c, const struct diff *d, enum diff_key sort,
			 unsigned most, struct diff_failures *out)
{
	enum diff_key key = diff_condition_key(c, sort);
	enum diff_metric m = diff_metric_of(key);
	int64_t before = diff_total(d, 0)[m], after = diff_total(d, 1)[m];

	if (c->total && !diff_condition_met(c, before, after))
		return 0;
	if (c->total && vec_push(&out->v, (struct diff_failure){ c, true, DIFF_LINES, 0, key,
								 before, after }))
		return -ENOMEM;
	return judge_rows(c, d, c->list, key, most, out);
}
