/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captures judged by budgets: one after the other, so that one is in memory at a time. */
#include "src/session/budget/budget_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/analyze/budget/budget_judge.h"
#include "src/base/io.h"
#include "src/names/naming.h"
#include "src/session/leaks/leaks_report.h"
#include "src/session/name_notes.h"
#include "src/session/verdict_stack.h"
#include "src/track/source.h"
#include "src/view/budget/budget_view.h"

#define MAX_FILE	(1u << 20)	/* of budgets */

struct judging {
	const struct budget_session_options *o;
	const struct session_sink *to;
	struct budget_session_end *end;
	struct budgets budgets;
	struct budget_view view;
	struct verdicts verdicts;
	struct str programs;		/* names of those that were judged */
	bool *met;			/* by budget: a capture is of its program */
};

static const struct {
	const char *id, *title;
} rules[BUDGET_NR_FIGURES] = {
	[BUDGET_PEAK] = { "budget-peak", "the most memory live at once exceeds its budget" },
	[BUDGET_LIVE] = { "budget-live-at-end", "memory live at the end exceeds its budget" },
	[BUDGET_ALLOCATED] = { "budget-allocated", "bytes allocated exceed their budget" },
	[BUDGET_ALLOCATIONS] = { "budget-allocations", "allocations exceed their budget" },
	[BUDGET_TEMPORARY] = { "budget-temporary", "temporary allocations exceed their budget" },
	[BUDGET_LEAKED] = { "budget-leaked", "lost memory exceeds its budget" },
};

static int read_text(const char *path, char **text, struct err *e)
{
	FILE *f = io_open_text(path);
	size_t bytes;

	if (!f) {
		err_set(e, -errno, "cannot open '%s': %s", path,
			errno == ENOTSUP ? "it is a named pipe" : strerror(errno));
		err_hint(e, "name the file of budgets with -f, or make one as doc/budget.md says");
		return -ENOENT;
	}
	*text = calloc(1, MAX_FILE + 1);
	bytes = *text ? fread(*text, 1, MAX_FILE, f) : 0;
	if (*text && ferror(f)) {
		fclose(f);
		return err_set(e, -EIO, "cannot read '%s'", path);
	}
	fclose(f);
	if (!*text)
		return err_set(e, -ENOMEM, "out of memory");
	if (bytes == MAX_FILE || strlen(*text) != bytes)
		return err_set(e, -EINVAL, "'%s' is no file of budgets: it is too long, or no text",
			       path);
	return 0;
}

static void add_verdict(struct judging *j, const char *source, const struct budget_result *r,
			const struct heap *h, struct names *n)
{
	static const enum verdict_state state[BUDGET_NR_STATES] = {
		[BUDGET_KEPT] = VERDICT_PASSED,
		[BUDGET_EXCEEDED] = VERDICT_FAILED,
		[BUDGET_NOT_MEASURED] = VERDICT_UNKNOWN,
	};
	const struct budget *b = r->budget;
	uint32_t rule = verdict_rule(&j->verdicts, rules[b->figure].id, rules[b->figure].title,
				     "Look at the stacks that hold most of it, or raise the budget "
				     "in the project's .pmm-budget.");
	struct str s = STR_INIT;

	verdict_add(&j->verdicts, rule, VERDICT_ERROR, state[r->state]);
	/* the same in every run, whatever the captures are called and which stacks are largest */
	if (h && strcmp(h->comm, b->section) != 0)
		verdict_title(&j->verdicts, "[%s] %s: %s", b->section, b->key, h->comm);
	else
		verdict_title(&j->verdicts, "[%s] %s", b->section, b->key);
	verdict_identity(&j->verdicts, "budget/v1", "%s\n%s\n%s", b->section, b->key,
			 h ? h->comm : "");
	verdict_source(&j->verdicts, j->o->file, b->line);
	str_addf(&s, "%s: %s: ", source, b->key);
	budget_text(&s, r);
	verdict_message_str(&j->verdicts, &s);
	str_fini(&s);
	if (!r->unknown)
		verdict_figure(&j->verdicts, budget_in_bytes(b->figure) ? "bytes" : "number",
			       r->value);
	verdict_figure(&j->verdicts, "limit", b->limit);
	for (unsigned i = 0; r->state == BUDGET_EXCEEDED && i < r->nr_sites; i++)
		verdict_site(&j->verdicts, i ? "and by" : "most of it by", h, n, r->site[i]);
}

static int judge_heap(struct judging *j, const char *source, const struct heap *h,
		      struct names *n, const struct leak_sum *suppressed)
{
	bool any = false;
	int rc = 0;

	for (size_t i = 0; i < j->budgets.v.nr && !rc; i++) {
		struct budget_result r;

		if (!budget_applies(&j->budgets.v.v[i], h))
			continue;
		any = j->met[i] = true;
		rc = budget_judge(&j->budgets.v.v[i], h, n, &r);
		r.suppressed = *suppressed;
		if (!rc && j->o->form == BUDGET_DOCUMENT)
			budget_view_add(&j->view, source, &r, h, n);
		else if (!rc)
			add_verdict(j, source, &r, h, n);
		j->end->exceeded |= r.state == BUDGET_EXCEEDED;
		j->end->unmeasured |= r.state == BUDGET_NOT_MEASURED;
		budget_result_fini(&r);
	}
	if (!any)
		session_note(j->to, "'%s': '%s' has no section about '%s'", source, j->o->file,
			     h->comm);
	return rc;
}

