/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heap errors as verdicts: each is one, and so is what was checked. */
#include "src/session/check/check_verdict.h"

#include "include/pmm/check.h"
#include "src/analyze/coverage.h"
#include "src/base/fmt.h"
#include "src/proc/access.h"
#include "src/session/verdict_stack.h"
#include "src/view/check/check_coverage.h"
#include "src/view/coverage_view.h"

static const char checked_help[] =
	"What was checked. What was not checked can have errors unseen.";

static const char *help_of(unsigned type)
{
	static const char *const help[PMM_NR_FINDING_TYPES] = {
		[PMM_FINDING_OVERRUN] = "An access behind the end of a block.",
		[PMM_FINDING_UNDERRUN] = "An access before the start of a block.",
		[PMM_FINDING_AFTER_FREE] = "An access to a block that was released.",
		[PMM_FINDING_DOUBLE_FREE] = "A block was released twice.",
		[PMM_FINDING_BAD_FREE] = "What was released is no block.",
		[PMM_FINDING_MISMATCH] = "A block was released by a function that does not match "
					 "the one that allocated it.",
		[PMM_FINDING_REALLOC_FREED] = "A block was resized after its release.",
		[PMM_FINDING_OVERLAP] = "Source and destination of a copy overlap.",
		[PMM_FINDING_SIZE] = "A request of a size that cannot be meant.",
		[PMM_FINDING_STACK_OVERFLOW] = "The stack was used up.",
		[PMM_FINDING_UNINITIALISED] = "Memory was used that nothing was written to.",
		[PMM_FINDING_WILD] = "An access where no block is.",
		[PMM_FINDING_CRASH] = "The fault that ended the process.",
	};

	return type < PMM_NR_FINDING_TYPES ? help[type] : NULL;
}

static bool known(const struct heap *h, uint32_t site)
{
	return site < h->nr_sites && h->sites[site].node;
}

static void add_title(struct verdicts *v, const struct heap *h, struct names *n,
		      const struct heap_finding *f)
{
	uint32_t site = known(h, f->site) ? f->site : f->alloc_site;
	struct str s = STR_INIT;

	if (known(h, site))
		verdict_site_title(&s, h, n, site);
	v->failed |= s.failed;
	verdict_title(v, s.len ? "%s: %s" : "%s", check_type_title(f->type), str_text(&s));
	str_fini(&s);
}

static void add_finding(struct verdicts *v, const struct heap *h, struct names *n,
			const struct check_report_options *o, uint64_t i)
{
	const struct heap_finding *f = &h->findings[i];
	struct str s = STR_INIT;

	if (o->view.turn)
		o->view.turn(o->view.turn_ctx, i);
	verdict_add(v, verdict_rule(v, check_type_name(f->type), check_type_title(f->type),
				    help_of(f->type)),
		    VERDICT_ERROR, VERDICT_FAILED);
	add_title(v, h, n, f);
	check_headline(&s, h, f, access_bytes(f->code, f->nr_code));
	verdict_message_str(v, &s);
	verdict_figure(v, "count", f->count);
	verdict_site(v, f->by == PMM_BY_ACCESS || f->by == PMM_BY_FUNCTION ||
				f->by == PMM_BY_VALGRIND || f->by == PMM_BY_SIGNAL
			? "at" : "found at",
		     h, n, f->site);
	verdict_site(v, "allocated by", h, n, f->alloc_site);
	verdict_site(v, "released by", h, n, f->free_site);
	str_fini(&s);
}

static void add_gaps(struct str *s, struct coverage *c)
{
	str_addf(s, "%s not checked%s: ",
		 fmt_many(coverage_missed(c, false) + coverage_missed(c, true), "process").s,
		 coverage_to_end(c));
	coverage_names(s, c, false);
	if (coverage_missed(c, false) && coverage_missed(c, true))
		str_add(s, ", ");
	coverage_names(s, c, true);
}

/* Where checking ended before the process did that comes first. */
static void add_coverage(struct str *s, const struct heap_check *check, struct coverage *tree)
{
	bool gaps = tree && tree->gaps.nr, first = gaps && tree->partly;

	if (first) {
		add_gaps(s, tree);
		str_add(s, "; ");
	}
	check_coverage(s, check);
	check_left_out(s, check);
	if (gaps && !first) {
		str_add(s, "; ");
		add_gaps(s, tree);
	}
}

/* What was looked at: it passes where that was all. */
static void add_checked(struct verdicts *v, const struct heap *h,
			const struct check_report_options *o)
{
	const struct heap_check *c = &h->check;
	struct coverage *tree = o->view.coverage;
	bool valgrind = false, none;
	struct str s = STR_INIT;
	enum verdict_state state = VERDICT_PASSED;

	for (uint64_t i = 0; i < h->nr_findings; i++)
		valgrind |= h->findings[i].by == PMM_BY_VALGRIND;
	valgrind |= o->resolve != NULL;
	none = !valgrind && (!c->level || check_covers_none(c) ||
			     (tree && !tree->covered && !tree->partly));
	if (valgrind) {
		str_add(&s, "checked by Valgrind");
	} else {
		add_coverage(&s, c, tree);
	}
	if (c->findings_lost)
		str_addf(&s, "; %s not kept", fmt_many(c->findings_lost, "error").s);
	if (none)
		state = VERDICT_UNKNOWN;
	else if (c->findings_lost || c->passed > c->passed_early || (tree && tree->gaps.nr))
		state = VERDICT_SKIPPED;
	verdict_add(v, verdict_rule(v, "checked", "check for heap errors", checked_help),
		    VERDICT_NOTE, state);
	verdict_message_str(v, &s);
	str_fini(&s);
}

int check_verdicts_print(const struct heap *h, struct names *n,
			 const struct check_report_options *o, FILE *out)
{
	struct verdicts v;
	int rc;

	verdict_heap(&v, "check", h);
	for (uint64_t i = o->view.from; i < h->nr_findings; i++)
		if (!o->view.skip || !o->view.skip[i - o->view.from])
			add_finding(&v, h, n, o, i);
	add_checked(&v, h, o);
	rc = o->form == CHECK_SARIF ? verdicts_print_sarif(&v, out)
				    : verdicts_print_junit(&v, out);
	verdicts_fini(&v);
	return rc;
}
