/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why an entry is a leak or none, in one line: what points to the blocks, how old they are, how
 * they grow.
 */
#include <string.h>

#include "src/base/fmt.h"
#include "src/view/leaks_view.h"
#include "src/view/report_priv.h"
#include "src/view/watch.h"

const char *leaks_class_text(unsigned class)
{
	static const char *const text[REACH_NR_CLASSES] = {
		[REACH_REACHED] = "still reachable",
		[REACH_POSSIBLE] = "possibly lost",
		[REACH_INDIRECT] = "indirectly lost",
		[REACH_DEFINITE] = "definitely lost",
	};

	return class < REACH_NR_CLASSES ? text[class] : "";
}

static uint64_t age_of(const struct heap *h, uint64_t birth_ns)
{
	return report_age(h, h->search.how ? h->search.at_ns : h->taken_ns, birth_ns);
}

/* "this block", "these 3 blocks". */
static struct fmt these(uint64_t blocks)
{
	struct fmt f = { .s = "this block" };

	if (blocks != 1)
		snprintf(f.s, sizeof(f.s), "these %.18s blocks", fmt_count(blocks).s);
	return f;
}

static void add_age(struct str *s, const struct heap *h, const struct leak_entry *e)
{
	struct fmt oldest = report_duration(h, age_of(h, e->oldest_ns)),
		   newest = report_duration(h, age_of(h, e->newest_ns));

	if (e->blocks == 1)
		str_addf(s, "; %s old", oldest.s);
	else if (!strcmp(oldest.s, newest.s))
		str_addf(s, "; all %s old", oldest.s);
	else
		str_addf(s, "; oldest %s, newest %s", oldest.s, newest.s);
}

/* "parse() (doc.c:41)". */
static void add_site(struct str *s, const struct heap *h, struct names *n, uint32_t site)
{
	const struct frame_name *f = names_responsible(n, h->sites[site].node, NULL);

	report_frame_label(s, f);
	if (f && f->function && !strchr(f->function, '('))
		str_add(s, "()");
	if (f && f->function && f->file && f->line)
		str_addf(s, " (%s:%u)", report_basename(f->file), f->line);
}

/* Most of the blocks hang on others of the same site. */
static bool is_chained(const struct leak_entry *e)
{
	return e->chained_blocks > e->blocks / 2;
}

/* What leads to reachable blocks. */
static void add_holder(struct str *s, const struct heap *h, struct names *n,
		       const struct leak_entry *e)
{
	const char *all = e->held_blocks >= e->blocks ? "all" : "most";

	if (e->holder_site != HEAP_NO_SITE && is_chained(e)) {
		str_addf(s, ", %s held by a list or tree that hangs on blocks made in ", all);
		add_site(s, h, n, e->holder_site);
	} else if (e->holder_site != HEAP_NO_SITE) {
		str_addf(s, ", %s held by blocks made in ", all);
		add_site(s, h, n, e->holder_site);
	} else if (is_chained(e)) {
		str_add(s, ", held by the list or tree grown in ");
		add_site(s, h, n, e->site);
	} else if (e->reason == LEAK_GROWS ||
		   (e->reason == LEAK_FILLS && e->class == REACH_REACHED)) {
		str_add(s, ", pointed to by variables or stacks directly");
	}
}

static void add_growth(struct str *s, const struct heap *h, struct names *n,
		       const struct leak_entry *e)
{
	const struct growth *g = &e->growth;

	str_addf(s, "%s, growing ", fmt_bytes(e->bytes).s);
	str_addf(s, "%s for ", watch_pace(g->slope).s);
	str_addf(s, "%s",
		 report_duration(h, g->until_ns > g->since_ns ? g->until_ns - g->since_ns : 0).s);
	add_holder(s, h, n, e);
}

/* By which habit of the program's some of them are reached. */
static void add_habit(struct str *s, const struct leak_entry *e)
{
	if (!e->habit_blocks)
		return;
	if (e->header_bytes)
		str_addf(s, "; to %s the program keeps pointers behind a header of %s",
			 e->habit_blocks == e->blocks ? "all" : fmt_count(e->habit_blocks).s,
			 fmt_many(e->header_bytes, "byte").s);
	else
		str_addf(s, "; %s pointed to at several places: parts of %s are in use",
			 fmt_agree(e->habit_blocks, "one is", "some are"),
			 fmt_agree(e->habit_blocks, "a pool", "pools"));
}

/* Why what is there is no steady growth. */
static void add_standing(struct str *s, const char *before, const struct growth *g)
{
	str_addf(s, "%s%s: %s", before, g->reason == GROWTH_TURNOVER ? "may grow" : "does not grow",
		 watch_reason(g->reason));
}

static void add_reason(struct str *s, const struct heap *h, struct names *n,
		       const struct leak_entry *e)
{
	switch (e->reason) {
	case LEAK_UNREACHABLE:
		str_addf(s, "nothing points to %s any more", these(e->blocks).s);
		add_age(s, h, e);
		break;
	case LEAK_LOST_WITH:
		str_addf(s, "only lost blocks point to %s", these(e->blocks).s);
		if (e->holder_site != HEAP_NO_SITE) {
			str_add(s, ": those made in ");
			add_site(s, h, n, e->holder_site);
		}
		break;
	case LEAK_INTERIOR:
	case LEAK_INTERIOR_STEADY:
	case LEAK_INTERIOR_ALONE:
	case LEAK_YOUNG:
		str_addf(s, "only pointers into the middle of %s are left", these(e->blocks).s);
		add_age(s, h, e);
		if (e->reason == LEAK_YOUNG)
			str_add(s, ": too young to tell");
		if (e->reason == LEAK_INTERIOR_STEADY)
			add_standing(s, "; ", &e->growth);
		if (e->reason == LEAK_INTERIOR)
			str_addf(s, "; growing %s", watch_pace(e->growth.slope).s);
		break;
	case LEAK_OR_FREED:
		str_addf(s, "no pointer to the start of %s is left", these(e->blocks).s);
		str_add(s, "; lost, or freed past pmm's hooks");
		add_age(s, h, e);
		break;
	case LEAK_GROWS:
	case LEAK_FILLS:
		add_growth(s, h, n, e);
		if (e->reason == LEAK_FILLS) {
			str_add(s, "; ");
			watch_doubt(s, &e->evidence);
		}
		break;
	case LEAK_STEADY:
		add_standing(s, "", &e->growth);
		add_holder(s, h, n, e);
		break;
	default:
		str_add(s, "not watched for long enough to say whether it grows");
		add_holder(s, h, n, e);
		break;
	}
}

void leaks_why(struct str *s, const struct heap *h, struct names *n, const struct leak_entry *e)
{
	add_reason(s, h, n, e);
	add_habit(s, e);
	if (e->fresh_blocks && e->fresh_blocks < e->blocks)
		str_addf(s, "; %s new since the search before", fmt_count(e->fresh_blocks).s);
}
