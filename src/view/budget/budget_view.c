/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heaps judged by budgets. */
#include "src/view/budget/budget_view.h"

#include "src/base/fmt.h"
#include "src/document/doc_record.h"
#include "src/document/facts.h"
#include "src/view/report_priv.h"

#define CALLERS	4u	/* shown of a stack */

enum {
	BUDGET_STATE,
	BUDGET_STATE_TEXT,
	BUDGET_CAPTURE,
	BUDGET_SECTION,
	BUDGET_KEY,
	BUDGET_UNIT,
	BUDGET_LIMIT,
	BUDGET_VALUE,
	BUDGET_SUPPRESSED_BYTES,
	BUDGET_SUPPRESSED_BLOCKS,
	BUDGET_WHY,
	BUDGET_LINE,
	BUDGET_FRAME,
	BUDGET_LABEL = BUDGET_FRAME + 6,
	BUDGET_TAIL,
	BUDGET_NR
};

static const struct column columns[BUDGET_NR] = {
	[BUDGET_STATE] = JSON_COLUMN("state", UNIT_TEXT),
	[BUDGET_STATE_TEXT] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY },
	[BUDGET_CAPTURE] = JSON_COLUMN("capture", UNIT_TEXT),
	[BUDGET_SECTION] = JSON_COLUMN("section", UNIT_TEXT),
	[BUDGET_KEY] = JSON_COLUMN("key", UNIT_TEXT),
	[BUDGET_UNIT] = JSON_COLUMN("unit", UNIT_TEXT),
	[BUDGET_LIMIT] = JSON_COLUMN("limit", UNIT_COUNT),
	[BUDGET_VALUE] = JSON_COLUMN("value", UNIT_COUNT),
	[BUDGET_SUPPRESSED_BYTES] = JSON_COLUMN("suppressed_bytes", UNIT_BYTES),
	[BUDGET_SUPPRESSED_BLOCKS] = JSON_COLUMN("suppressed_blocks", UNIT_COUNT),
	[BUDGET_WHY] = JSON_COLUMN("why", UNIT_TEXT),
	[BUDGET_LINE] = JSON_COLUMN("budget_line", UNIT_NUMBER),
	[BUDGET_FRAME] = REPORT_FRAME_COLUMNS,
	[BUDGET_LABEL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
	[BUDGET_TAIL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_TAIL },
};

const char *budget_state_name(enum budget_state state)
{
	static const char *const name[BUDGET_NR_STATES] = {
		[BUDGET_KEPT] = "kept",
		[BUDGET_EXCEEDED] = "exceeded",
		[BUDGET_NOT_MEASURED] = "not_measured",
	};

	return name[state];
}

static struct fmt amount(const struct budget *b, uint64_t n)
{
	return budget_in_bytes(b->figure) ? fmt_bytes(n) : fmt_count(n);
}

void budget_text(struct str *s, const struct budget_result *r)
{
	const struct budget *b = r->budget;

	if (r->state != BUDGET_NOT_MEASURED)
		str_add(s, amount(b, r->value).s);
	switch (r->state) {
	case BUDGET_KEPT:
		str_addf(s, " of %s", amount(b, b->limit).s);
		if (r->absent)
			str_addf(s, " (no stack has a %s '%s')",
				 b->scope == BUDGET_FUNCTION ? "function" : "module", b->name);
		break;
	case BUDGET_EXCEEDED:
		str_addf(s, ", %s", amount(b, r->value - b->limit).s);
		if (b->limit && r->value - b->limit < b->limit)
			str_addf(s, " (%s)", fmt_percent(r->value - b->limit, b->limit).s);
		str_addf(s, " over %s", amount(b, b->limit).s);
		break;
	case BUDGET_NOT_MEASURED:
		if (r->unknown)
			str_add(s, "no figure");
		else if (!r->value)
			str_add(s, "none that was recorded");
		else
			str_addf(s, "at least %s", amount(b, r->value).s);
		str_addf(s, " (%s allowed): %s", amount(b, b->limit).s, str_text(&r->why));
		break;
	}
	if (budget_has_suppressed(r))
		str_addf(s, " (%s in %s suppressed)", fmt_many(r->suppressed.bytes, "byte").s,
			 fmt_many(r->suppressed.blocks, "block").s);
}

void budget_view_init(struct budget_view *v)
{
	*v = (struct budget_view){ .doc.schema = BUDGET_SCHEMA };
	v->table = table_new(TABLE_TREE, "budgets", NULL, columns, BUDGET_NR);
	if (v->table)
		v->table->children_key = "stacks";
	else
		v->doc.failed = true;
}

