/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One row for each power of two; the longest bar is that of the largest count. */
#include "src/view/trace/trace_histogram.h"

#define BAR_WIDTH	40

static const struct column columns[] = {
	{ "from_ns", "from", UNIT_DURATION },
	{ "below_ns", "below", UNIT_DURATION },
	{ "count", "count", UNIT_COUNT },
	TEXT_COLUMN("", UNIT_TEXT),
};

static void add_row(struct table *t, const uint64_t *slots, unsigned k, unsigned nr,
		    uint64_t largest)
{
	static const char bar[] = "########################################";
	unsigned width = (unsigned)((double)slots[k] * BAR_WIDTH / (double)largest + 0.5);

	_Static_assert(sizeof(bar) - 1 == BAR_WIDTH, "as long as it is wide");
	if (slots[k] && !width)
		width = 1;
	table_row(t, 0, ROW_PLAIN, ROW_BOTH);
	table_set(t, 0, k ? 1ull << k : 0);
	if (k + 1 < nr)
		table_set(t, 1, 2ull << k);
	table_set(t, 2, slots[k]);
	table_set_const(t, 3, bar + BAR_WIDTH - width);
}

void trace_histogram(struct doc *d, const char *key, const char *title, const uint64_t *slots,
		     unsigned nr)
{
	uint64_t largest = 0;
	unsigned first = nr, last = 0;
	struct table *t;

	for (unsigned k = 0; k < nr; k++) {
		if (!slots[k])
			continue;
		first = first < k ? first : k;
		last = k;
		largest = largest > slots[k] ? largest : slots[k];
	}
	if (!largest)
		return;
	t = table_new(TABLE_ROWS, key, title, columns, sizeof(columns) / sizeof(*columns));
	for (unsigned k = first; t && k <= last; k++)
		add_row(t, slots, k, nr, largest);
	doc_add(d, t);
}
