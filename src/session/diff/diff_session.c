/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two heaps compared. */
#include "src/session/diff/diff_session.h"

#include <errno.h>

#include "src/analyze/measured.h"
#include "src/session/diff/diff_naming.h"
#include "src/session/leaks/leaks_report.h"
#include "src/session/name_notes.h"
#include "src/view/diff/diff_view.h"

#define FAILED_ROWS	10u	/* named of each condition */

struct comparing {
	const struct diff_session_options *o;
	const struct diff_session_side *side;
	struct diff_naming naming[2];
	struct diff *diff;
	struct diff_failures failures;
	enum diff_key key;
	struct leak_sum suppressed[2];	/* of each side */
	bool any_site;		/* the filter passes one, in either */
};

static enum diff_key chosen_key(const struct comparing *c)
{
	if (c->o->key_given)
		return c->o->key;
	return !filter_by_block(&c->o->filter) &&
			       rank_default(c->side[0].heap) == RANK_PEAK &&
			       rank_default(c->side[1].heap) == RANK_PEAK
		       ? DIFF_PEAK
		       : DIFF_LIVE;
}

int diff_not_known(const char *source, enum diff_key key, const char *what, struct err *e)
{
	if (key == DIFF_LEAKED) {
		err_set(e, -ENODATA, "'%s' was not searched for leaks, which %s is about", source,
			what);
		err_hint(e, "run the program with 'pmm run --leaks'");
	} else {
		err_set(e, -ENODATA, "'%s' is another tool's profile and has no figures for "
				     "'%s', which %s is about",
			source, diff_key_name[key], what);
		err_hint(e, "use 'live'");
	}
	return -ENODATA;
}

/* What was not measured must not pass. */
static int check_measured(const struct comparing *c, enum diff_key key, const char *what,
			  struct err *e)
{
	for (unsigned i = 0; i < 2; i++) {
		if (!diff_known(c->side[i].heap, key))
			return diff_not_known(c->side[i].source, key, what, e);
		if (key != DIFF_LIVE && filter_by_block(&c->o->filter)) {
			err_set(e, -EINVAL, "%s cannot be used with --thread, --size or --age",
				what);
			err_hint(e, "those are known of live blocks only");
			e->exit_code = 2;
			return -EINVAL;
		}
	}
	return 0;
}

static int check_all_measured(const struct comparing *c, struct err *e)
{
	int rc = check_measured(c, c->key, "--sort", e);

	for (unsigned i = 0; i < c->o->nr_conditions && !rc; i++)
		rc = check_measured(c, diff_condition_key(&c->o->condition[i], c->key),
				    "--fail-on", e);
	return rc;
}

static unsigned needs(const struct comparing *c, const struct diff_condition *condition)
{
	bool leaks = diff_condition_key(condition, c->key) == DIFF_LEAKED,
	     stacks = !condition->total || filter_by_stack(&c->o->filter);

	return (leaks ? MEASURED_LEAKS : 0) | (stacks ? MEASURED_STACKS : 0);
}

/*
 * Why a condition that is not met is no pass: something is missing on a side. A program that still
 * runs is compared as it is; so is what was there before pmm attached, where both lack it.
 */
static const char *no_pass(const struct comparing *c, unsigned side,
			   const struct diff_condition *condition)
{
	const struct heap *h = c->side[side].heap, *other = c->side[!side].heap;

	if (measured_inexact(h) && !measured_inexact(other))
		return measured_inexact(h);
	if (h->began == HEAP_BEGAN_ATTACH && other->began != HEAP_BEGAN_ATTACH)
		return "what was allocated before it was attached to is not known";
	return measured_gap(h, needs(c, condition));
}

static int check_passes(const struct comparing *c, struct err *e)
{
	for (unsigned i = 0; i < c->o->nr_conditions; i++)
		for (unsigned k = 0; k < 2; k++) {
			const char *why = no_pass(c, !k, &c->o->condition[i]);

			if (!why)
				continue;
			err_set(e, -ENODATA, "'%s': %s: --fail-on cannot pass", c->side[!k].source,
				why);
			err_hint(e, "record it again without that, both in the same way; "
				    "doc/diff.md says more");
			return -ENODATA;
		}
	return 0;
}

/* A filter with a slip in it must not pass either. */
static int check_any_site(const struct comparing *c, struct err *e)
{
	if (!c->o->nr_conditions || !filter_by_stack(&c->o->filter) || c->any_site)
		return 0;
	err_set(e, -ENOENT, "no stack of '%s' or '%s' passes the filter: --fail-on cannot pass",
		c->side[0].source, c->side[1].source);
	err_hint(e, "'pmm report' names the functions, files and modules that there are");
	return -ENOENT;
}