static void add_callers(struct table *t, const struct heap *h, struct names *n, uint32_t node)
{
	unsigned shown = 0;

	for (node = h->nodes[node].parent; node && shown < CALLERS;
	     node = h->nodes[node].parent) {
		unsigned nr;
		const struct frame_name *f = names_find(n, node, &nr);

		for (unsigned i = 0; i < nr && shown < CALLERS; i++) {
			if (f[i].role != FRAME_PROGRAM)
				continue;
			table_row(t, 2, ROW_DIM, ROW_TEXT_ONLY);
			report_set_label(t, BUDGET_LABEL, &f[i]);
			shown++;
		}
	}
}

static void add_site(struct table *t, const struct budget_result *r, unsigned i,
		     const struct heap *h, struct names *n)
{
	uint32_t node = 0;
	const struct frame_name *f = names_responsible(n, h->sites[r->site[i]].node, &node);
	struct str s = STR_INIT;

	table_row(t, 1, ROW_PLAIN, ROW_BOTH);
	table_set(t, BUDGET_VALUE, r->site_value[i]);
	report_set_frame(t, BUDGET_FRAME, f);
	report_set_label(t, BUDGET_LABEL, f);
	str_addf(&s, "%s in ", amount(r->budget, r->site_value[i]).s);
	report_frame_label(&s, f);
	table_set_text(t, BUDGET_LABEL, table_text(t, &s));
	str_fini(&s);
	if (f && h->sites[r->site[i]].node)
		add_callers(t, h, n, node);
}

void budget_view_add(struct budget_view *v, const char *source, const struct budget_result *r,
		     const struct heap *h, struct names *n)
{
	const struct budget *b = r->budget;
	struct table *t = v->table;
	struct str s = STR_INIT;

	v->nr[r->state]++;
	if (!t)
		return;
	table_row(t, 0, r->state == BUDGET_KEPT ? ROW_PLAIN : ROW_STRONG, ROW_BOTH);
	table_sentence(t);
	table_set_const(t, BUDGET_STATE, budget_state_name(r->state));
	table_set_const(t, BUDGET_STATE_TEXT, r->state == BUDGET_NOT_MEASURED
						       ? "not measured"
						       : budget_state_name(r->state));
	table_set_text(t, BUDGET_CAPTURE, source ? source : "");
	table_set_text(t, BUDGET_SECTION, b->section);
	table_set_text(t, BUDGET_KEY, b->key);
	table_set_const(t, BUDGET_UNIT, budget_in_bytes(b->figure) ? "bytes" : "count");
	table_set(t, BUDGET_LIMIT, b->limit);
	if (!r->unknown)
		table_set(t, BUDGET_VALUE, r->value);
	if (budget_has_suppressed(r)) {
		table_set(t, BUDGET_SUPPRESSED_BYTES, r->suppressed.bytes);
		table_set(t, BUDGET_SUPPRESSED_BLOCKS, r->suppressed.blocks);
	}
	if (r->why.len)
		table_set_text(t, BUDGET_WHY, table_text(t, &r->why));
	table_set(t, BUDGET_LINE, b->line);
	str_addf(&s, "%s%s[%s] %s: ", source ? source : "", source ? " " : "", b->section, b->key);
	budget_text(&s, r);
	table_set_text(t, BUDGET_LABEL, table_text(t, &s));
	str_fini(&s);
	for (unsigned i = 0; r->state == BUDGET_EXCEEDED && i < r->nr_sites; i++)
		add_site(t, r, i, h, n);
}

int budget_view_finish(struct budget_view *v)
{
	uint64_t all = v->nr[BUDGET_KEPT] + v->nr[BUDGET_EXCEEDED] + v->nr[BUDGET_NOT_MEASURED];
	struct table *t = record_new("totals"), *facts = facts_new(NULL);

	record_count(t, "kept", v->nr[BUDGET_KEPT]);
	record_count(t, "exceeded", v->nr[BUDGET_EXCEEDED]);
	record_count(t, "not_measured", v->nr[BUDGET_NOT_MEASURED]);
	doc_add(&v->doc, t);
	doc_add(&v->doc, v->table);
	v->table = NULL;
	facts_add(facts, "budgets", "%s kept, %s exceeded, %s not measured, of %s",
		  fmt_count(v->nr[BUDGET_KEPT]).s, fmt_count(v->nr[BUDGET_EXCEEDED]).s,
		  fmt_count(v->nr[BUDGET_NOT_MEASURED]).s, fmt_count(all).s);
	doc_add(&v->doc, facts);
	return doc_error(&v->doc);
}

void budget_view_fini(struct budget_view *v)
{
	table_free(v->table);
	doc_fini(&v->doc);
}
