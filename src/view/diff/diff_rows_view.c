/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two heaps compared: what changed by line, function, module and stack, and what grew too much. */
#include "src/document/doc_record.h"
#include "src/document/facts.h"
#include "src/view/diff/diff_view_priv.h"
#include "src/view/report_priv.h"

/* ---- lists ----------------------------------------------------------------------------------- */

enum {
	ROW_CHANGE_BYTES,
	ROW_CHANGE_COUNT,
	ROW_BEFORE_BYTES,
	ROW_AFTER_BYTES,
	ROW_BEFORE_COUNT,
	ROW_AFTER_COUNT,
	ROW_STATUS,
	ROW_NAME,
	ROW_LABEL = ROW_NAME + DIFF_NAME_NR,
	ROW_TAIL,
	ROW_NR
};

static const char *const titles[DIFF_NR_LISTS][DIFF_NR_KEYS] = {
	[DIFF_LINES] = { "Lines by change of live bytes", "Lines by change of bytes at the peak",
			 "Lines by change of bytes allocated", "Lines by change of calls",
			 "Lines by change of temporary allocations",
			 "Lines by change of lost bytes" },
	[DIFF_FUNCTIONS] = { "Functions by change of live bytes",
			     "Functions by change of bytes at the peak",
			     "Functions by change of bytes allocated",
			     "Functions by change of calls",
			     "Functions by change of temporary allocations",
			     "Functions by change of lost bytes" },
	[DIFF_MODULES] = { "Modules by change of live bytes",
			   "Modules by change of bytes at the peak",
			   "Modules by change of bytes allocated", "Modules by change of calls",
			   "Modules by change of temporary allocations",
			   "Modules by change of lost bytes" },
	[DIFF_STACKS] = { "Stacks by change of live bytes", "Stacks by change of bytes at the peak",
			  "Stacks by change of bytes allocated", "Stacks by change of calls",
			  "Stacks by change of temporary allocations",
			  "Stacks by change of lost bytes" },
};