/* Names of leaks are looked up where they matter only. */
static bool leaked_is_judged(const struct judging *j, const struct heap *h)
{
	vec_each(&j->budgets.v, b)
		if (b->figure == BUDGET_LEAKED && budget_applies(b, h))
			return true;
	return false;
}

/* Results are of all captures: which is the first one does not matter. */
static void add_program(struct judging *j, const struct heap *h)
{
	struct verdicts *v = &j->verdicts;
	struct str name = STR_INIT, all = STR_INIT;

	str_addf(&name, ", %s, ", h->comm);
	str_addf(&all, ", %s, ", str_text(&j->programs));
	if (!strstr(str_text(&all), str_text(&name)))
		str_addf(&j->programs, "%s%s", j->programs.len ? ", " : "", h->comm);
	j->programs.failed |= name.failed || all.failed;
	str_fini(&name);
	str_fini(&all);
	if (h->start_realtime_ns &&
	    (!v->start_realtime_ns || h->start_realtime_ns < v->start_realtime_ns))
		v->start_realtime_ns = h->start_realtime_ns;
}

static int judge_capture(struct judging *j, const char *path, struct err *e)
{
	const struct naming_options options = { .full = true, .debuginfod = j->o->debuginfod,
						.max_bytes = j->o->memory_bytes };
	struct leak_sum suppressed = { 0 };
	struct heap *h = NULL;
	struct naming naming;
	int rc = source_read(path, j->o->memory_bytes, &h, e);

	if (rc)
		return rc;
	add_program(j, h);
	naming_open(&naming, h, &options);
	if (leaked_is_judged(j, h))
		rc = leaks_suppress_heap(h, &naming.names, j->o->suppress, path, j->to,
					 &suppressed);
	if (!rc)
		rc = judge_heap(j, path, h, &naming.names, &suppressed);
	if (!rc)
		name_notes(j->to, &naming, "--memory-limit");
	naming_close(&naming);
	heap_free(h);
	return rc == -ENOMEM ? err_set(e, rc, "out of memory") : rc;
}

/* A section that no capture is of was not looked at: that is no pass. */
static void say_unmet(struct judging *j)
{
	const char *said = "";

	for (size_t i = 0; i < j->budgets.v.nr; i++) {
		const struct budget *b = &j->budgets.v.v[i];

		if (j->met[i])
			continue;
		j->end->unmeasured = true;
		if (strcmp(said, b->section) != 0)
			session_warn(j->to, "%s:%u: no capture is of '%s': its budgets were not "
					    "measured",
				     j->o->file, b->line, b->section);
		said = b->section;
	}
}

/* Readers of the result alone must not take it for one either. */
static int add_unmet(struct judging *j)
{
	for (size_t i = 0; i < j->budgets.v.nr; i++) {
		const struct budget *b = &j->budgets.v.v[i];
		struct budget_result r = { .budget = b, .state = BUDGET_NOT_MEASURED,
					   .unknown = true };
		int rc;

		if (j->met[i])
			continue;
		str_addf(&r.why, "no capture is of '%s'", b->section);
		if (j->o->form == BUDGET_DOCUMENT)
			budget_view_add(&j->view, NULL, &r, NULL, NULL);
		else
			add_verdict(j, j->o->file, &r, NULL, NULL);
		rc = str_error(&r.why);
		budget_result_fini(&r);
		if (rc)
			return rc;
	}
	return 0;
}

static int hand_over_verdicts(struct judging *j)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&text, &bytes);
	int rc = memory ? str_error(&j->programs) : -ENOMEM;

	verdicts_cmdline(&j->verdicts, str_text(&j->programs));
	if (!rc)
		rc = j->o->form == BUDGET_SARIF ? verdicts_print_sarif(&j->verdicts, memory)
						: verdicts_print_junit(&j->verdicts, memory);
	if (memory && fclose(memory) && !rc)
		rc = -ENOMEM;
	if (!rc)
		rc = session_text(j->to, text, bytes);
	free(text);
	return rc;
}

static int hand_over(struct judging *j, struct err *e)
{
	int rc = add_unmet(j);

	if (!rc && j->o->form == BUDGET_DOCUMENT) {
		rc = budget_view_finish(&j->view);
		if (!rc)
			rc = session_document(j->to, &j->view.doc, false);
	} else if (!rc) {
		rc = hand_over_verdicts(j);
	}
	if (rc == -EPIPE)
		return 0;
	return rc == -ENOMEM ? err_set(e, rc, "out of memory")
	       : rc	     ? err_set(e, rc, "cannot write the result: %s", strerror(-rc))
			     : 0;
}

int budget_session(const struct budget_session_options *o, char *const *capture, unsigned nr,
		   const struct session_sink *to, struct budget_session_end *end, struct err *e)
{
	struct judging j = { .o = o, .to = to, .end = end };
	char *text = NULL;
	int rc = read_text(o->file, &text, e);

	*end = (struct budget_session_end){ 0 };
	if (!rc)
		rc = budgets_parse(&j.budgets, text, o->file, e);
	free(text);
	budget_view_init(&j.view);
	verdicts_init(&j.verdicts, "budget", o->file);
	verdict_root(&j.verdicts);
	j.met = calloc(j.budgets.v.nr + 1, sizeof(*j.met));
	if (!rc && !j.met)
		rc = err_set(e, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < nr && !rc; i++)
		rc = judge_capture(&j, capture[i], e);
	if (!rc)
		rc = hand_over(&j, e);
	if (!rc)
		say_unmet(&j);
	budget_view_fini(&j.view);
	verdicts_fini(&j.verdicts);
	str_fini(&j.programs);
	budgets_fini(&j.budgets);
	free(j.met);
	return rc;
}
