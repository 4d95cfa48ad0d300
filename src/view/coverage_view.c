/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much of a tree of processes was looked at. */
#include "src/view/coverage_view.h"

#include "src/base/fmt.h"
#include "src/document/doc_record.h"
#include "src/document/facts.h"
#include "src/view/report_priv.h"

#define WIDTH 62	/* with the names before it: below 80 */

static const char *were(uint64_t n)
{
	return fmt_agree(n, "was", "were");
}

void coverage_untracked(struct str *s, struct coverage *c)
{
	uint64_t nr = coverage_missed(c, true);

	if (!nr)
		return;
	str_addf(s, "%s %s not tracked: ", fmt_many(nr, "program").s, were(nr));
	coverage_names(s, c, true);
}

const char *coverage_to_end(const struct coverage *c)
{
	return c && c->partly ? " to the end" : "";
}

static void row(struct table *t, const char *name, struct str *s)
{
	facts_wrap(t, name, table_text(t, s), WIDTH);
	str_clear(s);
}

static void add_number(struct str *s, const struct coverage *c, const struct coverage_words *words)
{
	if (c->covered == c->processes)
		str_addf(s, "%s, %s%s", fmt_count(c->processes).s,
			 fmt_agree(c->processes, "", "all "), words->briefly);
	else
		str_addf(s, "%s, %s %s%s", fmt_count(c->processes).s,
			 c->covered ? fmt_count(c->covered).s : "none", words->briefly,
			 coverage_to_end(c));
	if (words->blocks)
		str_addf(s, ": %s of %s", fmt_many(c->blocks, "block").s,
			 fmt_bytes(c->bytes).s);
	if (c->idle)
		str_addf(s, "; %s never allocated anything", fmt_count(c->idle).s);
}

void coverage_rows(struct table *t, struct coverage *c, const struct coverage_words *words,
		   bool told)
{
	uint64_t missed = coverage_missed(c, false);
	struct str s = STR_INIT;

	add_number(&s, c, words);
	row(t, "processes", &s);
	if (!told)
		coverage_untracked(&s, c);
	if (s.len) {
		str_add(&s, "; nothing is known of them, nor of what they started without pmm");
		row(t, "!", &s);
	}
	if (missed) {
		str_addf(&s, "%s %s not %s%s: ", fmt_many(missed, "process").s, were(missed),
			 words->looked, coverage_to_end(c));
		coverage_names(&s, c, false);
		row(t, "!", &s);
	}
	if (c->replaced) {
		str_addf(&s, "%s %s replaced by another one in its process, and %s not %s",
			 fmt_many(c->replaced, "program").s, were(c->replaced),
			 were(c->replaced), words->looked);
		row(t, "exec", &s);
	}
	if (c->failed)
		str_addf(&s, "out of memory: processes that were not %s are missing here",
			 words->looked);
	if (s.len)
		row(t, "!", &s);
	str_fini(&s);
}

/* ---- JSON ---- */

enum {
	GAP_PROGRAM,
	GAP_WHY,
	GAP_PROCESSES,
	GAP_PID,
	GAP_NR,
};

static const struct column gap_columns[GAP_NR] = {
	[GAP_PROGRAM] = { "program", NULL, UNIT_TEXT },
	[GAP_WHY] = { "why", NULL, UNIT_TEXT },
	[GAP_PROCESSES] = { "processes", NULL, UNIT_COUNT },
	[GAP_PID] = { "pid", NULL, UNIT_NUMBER },
};

static void add_gaps(struct doc *d, const struct coverage *c, const char *key, bool untracked)
{
	struct table *t = table_new(TABLE_ROWS, key, NULL, gap_columns, GAP_NR);

	if (t)
		t->json_only = true;
	vec_each(&c->gaps, g) {
		if (!t || coverage_untracked_gap(g) != untracked)
			continue;
		table_row(t, 0, ROW_PLAIN, ROW_BOTH);
		table_set_text(t, GAP_PROGRAM, g->program);
		table_set_text(t, GAP_WHY, g->why);
		table_set(t, GAP_PROCESSES, g->nr);
		if (g->pid)
			table_set(t, GAP_PID, g->pid);
	}
	doc_add(d, t);
}

void coverage_record(struct doc *d, struct coverage *c)
{
	struct table *t = record_new("tree");

	record_count(t, "processes", c->processes);
	record_count(t, "looked_at", c->covered);
	record_count(t, "idle", c->idle);
	record_count(t, "not_tracked", coverage_missed(c, true));
	record_count(t, "missed", coverage_missed(c, false));
	record_count(t, "replaced", c->replaced);
	record_count(t, "blocks", c->blocks);
	if (c->bytes || !c->blocks)	/* else they were not counted */
		record_count(t, "bytes", c->bytes);
	doc_add(d, t);
	add_gaps(d, c, "untracked", true);
	add_gaps(d, c, "not_looked_at", false);
}
