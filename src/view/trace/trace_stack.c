/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames by name: all of them for programs, those that matter for people. */
#include "src/view/trace/trace_stack.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/kernel/user_stack.h"
#include "src/names/names.h"
#include "src/view/trace/trace_view.h"

#define INLINED_MAX	16

static const char *basename_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "main (todo.c:12)", "0x1234 in libfoo.so". */
static void add_name(struct str *s, const struct stack_name *n)
{
	if (n->function)
		str_add(s, n->function);
	else
		str_addf(s, "0x%llx", (unsigned long long)n->address);
	if (n->file && n->line)
		str_addf(s, " (%s:%u)", basename_of(n->file), n->line);
	else if (n->module)
		str_addf(s, " in %s", basename_of(n->module));
}

static bool is_programs(const struct stack_name *n)
{
	return n->module && role_of(n->module, n->function) == FRAME_PROGRAM;
}

/* The first frame of the program's own; *found stays false where there is none. */
static void find_own(const uint64_t *frame, unsigned nr, struct stack_names *names,
		     struct stack_name *own, bool *found)
{
	struct stack_name name[INLINED_MAX];

	*found = false;
	for (unsigned i = 0; i < nr; i++) {
		unsigned n = stack_names_find(names, frame[i], name, INLINED_MAX);

		for (unsigned k = 0; k < n; k++) {
			if (!is_programs(&name[k]))
				continue;
			*own = name[k];
			*found = true;
			return;
		}
	}
}

/*
 * Without one: the caller of the innermost frame, which is but the call's entry. The dynamic
 * linker's own work has such stacks.
 */
static void find_innermost(const uint64_t *frame, unsigned nr, struct stack_names *names,
			   struct stack_name *out, bool *found)
{
	*found = nr && stack_names_find(names, frame[nr > 1], out, 1);
}

static void add_fields(struct event *e, const struct stack_name *n)
{
	event_object(e, NULL);
	if (n->function)
		event_text(e, "function", n->function);
	if (n->file)
		event_text(e, "file", n->file);
	if (n->line)
		event_u64(e, "line", UNIT_NUMBER, n->line);
	if (n->module)
		event_text(e, "module", n->module);
	event_u64(e, "address", UNIT_ADDRESS, n->address);
	event_u64(e, "inlined", UNIT_BOOL, n->inlined);
	event_end(e);
}

void trace_stack_event(struct event *e, struct str *text, const struct stack_table *stacks,
		       struct stack_names *names, uint32_t number)
{
	struct stack_name name[INLINED_MAX], own;
	unsigned nr, end;
	const uint64_t *frame = stack_table_find(stacks, number, &nr, &end);
	bool found;

	if (!nr)
		return;
	event_list(e, "stack");
	for (unsigned i = 0; i < nr; i++) {
		unsigned n = stack_names_find(names, frame[i], name, INLINED_MAX);

		for (unsigned k = 0; k < n; k++)
			add_fields(e, &name[k]);
	}
	event_end(e);
	if (end != USER_STACK_COMPLETE)
		event_text(e, "stack_end", user_stack_end_name(end));
	find_own(frame, nr, names, &own, &found);
	if (!found)
		return;
	str_add(text, " by ");
	add_name(text, &own);
}

/* ---- the result ---- */