static bool passes_any(const struct selection *s)
{
	for (uint32_t i = 0; s->site && i < s->heap->nr_sites; i++)
		if (s->site[i])
			return true;
	return false;
}

/* Add both. A thread that only one of them has is new in the other, or gone. */
static int add_heaps(struct comparing *c, struct err *e)
{
	unsigned missing = 0;

	for (unsigned i = 0; i < 2; i++) {
		struct names *n = &c->naming[i].naming.names;
		const struct heap *h = c->side[i].heap;
		struct selection s;
		int rc = selection_init(&s, h, n, &c->o->filter, e);
		bool none = rc == -ENOENT;

		missing += none;
		if (rc && (!none || missing == 2))
			return rc;
		c->any_site |= !none && passes_any(&s);
		rc = diff_add(c->diff, h, n, none ? NULL : &s, none);
		if (!none)
			selection_fini(&s);
		if (rc == -ENOSPC)
			return err_set(e, rc, "there are too many different functions or stacks");
		if (rc || n->failed)
			return err_set(e, -ENOMEM, "out of memory");
	}
	return 0;
}

static int judge(struct comparing *c)
{
	int rc = 0;

	for (unsigned i = 0; i < c->o->nr_conditions && !rc; i++)
		rc = diff_condition_judge(&c->o->condition[i], c->diff, c->key, FAILED_ROWS,
					  &c->failures);
	return rc;
}

static int show(struct comparing *c, const struct session_sink *to, struct err *e)
{
	const struct diff_view_side side[2] = {
		{ c->side[0].heap, c->side[0].source, c->suppressed[0] },
		{ c->side[1].heap, c->side[1].source, c->suppressed[1] },
	};
	const struct diff_view_options opt = { .key = c->key, .top = c->o->top,
					       .depth = c->o->depth, .filter = c->o->filter,
					       .judged = c->o->nr_conditions };
	struct diff_view v;
	int rc = diff_view_init(&v, c->diff, side, &opt, &c->failures);

	if (!rc && c->o->take)
		rc = c->o->take(c->o->take_arg, c->diff, &v.doc, e);
	else if (!rc)
		rc = session_document(to, &v.doc, false);
	diff_view_fini(&v);
	return rc == -EPIPE ? 0 : rc;
}

static int compare(struct comparing *c, const struct session_sink *to, struct err *e)
{
	int rc = add_heaps(c, e);

	if (!rc)
		rc = check_any_site(c, e);
	if (!rc)
		rc = judge(c);
	if (!rc)
		rc = show(c, to, e);
	return rc == -ENOMEM ? err_set(e, rc, "out of memory") : rc;
}

static int suppress_both(struct comparing *c, const struct session_sink *to, struct err *e)
{
	int rc = 0;

	for (unsigned i = 0; i < 2 && !rc; i++)
		rc = leaks_suppress_heap(c->side[i].heap, &c->naming[i].naming.names,
					 c->o->suppress, c->side[i].source, to, &c->suppressed[i]);
	return rc ? err_set(e, rc, "out of memory") : 0;
}

int diff_session(const struct diff_session_options *o, const struct diff_session_side side[2],
		 const struct session_sink *to, bool *exceeded, struct err *e)
{
	const struct naming_options naming = { .none = o->no_symbols, .full = true,
					       .debuginfod = o->debuginfod,
					       .max_bytes = o->memory_bytes };
	const struct heap *const heap[2] = { side[0].heap, side[1].heap };
	struct comparing c = { .o = o, .side = side };
	int rc;

	c.key = chosen_key(&c);
	rc = check_all_measured(&c, e);
	if (rc)
		return rc;
	c.diff = diff_new();
	diff_naming_open(c.naming, heap, &naming);
	for (unsigned i = 0; i < 2; i++)
		names_skip(&c.naming[i].naming.names, o->skip, o->nr_skip);
	rc = c.diff ? suppress_both(&c, to, e) : 0;
	if (!rc)
		rc = c.diff ? compare(&c, to, e) : err_set(e, -ENOMEM, "out of memory");
	*exceeded = c.failures.v.nr != 0;
	for (unsigned i = 0; i < 2; i++) {
		if (!rc)
			name_notes(to, &c.naming[i].naming, "--memory-limit");
		diff_naming_close(&c.naming[i]);
	}
	if (!rc && !*exceeded)
		rc = check_passes(&c, e);
	vec_fini(&c.failures.v);
	diff_free(c.diff);
	return rc;
}