static const struct column row_columns[ROW_NR] = {
	[ROW_CHANGE_BYTES] = { "change_bytes", "change", UNIT_SIGNED, COLUMN_CHANGE },
	[ROW_CHANGE_COUNT] = { "change_count", "blocks", UNIT_SIGNED, COLUMN_CHANGE },
	[ROW_BEFORE_BYTES] = { "before_bytes", "before", UNIT_BYTES },
	[ROW_AFTER_BYTES] = { "after_bytes", "after", UNIT_BYTES },
	[ROW_BEFORE_COUNT] = JSON_COLUMN("before_count", UNIT_COUNT),
	[ROW_AFTER_COUNT] = JSON_COLUMN("after_count", UNIT_COUNT),
	[ROW_STATUS] = { "status", NULL, UNIT_TEXT },
	[ROW_NAME] = DIFF_NAME_COLUMNS,
	[ROW_LABEL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
	[ROW_TAIL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_TAIL },
};

static void columns_of(struct column *c, enum diff_list list, enum diff_key key)
{
	c[ROW_LABEL].title = diff_list_label[list];
	if (key == DIFF_ALLOCATED || key == DIFF_CALLS || key == DIFF_TEMPORARIES)
		c[ROW_CHANGE_COUNT].title = "calls";
	if (diff_bytes_of(key) != DIFF_NR_METRICS)
		return;
	c[ROW_CHANGE_BYTES].flags |= COLUMN_JSON_ONLY;
	c[ROW_BEFORE_BYTES].flags |= COLUMN_JSON_ONLY;
	c[ROW_AFTER_BYTES].flags |= COLUMN_JSON_ONLY;
	c[ROW_BEFORE_COUNT] = (struct column){ "before_count", "before", UNIT_COUNT };
	c[ROW_AFTER_COUNT] = (struct column){ "after_count", "after", UNIT_COUNT };
}

static const char *status_of(int64_t before, int64_t after)
{
	return !before ? "new" : !after ? "gone" : after > before ? "grew" : "shrank";
}

static void set_figures(struct table *t, const struct diff_view *v, const int64_t *a,
			const int64_t *b)
{
	enum diff_metric bytes = diff_bytes_of(v->opt.key), count = diff_count_of(v->opt.key),
			 m = diff_metric_of(v->opt.key);

	if (bytes != DIFF_NR_METRICS) {
		table_set(t, ROW_CHANGE_BYTES, (uint64_t)(b[bytes] - a[bytes]));
		table_set(t, ROW_BEFORE_BYTES, (uint64_t)a[bytes]);
		table_set(t, ROW_AFTER_BYTES, (uint64_t)b[bytes]);
	}
	table_set(t, ROW_CHANGE_COUNT, (uint64_t)(b[count] - a[count]));
	table_set(t, ROW_BEFORE_COUNT, (uint64_t)a[count]);
	table_set(t, ROW_AFTER_COUNT, (uint64_t)b[count]);
	table_set_const(t, ROW_STATUS, status_of(a[m], b[m]));
}

static bool is_headline(const struct diff_name *head, const struct diff_name *name)
{
	return head->function == name->function && head->file == name->file &&
	       head->line == name->line && head->offset == name->offset;
}

/* The innermost frame is not shown again when it answers for the stack. */
static void add_frames(struct table *t, const struct diff_view *v, uint32_t row,
		       const struct diff_name *head)
{
	struct diff_name name;
	uint64_t nr = 0;

	for (uint32_t at = diff_next_frame(v->diff, row, 0, &name); at;
	     at = diff_next_frame(v->diff, row, at, &name), nr++) {
		bool shown = nr ? !v->opt.depth || nr < v->opt.depth
				: !is_headline(head, &name);

		table_row(t, 1, ROW_DIM, shown ? ROW_BOTH : ROW_JSON_ONLY);
		diff_set_name(t, ROW_NAME, &name);
		diff_set_label(t, ROW_LABEL, &name);
	}
	if (v->opt.depth && nr > v->opt.depth) {
		table_row(t, 1, ROW_DIM, ROW_TEXT_ONLY);
		table_setf(t, ROW_LABEL, "%s (--depth 0 shows all)",
			   fmt_many(nr - v->opt.depth, "more frame").s);
	}
}

static void fill(struct table *t, uint64_t i)
{
	const struct diff_list_rows *rows = t->ctx;
	const struct diff_view *v = rows->view;
	enum diff_list list = rows->list;
	uint32_t row = v->rows[list].row[i];
	struct diff_name name = diff_name_of(v->diff, list, row);

	table_row(t, 0, list == DIFF_STACKS ? ROW_STRONG : ROW_PLAIN, ROW_BOTH);
	set_figures(t, v, diff_values(v->diff, list, row, 0), diff_values(v->diff, list, row, 1));
	diff_set_name(t, ROW_NAME, &name);
	diff_set_label(t, ROW_LABEL, &name);
	if (list == DIFF_STACKS)
		add_frames(t, v, row, &name);
}

static void add_list(struct diff_view *v, enum diff_list list)
{
	const struct diff_ranking *r = &v->rows[list];
	struct column *columns;
	struct table *t = diff_list_new(&v->doc, &(struct diff_list_rows){ v, list },
					titles[list][v->opt.key], row_columns, ROW_NR, &columns);

	if (!t)
		return;
	columns_of(columns, list, v->opt.key);
	t->fill = fill;
	t->json_only = !r->nr;
	diff_list_add(&v->doc, t, r->nr, r->nr_all);
}

static void add_nothing(struct diff_view *v)
{
	struct table *t = facts_new(NULL);

	facts_add(t, "nothing", "no line, function, module or stack has changed by '--sort %s'",
		  diff_key_name[v->opt.key]);
	doc_add(&v->doc, t);
}

void diff_lists(struct diff_view *v)
{
	struct table *t;
	bool any = false;

	for (unsigned i = 0; i < DIFF_NR_LISTS; i++) {
		any |= v->rows[i].nr_all != 0;
		add_list(v, i);
	}
	if (!any)
		add_nothing(v);
	t = record_new("left_out");
	for (unsigned i = 0; i < DIFF_NR_LISTS; i++)
		record_count(t, diff_list_key[i], v->rows[i].nr_all - v->rows[i].nr);
	doc_add(&v->doc, t);
}

/* ---- what grew too much ---------------------------------------------------------------------- */

enum {
	FAILED_CONDITION,
	FAILED_SCOPE,
	FAILED_WHAT,
	FAILED_UNIT,
	FAILED_BEFORE,
	FAILED_AFTER,
	FAILED_CHANGE,
	FAILED_NAME,
	FAILED_LABEL = FAILED_NAME + DIFF_NAME_NR,
	FAILED_NR
};

static const struct column failed_columns[FAILED_NR] = {
	[FAILED_CONDITION] = JSON_COLUMN("condition", UNIT_TEXT),
	[FAILED_SCOPE] = JSON_COLUMN("scope", UNIT_TEXT),
	[FAILED_WHAT] = JSON_COLUMN("what", UNIT_TEXT),
	[FAILED_UNIT] = JSON_COLUMN("unit", UNIT_TEXT),
	[FAILED_BEFORE] = JSON_COLUMN("before", UNIT_COUNT),
	[FAILED_AFTER] = JSON_COLUMN("after", UNIT_COUNT),
	[FAILED_CHANGE] = JSON_COLUMN("change", UNIT_SIGNED),
	[FAILED_NAME] = DIFF_NAME_COLUMNS,
	[FAILED_LABEL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
};

/* "live grew by 1.20 MiB (+6.0%), from 20.0 MiB to 21.2 MiB: more than 'grow>5%,1M' allows". */
static void add_sentence(struct str *s, const struct diff_failure *f, const struct diff_name *name)
{
	struct fmt growth = diff_growth(f->before, f->after);

	if (name) {
		diff_add_label(s, name);
		if (name->function && name->file && name->line)
			str_addf(s, " (%s:%u)", report_basename(name->file), name->line);
		str_add(s, ": ");
	}
	str_addf(s, "%s grew by %s", diff_key_name[f->key],
		 diff_amount(f->key, (uint64_t)(f->after - f->before)).s);
	if (f->before)
		str_addf(s, " (%s)", growth.s);
	str_addf(s, ", from %s", diff_amount(f->key, (uint64_t)f->before).s);
	str_addf(s, " to %s", diff_amount(f->key, (uint64_t)f->after).s);
	if (!f->condition->total || f->total)
		str_addf(s, ": '%s'", f->condition->text);
}

static void add_failure(struct table *t, const struct diff_view *v, const struct diff_failure *f)
{
	static const char *const scope[DIFF_NR_LISTS] = { "line", "function", "module", "stack" };
	struct diff_name name = { 0 };
	struct str s = STR_INIT;

	if (!f->total)
		name = diff_name_of(v->diff, f->list, f->row);
	add_sentence(&s, f, f->total ? NULL : &name);
	table_row(t, f->condition->total && !f->total, f->total ? ROW_STRONG : ROW_PLAIN, ROW_BOTH);
	table_sentence(t);
	table_set_text(t, FAILED_CONDITION, f->condition->text);
	table_set_const(t, FAILED_SCOPE, f->total ? "total" : scope[f->list]);
	table_set_const(t, FAILED_WHAT, diff_key_name[f->key]);
	table_set_const(t, FAILED_UNIT, diff_in_bytes(f->key) ? "bytes" : "count");
	table_set(t, FAILED_BEFORE, (uint64_t)f->before);
	table_set(t, FAILED_AFTER, (uint64_t)f->after);
	table_set(t, FAILED_CHANGE, (uint64_t)(f->after - f->before));
	diff_set_name(t, FAILED_NAME, &name);
	table_set_text(t, FAILED_LABEL, table_text(t, &s));
	str_fini(&s);
}

void diff_failed(struct diff_view *v)
{
	struct table *t;

	if (!v->opt.judged)
		return;
	t = table_new(TABLE_ROWS, "failed", "Grew by more than --fail-on allows", failed_columns,
		      FAILED_NR);
	vec_each(&v->failures->v, f)
		if (t)
			add_failure(t, v, f);
	if (t)
		t->json_only = !v->failures->v.nr;
	doc_add(&v->doc, t);
}
