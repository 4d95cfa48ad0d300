/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heap errors of several runs: how each run ended, what was looked at in it, which of them met an
 * error.
 */
#include <string.h>
#include <sys/wait.h>

#include "src/base/fmt.h"
#include "src/view/check/check_coverage.h"
#include "src/view/check/check_priv.h"
#include "src/document/facts.h"
#include "src/view/report_priv.h"

enum {
	RUN_NAME,
	RUN_ENDED,
	RUN_STATUS,
	RUN_FINDINGS,
	RUN_LEFT_OUT,
	RUN_GUARDED,
	RUN_CANARIED,
	RUN_UNCHECKED,
	RUN_OTHERS,
	RUN_NR
};

static const struct column run_columns[RUN_NR] = {
	[RUN_NAME] = { "name", NULL, UNIT_TEXT },
	[RUN_ENDED] = { "ended", NULL, UNIT_TEXT },
	[RUN_STATUS] = { "status", NULL, UNIT_COUNT },
	[RUN_FINDINGS] = { "findings", NULL, UNIT_COUNT },
	[RUN_LEFT_OUT] = { "left_out", NULL, UNIT_COUNT },
	[RUN_GUARDED] = { "guarded_blocks", NULL, UNIT_COUNT },
	[RUN_CANARIED] = { "canaried_blocks", NULL, UNIT_COUNT },
	[RUN_UNCHECKED] = { "unchecked_blocks", NULL, UNIT_COUNT },
	[RUN_OTHERS] = { "other_processes", NULL, UNIT_COUNT },
};

void check_runs_record(struct check_view *v)
{
	const struct check_runs *r = v->opt.runs;
	struct table *t = table_new(TABLE_ROWS, "runs", NULL, run_columns, RUN_NR);

	for (unsigned i = 0; t && i < r->nr; i++) {
		const struct check_run *run = &r->run[i];

		t->json_only = true;
		table_row(t, 0, ROW_PLAIN, ROW_BOTH);
		table_set_text(t, RUN_NAME, run->name);
		table_set_const(t, RUN_ENDED,
				run->ended < 0		  ? "not run"
				: WIFSIGNALED(run->ended) ? "killed"
							  : "exited");
		if (run->ended >= 0)
			table_set(t, RUN_STATUS,
				  (uint64_t)(WIFSIGNALED(run->ended) ? WTERMSIG(run->ended)
								     : WEXITSTATUS(run->ended)));
		table_set(t, RUN_FINDINGS, run->findings);
		table_set(t, RUN_LEFT_OUT, run->left_out);
		table_set(t, RUN_OTHERS, run->others);
		if (!run->heap)
			continue;
		table_set(t, RUN_GUARDED, run->heap->check.guarded);
		table_set(t, RUN_CANARIED, run->heap->check.canaried);
		table_set(t, RUN_UNCHECKED, run->heap->check.passed);
	}
	doc_add(&v->doc, t);
}

static void add_run(struct str *s, const struct check_run *run)
{
	str_addf(s, "%s: ", run->name);
	if (run->ended < 0) {
		str_add(s, "not made");
		return;
	}
	if (run->cut)
		str_add(s, "ended by pmm, as it took ten times longer than the others");
	else if (WIFSIGNALED(run->ended))
		report_killed_text(s, WTERMSIG(run->ended));
	else
		str_addf(s, "exited with status %d", WEXITSTATUS(run->ended));
	if (!run->heap) {
		str_add(s, "; what it found could not be read");
		return;
	}
	str_add(s, "; ");
	check_coverage(s, &run->heap->check);
	if (run->others)
		str_addf(s, "; %s", fmt_many(run->others, "other process").s);
}

void check_runs_rows(struct table *t, const struct check_view *v)
{
	const struct check_runs *r = v->opt.runs;
	struct str s = STR_INIT;

	for (unsigned i = 0; i < r->nr; i++) {
		add_run(&s, &r->run[i]);
		facts_wrap(t, i ? "" : "runs", table_text(t, &s), FACT_WIDTH);
		str_clear(&s);
	}
	str_fini(&s);
}

/* Did another run end just so? */
static bool others_ended_so(const struct check_runs *r, const struct check_run *run)
{
	for (unsigned i = 0; i < r->nr; i++)
		if (&r->run[i] != run && r->run[i].ended == run->ended)
			return true;
	return false;
}

/* Errors that a run alone has met. */
static uint64_t met_alone(const struct check_view *v, unsigned run)
{
	uint64_t nr = 0;

	for (uint64_t i = 0; i < v->heap->nr_findings; i++)
		nr += v->opt.runs->of[i].runs == 1u << run;
	return nr;
}

static void add_exact(struct str *s, const struct check_runs *r, const struct check_run *run,
		      uint64_t alone)
{
	if (alone)
		str_addf(s,
			 "%s met in the run '%s' alone: code that rounds the addresses of its "
			 "blocks up to 16 before it uses them may be "
			 "right. ",
			 fmt_many(alone, "error").s, run->name);
	if (run->ended >= 0 && !others_ended_so(r, run))
		str_addf(s,
			 "the run '%s' ended in another way than the others: blocks are aligned "
			 "there only as far as their size "
			 "is, which code need not support. That is no error of the program's. ",
			 run->name);
	if (run->left_out)
		str_addf(s,
			 "%s of other kinds met in the run '%s' alone %s left out, since code may "
			 "lack alignment there.",
			 fmt_many(run->left_out, "error").s, run->name,
			 fmt_agree(run->left_out, "is", "are"));
}

void check_runs_notes(struct str *s, const struct check_view *v)
{
	const struct check_runs *r = v->opt.runs;

	for (unsigned i = 0; i < r->nr; i++)
		if (r->run[i].exact)
			add_exact(s, r, &r->run[i], met_alone(v, i));
}

const struct finding_origin *check_origin(const struct check_view *v, const struct heap_finding *f)
{
	uint64_t i = 0;

	if (!v->opt.runs)
		return NULL;
	/* f may be a copy */
	while (i + 1 < v->heap->nr_findings && v->heap->findings[i].number != f->number)
		i++;
	return &v->opt.runs->of[i];
}

void check_runs_met(struct str *s, const struct check_view *v, const struct heap_finding *f,
		    const char *between, const char *quote)
{
	const struct check_runs *r = v->opt.runs;
	const char *before = "";

	for (unsigned i = 0; i < r->nr; i++)
		if (check_origin(v, f)->runs & 1u << i) {
			str_addf(s, "%s%s%s%s", before, quote, r->run[i].name, quote);
			before = between;
		}
}