static const struct column columns[] = {
	{ "event", "event", UNIT_TEXT },
	{ "count", "count", UNIT_COUNT },
	{ "size_bytes", "bytes", UNIT_BYTES, COLUMN_ZERO_BLANK },
	{ "total_ns", "time", UNIT_DURATION, COLUMN_ZERO_BLANK },
	{ "function", NULL, UNIT_TEXT, COLUMN_JSON_ONLY },
	{ "file", NULL, UNIT_TEXT, COLUMN_JSON_ONLY },
	{ "line", NULL, UNIT_NUMBER, COLUMN_JSON_ONLY },
	{ "module", NULL, UNIT_TEXT, COLUMN_JSON_ONLY },
	{ "address", NULL, UNIT_ADDRESS, COLUMN_JSON_ONLY },
	{ "inlined", NULL, UNIT_BOOL, COLUMN_JSON_ONLY },
	{ "stack_end", NULL, UNIT_TEXT, COLUMN_JSON_ONLY },
	{ NULL, "stack", UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
};

enum { EVENT, COUNT, BYTES, TIME, FUNCTION, FILE_, LINE, MODULE, ADDRESS, INLINED, END, LABEL };

static void add_frame(struct table *t, const struct stack_name *n, bool in_text)
{
	struct str label = STR_INIT;

	table_row(t, 1, ROW_DIM, in_text ? ROW_BOTH : ROW_JSON_ONLY);
	table_set_text(t, FUNCTION, n->function);
	table_set_text(t, FILE_, n->file);
	if (n->line)
		table_set(t, LINE, n->line);
	table_set_text(t, MODULE, n->module);
	table_set(t, ADDRESS, n->address);
	table_set(t, INLINED, n->inlined);
	add_name(&label, n);
	table_set_text(t, LABEL, table_text(t, &label));
	str_fini(&label);
}

/* All frames, of which people see the first `limit` (0 = all). */
static void add_frames(struct table *t, struct stack_names *names, const uint64_t *frame,
		       unsigned nr, uint64_t limit)
{
	struct stack_name name[INLINED_MAX];
	uint64_t shown = 0, hidden = 0;

	for (unsigned i = 0; i < nr; i++) {
		unsigned n = stack_names_find(names, frame[i], name, INLINED_MAX);

		for (unsigned k = 0; k < n; k++) {
			bool in_text = !limit || shown < limit;

			add_frame(t, &name[k], in_text);
			shown += in_text;
			hidden += !in_text;
		}
	}
	if (!hidden)
		return;
	table_row(t, 1, ROW_DIM, ROW_TEXT_ONLY);
	table_setf(t, LABEL, "... %s more %s", fmt_count(hidden).s,
		   fmt_agree(hidden, "caller", "callers"));
}

static void add_stack(struct table *t, const struct trace_result *r, const struct trace_row *row)
{
	struct stack_name own;
	struct str label = STR_INIT;
	unsigned nr, end;
	const uint64_t *frame = stack_table_find(r->stacks, row->id, &nr, &end);
	bool found;

	table_row(t, 0, ROW_PLAIN, ROW_BOTH);
	table_set_const(t, EVENT, trace_kinds[row->kind].name);
	table_set(t, COUNT, row->sum.events);
	if (trace_kinds[row->kind].bytes >= 0)
		table_set(t, BYTES, row->sum.bytes);
	if (row->sum.ns)
		table_set(t, TIME, row->sum.ns);
	find_own(frame, nr, r->names, &own, &found);
	if (!found)
		find_innermost(frame, nr, r->names, &own, &found);
	if (found)
		add_name(&label, &own);
	else
		str_add(&label, "not known");
	table_set_text(t, LABEL, table_text(t, &label));
	str_fini(&label);
	if (end != USER_STACK_COMPLETE)
		table_set_const(t, END, user_stack_end_name(end));
	add_frames(t, r->names, frame, nr, r->frames);
	if (end == USER_STACK_COMPLETE)
		return;
	table_row(t, 1, ROW_DIM, ROW_TEXT_ONLY);
	table_setf(t, LABEL, "(ends here: %s)", user_stack_end_text(end));
}

void trace_stack_section(struct doc *d, const struct trace_result *r)
{
	size_t nr = r->totals->stacks.nr;
	const struct trace_row **rows;
	struct table *t;

	if (!nr || !r->names)
		return;
	t = table_new(TABLE_TREE, "stacks", "Stacks", columns, sizeof(columns) / sizeof(*columns));
	rows = trace_rank(r->totals->stacks.v, nr, r->sort);
	if (t)
		t->children_key = "frames";
	if (t && !rows)
		t->failed = true;
	for (size_t i = 0; t && rows && i < nr && !(r->top && i == r->top); i++)
		add_stack(t, r, rows[i]);
	if (t && r->top && nr > r->top)
		table_note(t, "%s more %s (--top=0 shows all)", fmt_count(nr - r->top).s,
			   fmt_agree(nr - r->top, "stack", "stacks"));
	free(rows);
	doc_add(d, t);
}
