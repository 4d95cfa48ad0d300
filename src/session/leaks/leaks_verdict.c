/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Leaks as verdicts: an entry is one, and so is each kind of which there is none. */
#include "src/session/leaks/leaks_verdict.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "src/analyze/leaks_tree.h"
#include "src/base/fmt.h"
#include "src/session/verdict_stack.h"

enum rule { DEFINITE, INDIRECT, LIKELY, GROWING, POSSIBLE, REACHABLE, SEARCHED, NR_RULES };

static const struct {
	const char *id, *title, *help;
	enum verdict_level level;
	unsigned show;
} rules[NR_RULES] = {
	[DEFINITE] = { "definitely-lost", "definitely lost",
		       "Nothing points to these blocks any more. Free them where their last pointer "
		       "is overwritten or goes out of scope.",
		       VERDICT_ERROR, LEAKS_SHOW_DEFINITE },
	[INDIRECT] = { "indirectly-lost", "indirectly lost",
		       "Only blocks that are definitely lost point to these. They go when those are "
		       "freed with what they hold.",
		       VERDICT_ERROR, LEAKS_SHOW_INDIRECT },
	[LIKELY] = { "likely-leak", "likely leak",
		     "Something points to these blocks, but they grow steadily as a leak does. Look "
		     "for what is added and never removed.",
		     VERDICT_WARNING, LEAKS_SHOW_LIKELY },
	[GROWING] = { "growing", "growing",
		      "This call site grows steadily: a leak, or a cache that fills.", VERDICT_NOTE,
		      LEAKS_SHOW_GROWING },
	[POSSIBLE] = { "possibly-lost", "possibly lost",
		       "Only pointers into the middle of these blocks are left.", VERDICT_NOTE,
		       LEAKS_SHOW_POSSIBLE },
	[REACHABLE] = { "still-reachable", "still reachable",
			"A chain of pointers leads to these blocks.", VERDICT_NOTE,
			LEAKS_SHOW_REACHABLE },
	[SEARCHED] = { "searched", "search for leaks",
		       "What was searched. What was not searched can have lost memory unseen.",
		       VERDICT_NOTE, 0 },
};

struct writer {
	struct verdicts v;
	const struct heap *heap;
	struct names *names;
	const struct leaks *leaks;
	const struct leaks_report_options *o;
	uint32_t rule[NR_RULES];
	uint64_t nr[NR_RULES];
	bool found;
};

bool leaks_counts(const struct leak_entry *e, unsigned fail_on)
{
	if (e->verdict == LEAK_SUPPRESSED)
		return false;
	return (fail_on & 1u << e->class) ||
	       ((fail_on & LEAKS_FAIL_LIKELY) && e->verdict <= LEAK_LIKELY) ||
	       ((fail_on & LEAKS_FAIL_GROWTH) &&
		(e->reason == LEAK_GROWS || e->reason == LEAK_FILLS));
}

static enum rule rule_of(const struct leak_entry *e)
{
	if (e->verdict == LEAK_LIKELY)
		return LIKELY;
	if (e->verdict == LEAK_GROWING)
		return GROWING;
	return e->class == REACH_DEFINITE   ? DEFINITE
	       : e->class == REACH_INDIRECT ? INDIRECT
	       : e->class == REACH_POSSIBLE ? POSSIBLE
					    : REACHABLE;
}

/* Indirect ones are in the sum of their definite one, unless they were asked for. */
static bool is_listed(const struct writer *w, const struct leak_entry *e)
{
	if (leaks_view_shows(e, w->o->view.show))
		return true;
	return leaks_counts(e, w->o->fail_on) &&
	       (e->class != REACH_INDIRECT || w->o->fail_on & 1u << REACH_INDIRECT);
}

static void add_entry(struct writer *w, const struct leak_entry *e)
{
	bool fails = w->found && leaks_counts(e, w->o->fail_on);
	uint64_t bytes = e->bytes + e->indirect_bytes;
	enum rule rule = rule_of(e);
	struct str why = STR_INIT;

	w->nr[rule]++;
	verdict_add(&w->v, w->rule[rule], rules[rule].level,
		    e->verdict == LEAK_SUPPRESSED ? VERDICT_SUPPRESSED
		    : fails			  ? VERDICT_FAILED
						  : VERDICT_LISTED);
	verdict_site_title(&why, w->heap, w->names, e->site);
	verdict_title(&w->v, "%s: %s", rules[rule].title, str_text(&why));
	w->v.failed |= why.failed;
	str_clear(&why);
	str_addf(&why, "%s in %s, %s", fmt_many(bytes, "byte").s, fmt_many(e->blocks, "block").s,
		 rules[rule].title);
	if (e->indirect_bytes)
		str_addf(&why, " (%s of them in %s lost with these)",
			 fmt_count(e->indirect_bytes).s, fmt_many(e->indirect_blocks, "block").s);
	str_add(&why, ": ");
	leaks_why(&why, w->heap, w->names, e);
	verdict_message_str(&w->v, &why);
	str_clear(&why);
	if (e->verdict == LEAK_SUPPRESSED) {
		str_addf(&why, "suppressed by '%s'", e->suppression ? e->suppression : "?");
		verdict_text(&w->v, &why);
	}
	verdict_figure(&w->v, "bytes", bytes);
	verdict_figure(&w->v, "blocks", e->blocks);
	verdict_figure(&w->v, "indirect_bytes", e->indirect_bytes);
	verdict_figure(&w->v, "indirect_blocks", e->indirect_blocks);
	verdict_site(&w->v, "allocated by", w->heap, w->names, e->site);
	str_fini(&why);
}

