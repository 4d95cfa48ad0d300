/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of `pmm attach`: one line an event on stdout, a stack below a new site, the table of
 * sites at the end.
 */
#include "src/cmd/attach_say.h"

#include <string.h>

#include "src/base/utf8.h"
#include "src/base/wrap.h"
#include "src/cmd/attach_json.h"
#include "src/render/plain.h"
#include "src/view/report_part.h"

/* Lines, each broken where it is too long. */
static void put(struct say *s, struct str *lines)
{
	struct str out = STR_INIT, line = STR_INIT, before = STR_INIT;

	for (const char *text = str_text(lines), *end; *text; text = end + (*end != '\0')) {
		end = text + strcspn(text, "\n");
		str_clear(&line);
		str_addn(&line, text, (size_t)(end - text));
		str_clear(&before);
		str_pad(&before, ' ', wrap_hang(str_text(&line)) ? wrap_hang(str_text(&line)) : 2);
		wrap_add(&out, str_text(&line), s->style.width, str_text(&before), 0);
		str_addc(&out, '\n');
	}
	fputs(str_error(lines) || str_error(&out) || str_error(&line) || str_error(&before)
		      ? "out of memory: a line is missing here\n"
		      : str_text(&out),
	      s->out);
	str_fini(&out);
	str_fini(&line);
	str_fini(&before);
	str_fini(lines);
}

static void put_table(struct say *s, struct table *t)
{
	struct doc doc = { .schema = WATCH_SCHEMA };

	doc_add(&doc, t);
	if (!doc_error(&doc))
		doc_print_text(&doc, &s->style, s->out);
	doc_fini(&doc);
}

void say_begin(struct say *s, const char *comm, const struct attach_info *info)
{
	if (s->json)
		attach_json_begin(s, comm, info);
}

void say_totals(struct say *s, const struct ledger_totals *t)
{
	if (s->json)
		attach_json_totals(s, t);
}

void say_event(struct say *s, const struct heap *h, struct names *n, const struct expiry_event *e)
{
	struct str line = STR_INIT;

	if (s->json) {
		attach_json_event(s, h, n, e);
		return;
	}
	str_addf(&line, "%8s  #%u ",
		 report_duration(h, h->taken_ns > s->start_ns ? h->taken_ns - s->start_ns : 0).s,
		 e->number);
	if (e->what == EXPIRY_FREED) {
		str_addf(&line, "freed after all: %s, %s that had outlived ",
			 fmt_many(e->count.blocks, "block").s, fmt_bytes(e->count.bytes).s);
		str_addf(&line, "%s; %s left; silent from now on\n",
			 fmt_duration_given(s->expire_ns).s,
			 fmt_many(e->expired.blocks, "block").s);
	} else if (e->what == EXPIRY_AGAIN) {
		str_addf(&line, "again: %s, %s; ", fmt_many(e->count.blocks, "more block").s,
			 fmt_bytes(e->count.bytes).s);
		str_addf(&line, "%s, %s in all, ", fmt_many(e->expired.blocks, "block").s,
			 fmt_bytes(e->expired.bytes).s);
		str_addf(&line, "the oldest %s old\n", report_duration(h, e->oldest_ns).s);
	} else {
		str_addf(&line, "%s, %s outlived ", fmt_many(e->count.blocks, "block").s,
			 fmt_bytes(e->count.bytes).s);
		str_addf(&line, "%s, the oldest ", fmt_duration_given(s->expire_ns).s);
		str_addf(&line, "%s old\n", report_duration(h, e->oldest_ns).s);
	}
	put(s, &line);
	if (e->what == EXPIRY_NEW)
		put_table(s, watch_stack(h, n, e->site));
}

void say_more(struct say *s, uint64_t now_ns, uint64_t nr)
{
	struct str line = STR_INIT;

	str_addf(&line, "%8s  and %s more of the kind; the table at the end has all sites\n",
		 fmt_duration(now_ns > s->start_ns ? now_ns - s->start_ns : 0).s, fmt_count(nr).s);
	put(s, &line);
}

/* ---- growth ---- */

static void add_until(struct str *line, const struct growth *g, const struct limit *limit)
{
	uint64_t left_ns = growth_time_left(limit->left_bytes, g->slope);
	struct fmt when;
	bool reached;

	if (left_ns == UINT64_MAX)
		return;
	when = watch_forecast(left_ns, g->until_ns - g->since_ns, &reached);
	str_add(line, reached ? "; reaches " : "; does not reach ");
	if (limit->kind == LIMIT_MACHINE)
		str_add(line, "the machine's memory of ");
	else
		str_addf(line, "its %s of ", limit_name(limit->kind));
	str_addf(line, "%s %s", fmt_bytes(limit->limit_bytes).s, when.s);
}

