/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many heaps compared. */
#include "src/view/diff/diff_trend_view.h"

#include <string.h>

#include "src/analyze/estimate.h"
#include "src/document/doc_record.h"
#include "src/document/facts.h"
#include "src/view/diff/diff_view_priv.h"

/* ---- what was compared ----------------------------------------------------------------------- */

enum {
	CAPTURE_SOURCE,
	CAPTURE_PID,
	CAPTURE_COMM,
	CAPTURE_TAKEN,
	CAPTURE_COMPLETE,
	CAPTURE_SAMPLED,
	CAPTURE_TOTAL,
	CAPTURE_NR
};

static const struct column capture_columns[CAPTURE_NR] = {
	[CAPTURE_SOURCE] = JSON_COLUMN("source", UNIT_TEXT),
	[CAPTURE_PID] = JSON_COLUMN("pid", UNIT_NUMBER),
	[CAPTURE_COMM] = JSON_COLUMN("comm", UNIT_TEXT),
	[CAPTURE_TAKEN] = JSON_COLUMN("taken_realtime_ns", UNIT_TIME),
	[CAPTURE_COMPLETE] = JSON_COLUMN("complete", UNIT_BOOL),
	[CAPTURE_SAMPLED] = JSON_COLUMN("sampled", UNIT_BOOL),
	[CAPTURE_TOTAL] = JSON_COLUMN("total", UNIT_COUNT),
};

static void add_captures(struct diff_trend_view *v)
{
	struct table *t = table_new(TABLE_ROWS, "captures", NULL, capture_columns, CAPTURE_NR);

	for (unsigned i = 0; t && i < diff_sides(v->diff); i++) {
		const struct diff_trend_capture *c = &v->capture[i];

		table_row(t, 0, ROW_PLAIN, ROW_JSON_ONLY);
		table_set_text(t, CAPTURE_SOURCE, c->source);
		table_set(t, CAPTURE_PID, c->pid);
		table_set_text(t, CAPTURE_COMM, c->comm);
		table_set(t, CAPTURE_TAKEN, c->taken_realtime_ns);
		table_set(t, CAPTURE_COMPLETE, c->complete);
		table_set(t, CAPTURE_SAMPLED, c->sampled);
		table_set(t, CAPTURE_TOTAL,
			  (uint64_t)diff_total(v->diff, i)[diff_metric_of(v->key)]);
	}
	if (t)
		t->json_only = true;
	doc_add(&v->doc, t);
}

/* "a.pmm, b.pmm and 2 more" of those that are so. */
static unsigned list_captures(const struct diff_trend_view *v, struct str *s, bool sampled)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < diff_sides(v->diff); i++) {
		const struct diff_trend_capture *c = &v->capture[i];

		if (sampled ? !c->sampled : c->complete)
			continue;
		if (++nr <= 3)
			str_addf(s, "%s'%s'", nr > 1 ? ", " : "", c->source);
	}
	if (nr > 3)
		str_addf(s, " and %s", fmt_many(nr - 3, "more capture").s);
	return nr;
}

static void add_head(struct diff_trend_view *v)
{
	unsigned n = diff_sides(v->diff);
	struct table *t = facts_new(NULL);
	struct str s = STR_INIT;
	unsigned nr;

	nr = list_captures(v, &s, false);
	if (nr)
		facts_add(t, "!", "incomplete, as 'pmm report' says in full: %s",
			  t ? table_text(t, &s) : "");
	str_clear(&s);
	nr = list_captures(v, &s, true);
	if (nr)
		facts_add(t, "!", "sampled, so that figures are estimates: %s",
			  t ? table_text(t, &s) : "");
	for (unsigned i = 1; i < n; i++)
		if (strcmp(v->capture[i].comm, v->capture[0].comm) != 0) {
			facts_add(t, "!", "'%s' is of '%s', '%s' of '%s': two programs",
				  v->capture[0].source, v->capture[0].comm, v->capture[i].source,
				  v->capture[i].comm);
			break;
		}
	facts_add(t, "captures", "%u, from '%s' to '%s'; slopes are per %s", n,
		  v->capture[0].source, v->capture[n - 1].source,
		  v->per_hour ? "hour" : "capture");
	str_fini(&s);
	doc_add(&v->doc, t);
}

