/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences of two readings; counters only grow. */
#include "src/view/trace/trace_vmstat.h"

#include <string.h>


static const struct column columns[] = {
	{ "counter", "counter", UNIT_TEXT },
	{ "gained", "gained", UNIT_COUNT },
};

static bool begins(const char *name, const char *const *prefixes)
{
	while (*prefixes && strncmp(name, *prefixes, strlen(*prefixes)))
		prefixes++;
	return *prefixes;
}

void trace_vmstat(struct doc *d, const struct trace_result *t, const char *key, const char *title,
		  const char *const *prefixes)
{
	struct table *table = NULL;

	if (!t->before || !t->after)
		return;
	vec_each(&t->after->v, c) {
		const struct vmstat_counter *old = vmstat_find(t->before, c->name);

		if (!old || c->value <= old->value || !begins(c->name, prefixes))
			continue;
		if (!table) {
			table = table_new(TABLE_ROWS, key, title, columns,
					  sizeof(columns) / sizeof(*columns));
			if (!table)
				break;
			table_note(table, "counters of /proc/vmstat: of all processes, not of "
					  "the traced ones alone");
		}
		table_row(table, 0, ROW_PLAIN, ROW_BOTH);
		table_set_text(table, 0, c->name);
		table_set(table, 1, c->value - old->value);
	}
	if (table)
		doc_add(d, table);
}