/* ---- what was searched ---- */

/* Nothing where all was. */
static void add_gaps(struct str *s, struct writer *w)
{
	const struct heap *h = w->heap;
	struct coverage *c = w->o->view.coverage;

	if (c && c->gaps.nr) {
		str_addf(s, "%s not searched: ",
			 fmt_many(coverage_missed(c, false) + coverage_missed(c, true),
				  "process").s);
		coverage_names(s, c, false);
		if (coverage_missed(c, false) && coverage_missed(c, true))
			str_add(s, ", ");
		coverage_names(s, c, true);
	}
	if (h->search.how != HEAP_SEARCH_NONE && !h->search.complete)
		str_addf(s, "%snot all blocks are known, and what the unknown ones point to counts "
			    "as reachable", s->len ? "; " : "");
	if (h->search.unread_bytes)
		str_addf(s, "%s%s could not be read", s->len ? "; " : "",
			 fmt_bytes(h->search.unread_bytes).s);
	if (w->leaks->suppressed.blocks)
		str_addf(s, "%s%s in %s suppressed", s->len ? "; " : "",
			 fmt_many(w->leaks->suppressed.bytes, "byte").s,
			 fmt_many(w->leaks->suppressed.blocks, "block").s);
}

/* Was there no process at all that could be searched? */
static bool searched_none(const struct writer *w)
{
	const struct coverage *c = w->o->view.coverage;

	return w->o->view.tree && !w->o->view.tree->nr && c && !c->covered;
}

static void add_extent(struct str *s, const struct writer *w)
{
	const struct coverage *c = w->o->view.coverage;
	struct leak_sum all = w->leaks->suppressed;

	for (unsigned i = 0; i < REACH_NR_CLASSES; i++) {
		all.blocks += w->leaks->by_class[i].blocks;
		all.bytes += w->leaks->by_class[i].bytes;
	}
	str_addf(s, "%s in %s", fmt_many(all.bytes, "byte").s, fmt_many(all.blocks, "block").s);
	if (c && c->processes > 1)
		str_addf(s, " of %s", fmt_many(c->covered, "process").s);
}

/* The search itself, and each kind that was looked for in vain. */
static void add_search(struct writer *w)
{
	struct str extent = STR_INIT, gaps = STR_INIT;
	struct coverage *c = w->o->view.coverage;
	bool none = searched_none(w);
	bool error = none || (w->o->fail_on & LEAKS_FAIL_UNSEARCHED && c && c->gaps.nr);
	bool partial;

	add_extent(&extent, w);
	add_gaps(&gaps, w);
	/* suppressions are the user's own wish */
	partial = (c && c->gaps.nr) || w->heap->search.unread_bytes ||
		  (w->heap->search.how != HEAP_SEARCH_NONE && !w->heap->search.complete);
	w->v.failed |= extent.failed || gaps.failed;
	verdict_add(&w->v, w->rule[SEARCHED], VERDICT_NOTE,
		    error     ? VERDICT_UNKNOWN
		    : partial ? VERDICT_SKIPPED
			      : VERDICT_PASSED);
	verdict_message(&w->v, "%s %s searched%s%s", none ? "no process" : str_text(&extent),
			none ? "was" : "were", gaps.len ? "; " : "", str_text(&gaps));
	for (unsigned i = 0; i < SEARCHED; i++) {
		if (w->nr[i] || !(w->o->view.show & rules[i].show))
			continue;
		verdict_add(&w->v, w->rule[i], rules[i].level,
			    none      ? VERDICT_UNKNOWN
			    : partial ? VERDICT_SKIPPED
				      : VERDICT_PASSED);
		if (none)
			verdict_message(&w->v, "no process was searched");
		else
			verdict_message(&w->v, "none in %s%s%s", str_text(&extent),
					partial ? ", but " : "", partial ? str_text(&gaps) : "");
	}
	str_fini(&extent);
	str_fini(&gaps);
}

int leaks_verdicts_print(const struct heap *h, struct names *n, const struct leaks *l,
			 const struct leaks_report_options *o, bool found, FILE *out)
{
	const struct leak_entry *const end = l->entries.v + l->entries.nr;
	struct writer w = { .heap = h, .names = n, .leaks = l, .o = o, .found = found };
	int rc;

	verdict_heap(&w.v, "leaks", h);
	w.v.took_ns = h->search.took_ns;
	for (unsigned i = 0; i < NR_RULES; i++)
		w.rule[i] = verdict_rule(&w.v, rules[i].id, rules[i].title, rules[i].help);
	for (const struct leak_entry *e = l->entries.v; e < end; e++)
		if (is_listed(&w, e))
			add_entry(&w, e);
	add_search(&w);
	rc = o->format == LEAKS_SARIF ? verdicts_print_sarif(&w.v, out)
				      : verdicts_print_junit(&w.v, out);
	verdicts_fini(&w.v);
	return rc;
}