/* ---- rows ------------------------------------------------------------------------------------ */

enum {
	TREND_SLOPE_TEXT,
	TREND_SLOPE,
	TREND_FIT_TEXT,
	TREND_FIT,
	TREND_FIRST,
	TREND_LAST,
	TREND_VALUES,
	TREND_STEADY_TEXT,
	TREND_STEADY,
	TREND_NAME,
	TREND_LABEL = TREND_NAME + DIFF_NAME_NR,
	TREND_TAIL,
	TREND_NR
};

static const struct column trend_columns[TREND_NR] = {
	[TREND_SLOPE_TEXT] = { "slope_bytes", NULL, UNIT_SIGNED,
			       COLUMN_TEXT_ONLY | COLUMN_CHANGE },
	[TREND_SLOPE] = JSON_COLUMN("slope", UNIT_FLOAT),
	[TREND_FIT_TEXT] = TEXT_COLUMN("r2", UNIT_TEXT),
	[TREND_FIT] = JSON_COLUMN("r_squared", UNIT_FLOAT),
	[TREND_FIRST] = { "first", "first", UNIT_BYTES },
	[TREND_LAST] = { "last", "last", UNIT_BYTES },
	[TREND_VALUES] = { "values", NULL, UNIT_BARS },
	[TREND_STEADY_TEXT] = TEXT_COLUMN(NULL, UNIT_TEXT),
	[TREND_STEADY] = JSON_COLUMN("steady", UNIT_BOOL),
	[TREND_NAME] = DIFF_NAME_COLUMNS,
	[TREND_LABEL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
	[TREND_TAIL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_TAIL },
};

static void columns_of(const struct diff_trend_view *v, struct column *c, enum diff_list list)
{
	c[TREND_SLOPE_TEXT].title = v->per_hour ? "per hour" : "per capture";
	c[TREND_LABEL].title = diff_list_label[list];
	if (diff_in_bytes(v->key))
		return;
	c[TREND_SLOPE_TEXT].key = "slope_count";
	c[TREND_FIRST].unit = c[TREND_LAST].unit = UNIT_COUNT;
}

static void set_trend(struct table *t, const struct diff_trend *r)
{
	double slope = r->slope < 0 ? -r->slope : r->slope;
	int64_t rounded = (int64_t)estimate_round(slope);

	table_set(t, TREND_SLOPE_TEXT, (uint64_t)(r->slope < 0 ? -rounded : rounded));
	table_set_float(t, TREND_SLOPE, r->slope);
	table_setf(t, TREND_FIT_TEXT, "%.2f", r->r_squared);
	table_set_float(t, TREND_FIT, r->r_squared);
	table_set(t, TREND_FIRST, (uint64_t)r->first);
	table_set(t, TREND_LAST, (uint64_t)r->last);
	if (r->steady)
		table_set_const(t, TREND_STEADY_TEXT, "steady");
	table_set(t, TREND_STEADY, r->steady);
}

/* Negative ones, which only what no site accounts for can have, are no bars. */
static void set_values(struct table *t, struct diff_trend_view *v, enum diff_list list,
		       uint32_t row)
{
	enum diff_metric m = diff_metric_of(v->key);

	for (unsigned i = 0; i < diff_sides(v->diff); i++) {
		int64_t n = diff_values(v->diff, list, row, i)[m];

		v->values[i] = n > 0 ? (uint64_t)n : 0;
	}
	table_set_bars(t, TREND_VALUES, v->values);
}

static void add_frames(struct table *t, const struct diff_trend_view *v, uint32_t row)
{
	struct diff_name name;

	for (uint32_t at = diff_next_frame(v->diff, row, 0, &name); at;
	     at = diff_next_frame(v->diff, row, at, &name)) {
		table_row(t, 1, ROW_DIM, ROW_JSON_ONLY);
		diff_set_name(t, TREND_NAME, &name);
	}
}

static void fill(struct table *t, uint64_t i)
{
	const struct diff_list_rows *rows = t->ctx;
	struct diff_trend_view *v = rows->view;
	enum diff_list list = rows->list;
	const struct diff_trend *r = &v->rows[list].v[i];
	struct diff_name name = diff_name_of(v->diff, list, r->row);

	table_row(t, 0, r->steady ? ROW_STRONG : ROW_PLAIN, ROW_BOTH);
	set_trend(t, r);
	set_values(t, v, list, r->row);
	diff_set_name(t, TREND_NAME, &name);
	diff_set_label(t, TREND_LABEL, &name);
	if (list == DIFF_STACKS)
		add_frames(t, v, r->row);
}

static void add_list(struct diff_trend_view *v, enum diff_list list)
{
	static const char *const titles[DIFF_NR_LISTS] = {
		[DIFF_LINES] = "Lines by growth",
		[DIFF_FUNCTIONS] = "Functions by growth",
		[DIFF_MODULES] = "Modules by growth",
		[DIFF_STACKS] = "Stacks by growth",
	};
	const struct diff_trends *r = &v->rows[list];
	struct column *columns;
	struct table *t = diff_list_new(&v->doc, &(struct diff_list_rows){ v, list }, titles[list],
					trend_columns, TREND_NR, &columns);

	if (!t)
		return;
	columns_of(v, columns, list);
	t->bars_nr = diff_sides(v->diff);
	t->fill = fill;
	t->json_only = list == DIFF_STACKS || !r->nr;
	diff_list_add(&v->doc, t, r->nr, r->nr_all);
}

static void add_total(struct diff_trend_view *v)
{
	struct table *t = record_new("total"), *facts = facts_new(NULL);
	struct diff_trend total;
	struct fmt first, last, slope;

	if (diff_trend_total(v->diff, v->key, v->time, &total)) {
		v->doc.failed = true;
		table_free(t);
		table_free(facts);
		return;
	}
	record_float(t, "slope", UNIT_FLOAT, total.slope);
	record_float(t, "r_squared", UNIT_FLOAT, total.r_squared);
	record_count(t, "first", (uint64_t)total.first);
	record_count(t, "last", (uint64_t)total.last);
	record_bool(t, "steady", total.steady);
	doc_add(&v->doc, t);
	first = diff_amount(v->key, (uint64_t)total.first);
	last = diff_amount(v->key, (uint64_t)total.last);
	slope = diff_amount(v->key, estimate_round(total.slope < 0 ? -total.slope : total.slope));
	facts_add(facts, diff_key_name[v->key], "from %s to %s, %s%s per %s%s", first.s, last.s,
		  total.slope < 0 ? "-" : "+", slope.s, v->per_hour ? "hour" : "capture",
		  total.steady ? ": it grows steadily" : "");
	doc_add(&v->doc, facts);
}

int diff_trend_view_init(struct diff_trend_view *v)
{
	struct table *t;
	int rc = 0;

	v->doc = (struct doc){ .schema = DIFF_TREND_SCHEMA };
	memset(v->rows, 0, sizeof(v->rows));
	for (unsigned i = 0; i < DIFF_NR_LISTS && !rc; i++)
		rc = diff_trends_rank(v->diff, i, v->key, v->time, v->top, &v->rows[i]);
	if (rc)
		return rc;
	add_captures(v);
	t = record_new("selection");
	record_text(t, "sort", diff_key_name[v->key]);
	record_text(t, "unit", diff_in_bytes(v->key) ? "bytes" : "count");
	record_text(t, "per", v->per_hour ? "hour" : "capture");
	doc_add(&v->doc, t);
	add_head(v);
	add_total(v);
	for (unsigned i = 0; i < DIFF_NR_LISTS; i++)
		add_list(v, i);
	t = record_new("left_out");
	for (unsigned i = 0; i < DIFF_NR_LISTS; i++)
		record_count(t, diff_list_key[i], v->rows[i].nr_all - v->rows[i].nr);
	doc_add(&v->doc, t);
	return doc_error(&v->doc);
}

void diff_trend_view_fini(struct diff_trend_view *v)
{
	doc_fini(&v->doc);
	for (unsigned i = 0; i < DIFF_NR_LISTS; i++)
		diff_trends_fini(&v->rows[i]);
}
