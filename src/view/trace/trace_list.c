/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `pmm trace --list`: the events, and whether they can be seen on this machine. */
#include "src/view/trace/trace_view.h"

#include <string.h>

#include "src/view/trace/trace_line.h"

static const struct column columns[] = {
	{ "event", "event", UNIT_TEXT },
	{ "works", "here", UNIT_TEXT },
	JSON_COLUMN("replaces", UNIT_TEXT),
	JSON_COLUMN("shows", UNIT_TEXT),
	JSON_COLUMN("why", UNIT_TEXT),
	JSON_COLUMN("remedy", UNIT_TEXT),
	JSON_COLUMN("by", UNIT_TEXT),
	/* what is broken into lines where room is short comes last */
	TEXT_COLUMN("shows (and stands in for)", UNIT_TEXT),
};

static const char *const status_words[] = {
	[KERNEL_GROUP_UNUSED] = "unknown",
	[KERNEL_GROUP_WORKS] = "yes",
	[KERNEL_GROUP_PARTLY] = "partly",
	[KERNEL_GROUP_FAILED] = "no",
};

/* What is traced without a list of events. */
static void add_default(struct table *t)
{
	struct str names = STR_INIT;
	uint32_t dear = 0;

	for (int i = 0; i < EVENT_NR_CLASSES; i++)
		dear |= (uint32_t)event_classes[i].dear << i;
	event_classes_names(&names, dear);
	table_note(t, "without EVENTS: all but %s, which cost more", str_text(&names));
	str_fini(&names);
}

/* What is seen without programs in the kernel, and what would help. */
static void add_form(struct table *t, const struct trace_list_form *form)
{
	const struct kernel_group_state *why = &form->why;
	bool perf = form->name[0] == 'p';

	if (!*why->why)
		return;
	if (perf)
		table_note(t, "by perf events, which see given processes of one's own "
			      "('-- COMMAND', '--pid PID') alone");
	else
		table_note(t, "no events can be seen: %s%s%s; what counters of the kernel have "
			      "gained is shown in their place",
			   form->no_perf.why, *form->no_perf.remedy ? "; " : "",
			   form->no_perf.remedy);
	table_note(t, "%s%s%s", why->why, *why->remedy ? "; " : "", why->remedy);
}

/* One cause stands in the way of many classes: it is said once; `said`: a remedy that was. */
static void add_notes(struct table *t, const struct kernel_group_state *groups, const char *said)
{
	struct event_lack lacks[EVENT_NR_CLASSES];
	unsigned nr = event_classes_lacks(UINT32_MAX, groups, lacks);

	for (unsigned i = 0; i < nr; i++) {
		const struct kernel_group_state *s = lacks[i].state;
		struct str names = STR_INIT;

		event_classes_names(&names, lacks[i].classes);
		if (*s->remedy && strcmp(s->remedy, said) != 0)
			table_note(t, "%s: %s; %s", str_text(&names), s->why, s->remedy);
		else
			table_note(t, "%s: %s", str_text(&names), s->why);
		str_fini(&names);
	}
}

struct table *trace_list_table(const struct kernel_group_state *groups,
			       const struct trace_list_form *form, const char *title)
{
	struct table *t = table_new(TABLE_ROWS, "events", title, columns,
				    sizeof(columns) / sizeof(*columns));

	if (!t)
		return NULL;
	for (int i = 0; i < EVENT_NR_CLASSES; i++) {
		const struct event_class_info *c = &event_classes[i];
		enum kernel_group_status status;
		const struct kernel_group_state *s = event_class_state(i, groups, &status);

		table_row(t, 0, ROW_PLAIN, ROW_BOTH);
		table_set_const(t, 0, c->name);
		table_set_const(t, 1, status_words[status]);
		table_set_const(t, 2, c->replaces);
		table_set_const(t, 3, c->shows);
		if (*c->replaces)
			table_setf(t, 7, "%s (%s)", c->shows, c->replaces);
		else
			table_set_const(t, 7, c->shows);
		if (c->groups && (status == KERNEL_GROUP_WORKS || status == KERNEL_GROUP_PARTLY))
			table_set_const(t, 6, form->name);
		if (!s || !*s->why)
			continue;
		table_set_text(t, 4, s->why);
		if (*s->remedy)
			table_set_text(t, 5, s->remedy);
	}
	add_default(t);
	add_form(t, form);
	add_notes(t, groups, form->why.remedy);
	return t;
}

void trace_list_document(struct doc *d, const struct kernel_group_state *groups,
			 const struct trace_list_form *form)
{
	d->schema = "pmm-trace-list/1.0";
	doc_add(d, trace_list_table(groups, form, NULL));
}