static void add_growth(struct str *line, const struct say *s, const struct growth *g,
		       const struct limit *limit)
{
	uint64_t since_ns = g->since_ns > s->start_ns ? g->since_ns - s->start_ns : 0;

	if (g->verdict == GROWTH_UNKNOWN) {
		str_addf(line, "growth: too short a time to tell (it takes %d looks and %s)",
			 GROWTH_MIN_POINTS, fmt_duration_given(GROWTH_MIN_NS).s);
		return;
	}
	if (g->verdict == GROWTH_NONE) {
		str_addf(line, "growth: no steady growth: %s", watch_reason(g->reason));
		return;
	}
	str_addf(line, "growth: the heap GROWS steadily by %s ", watch_pace(g->slope).s);
	str_addf(line, "(%s to ", watch_pace(g->slope_low).s);
	str_addf(line, "%s in 19 of 20 cases) ", watch_pace(g->slope_high).s);
	str_addf(line, "since %s", fmt_duration(since_ns).s);
	if (limit)
		add_until(line, g, limit);
}

void say_growth(struct say *s, uint64_t now_ns, const struct growth *g, const struct limit *limit)
{
	struct str line = STR_INIT;

	if (s->json) {
		attach_json_growth(s, now_ns, g, limit);
		return;
	}
	str_addf(&line, "%8s  ", fmt_duration(now_ns - s->start_ns).s);
	add_growth(&line, s, g, limit);
	str_addc(&line, '\n');
	put(s, &line);
}

/* ---- the end ---- */

static void add_totals(struct str *line, const struct say *s, const struct outcome *o)
{
	const struct heap *h = o->heap;

	str_add(line, "\nwatched '");
	utf8_add_clean(line, h->comm);
	str_addf(line, "' (%d) for %s: %s", (int)s->pid, fmt_duration(o->seen_ns).s,
		 o->sampled ? "about " : "");
	str_addf(line, "%s of %s, ", fmt_many(h->allocs, "allocation").s, fmt_bytes(h->bytes_in).s);
	if (h->frees)
		str_addf(line, "%s of %s\n", fmt_many(h->frees, "free").s,
			 fmt_bytes(h->bytes_out).s);
	else
		str_add(line, "no frees\n");
	str_addf(line, "live: %s%s, ", o->sampled ? "about " : "",
		 fmt_many(h->live_blocks, "block").s);
	str_addf(line, "%s of what was allocated since the attach", fmt_bytes(h->live_bytes).s);
	if (h->untracked_frees)
		str_addf(line, "; %s from before %s freed",
			 fmt_many(h->untracked_frees, "block").s,
			 fmt_agree(h->untracked_frees, "was", "were"));
	str_add(line, "\n");
	if (h->skipped_allocs)
		str_addf(line, "not looked at: %s below %s\n",
			 fmt_many(h->skipped_allocs, "allocation").s,
			 fmt_bytes(h->min_size_bytes).s);
}

static void add_verdict(struct str *line, const struct say *s, const struct outcome *o)
{
	if (o->expired.blocks) {
		str_addf(line, "expired: %s, ", fmt_many(o->expired.blocks, "block").s);
		str_addf(line, "%s of %s ", fmt_bytes(o->expired.bytes).s,
			 fmt_many(o->nr_expired_sites, "site").s);
		str_addf(line, "live for %s or more", fmt_duration_given(s->expire_ns).s);
		if (o->nr_silent_sites)
			str_addf(line, "; %u of these sites freed such blocks before",
				 o->nr_silent_sites);
		str_add(line, "\n");
	} else {
		str_addf(line,
			 o->seen_ns < s->expire_ns
				 ? "expired: none: it was watched for less than %s\n"
				 : "expired: no block that is alive has lived for %s\n",
			 fmt_duration_given(s->expire_ns).s);
	}
	add_growth(line, s, &o->growth, o->limited ? &o->limit : NULL);
	str_add(line, "\n");
	if (o->sampled && o->growth.verdict == GROWTH_STEADY)
		str_add(line, "        (in sampled mode, new blocks that replace ones from before "
			      "the attach look the same)\n");
	if (o->nr_unjudged_sites)
		str_addf(line, "        (%s %s too many to follow)\n",
			 fmt_many(o->nr_unjudged_sites, "more site").s,
			 fmt_agree(o->nr_unjudged_sites, "was", "were"));
}

static bool nothing_seen(const struct heap *h)
{
	return !h->allocs && !h->frees && !h->untracked_frees && !h->skipped_allocs && !h->failed;
}

void say_outcome(struct say *s, struct names *n, const struct outcome *o)
{
	struct str line = STR_INIT;

	if (s->json) {
		attach_json_outcome(s, n, o);
		return;
	}
	if (!o->heap) {
		str_add(&line, "what was recorded could not be read\n");
	} else if (nothing_seen(o->heap)) {
		str_addf(&line, "no allocations were seen in %s: ", fmt_duration(o->seen_ns).s);
		str_add(&line, "the program did not call its allocator, or uses one that pmm does "
			       "not know (see --alloc)\n");
	} else {
		add_totals(&line, s, o);
		add_verdict(&line, s, o);
	}
	put(s, &line);
	if (o->nr_sites) {
		fputc('\n', s->out);
		put_table(s, watch_sites(o->heap, n, o->site, o->nr_sites, o->nr_all_sites,
					 o->limited ? o->limit.left_bytes : UINT64_MAX));
	}
}
