/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `pmm trace --list`: the events, and whether they can be seen on this machine. */
#include "src/view/trace/trace_view.h"

#include "src/view/trace/trace_line.h"

static const struct column columns[] = {
	{ "event", "event", UNIT_TEXT },
	{ "works", "here", UNIT_TEXT },
	{ "replaces", "instead of", UNIT_TEXT },
	{ "shows", "shows", UNIT_TEXT, COLUMN_LABEL },
	JSON_COLUMN("why", UNIT_TEXT),
	JSON_COLUMN("remedy", UNIT_TEXT),
};

static const char *const status_words[] = {
	[KERNEL_GROUP_UNUSED] = "unknown",
	[KERNEL_GROUP_WORKS] = "yes",
	[KERNEL_GROUP_PARTLY] = "partly",
	[KERNEL_GROUP_FAILED] = "no",
};

/* The worst of the groups that see a class. */
static const struct kernel_group_state *worst_of(uint32_t of,
						 const struct kernel_group_state *groups)
{
	const struct kernel_group_state *worst = NULL;

	for (int i = 0; i < KERNEL_NR_GROUPS; i++)
		if (of >> i & 1 && (!worst || groups[i].status > worst->status))
			worst = &groups[i];
	return worst;
}

void trace_list_document(struct doc *d, const struct kernel_group_state *groups)
{
	struct table *t = table_new(TABLE_ROWS, "events", NULL, columns,
				    sizeof(columns) / sizeof(*columns));

	d->schema = "pmm-trace-list/1.0";
	for (int i = 0; t && i < EVENT_NR_CLASSES; i++) {
		const struct event_class_info *c = &event_classes[i];
		const struct kernel_group_state *s = worst_of(c->groups, groups);

		table_row(t, 0, ROW_PLAIN, ROW_BOTH);
		table_set_const(t, 0, c->name);
		table_set_const(t, 1, s ? status_words[s->status] : "yes");
		table_set_const(t, 2, c->replaces);
		table_set_const(t, 3, c->shows);
		if (!s || !*s->why)
			continue;
		table_set_text(t, 4, s->why);
		table_set_const(t, 5, s->remedy);
		table_note(t, "%s: %s%s%s", c->name, s->why, s->remedy ? "; " : "",
			   s->remedy ? s->remedy : "");
	}
	doc_add(d, t);
}
