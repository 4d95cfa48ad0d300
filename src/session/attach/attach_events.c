/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happens while a process is watched, as events. */
#include "src/session/attach/attach_events.h"

#include "src/base/utf8.h"
#include "src/view/lost.h"
#include "src/view/report_view.h"

#define NR(array)	(sizeof(array) / sizeof(*(array)))

static uint64_t since(const struct attach_scope *s, uint64_t ns)
{
	return ns > s->start_ns ? ns - s->start_ns : 0;
}

/* ---- fields that several have ---- */

static struct event begin(const struct attach_scope *s, const char *name, uint64_t time_ns)
{
	struct event e = { 0 };

	event_text(&e, "schema", WATCH_SCHEMA);
	event_text(&e, "event", name);
	event_u64(&e, "time_ns", UNIT_DURATION, since(s, time_ns));
	event_u64(&e, "pid", UNIT_NUMBER, (uint64_t)s->pid);
	return e;
}

static void add_count(struct event *e, const char *key, struct expiry_count c)
{
	event_object(e, key);
	event_u64(e, "blocks", UNIT_COUNT, c.blocks);
	event_u64(e, "bytes", UNIT_BYTES, c.bytes);
	event_end(e);
}

static void add_frame(struct event *e, const struct frame_name *f)
{
	event_object(e, NULL);
	event_text(e, "function", f->function);
	event_text(e, "file", f->file);
	if (f->line)
		event_u64(e, "line", UNIT_NUMBER, f->line);
	event_text(e, "module", f->module);
	event_u64(e, "module_offset", UNIT_ADDRESS, f->offset);
	event_u64(e, "inlined", UNIT_BOOL, f->inlined);
	event_text(e, "role", frame_role_name(f->role));
	event_end(e);
}

static void fill_stack(struct event *e, const void *arg)
{
	const struct attach_site *at = arg;

	for (uint32_t node = at->heap->sites[at->site].node; node;
	     node = at->heap->nodes[node].parent) {
		unsigned nr;
		const struct frame_name *f = names_find(at->names, node, &nr);

		for (unsigned i = 0; i < nr; i++)
			add_frame(e, &f[i]);
	}
}

/* "steady many": the pieces that there are. */
static void add_evidence(struct event *e, const struct evidence *x)
{
	struct str s = STR_INIT;

	evidence_names(&s, x);
	e->failed |= str_error(&s) != 0;
	event_text(e, "evidence", str_text(&s));
	str_fini(&s);
}

/* An estimate has no more. */
static uint64_t two_digits(uint64_t n)
{
	uint64_t unit = 1;

	while (n / unit >= 100)
		unit *= 10;
	return n / unit * unit;
}

/* `x`: what else speaks for a leak; NULL = it is about the heap. */
static void add_growth(struct event *e, const struct attach_scope *s, const struct growth *g,
		       const struct evidence *x, const struct limit *limit)
{
	static const char *const verdict[] = {
		[GROWTH_UNKNOWN] = "unknown",
		[GROWTH_NONE] = "none",
		[GROWTH_STEADY] = "steady",
	};
	static const char *const reason[] = {
		[GROWTH_REASON_NONE] = NULL,	  [GROWTH_NO_TREND] = "no_trend",
		[GROWTH_ONE_STEP] = "one_step",	  [GROWTH_LEVELLED] = "levelled",
		[GROWTH_PEAKS_ONLY] = "peaks_only", [GROWTH_TURNOVER] = "turnover",
	};
	uint64_t left_ns = limit ? growth_time_left(limit->left_bytes, g->slope) : UINT64_MAX;

	_Static_assert(NR(verdict) == GROWTH_NR_VERDICTS && NR(reason) == GROWTH_NR_REASONS,
		       "a name for each");
	event_object(e, "growth");
	event_text(e, "verdict", verdict[g->verdict]);
	event_text(e, "reason", reason[g->reason]);
	if (g->verdict == GROWTH_STEADY) {
		event_u64(e, "since_ns", UNIT_DURATION, since(s, g->since_ns));
		event_float(e, "bytes_per_second", g->slope);
		event_float(e, "low_bytes_per_second", g->slope_low);
		event_float(e, "high_bytes_per_second", g->slope_high);
		if (left_ns <= growth_forecast_ns(g->until_ns - g->since_ns))
			event_u64(e, "limit_in_ns", UNIT_DURATION, two_digits(left_ns));
		if (x)
			add_evidence(e, x);
	}
	event_end(e);
}

static void add_limit(struct event *e, const struct limit *l)
{
	static const char *const kind[] = {
		[LIMIT_CGROUP] = "cgroup",	 [LIMIT_ADDRESS_SPACE] = "address_space",
		[LIMIT_DATA] = "data",		 [LIMIT_MACHINE] = "machine",
		[LIMIT_PROCESSES] = "processes",
	};

	_Static_assert(NR(kind) == LIMIT_NR_KINDS, "a name for each");
	if (!l)
		return;
	event_object(e, "limit");
	event_text(e, "kind", kind[l->kind]);
	if (l->where[0])
		event_text(e, "cgroup", l->where);
	event_u64(e, "limit_bytes", UNIT_BYTES, l->limit_bytes);
	event_u64(e, "used_bytes", UNIT_BYTES, l->used_bytes);
	event_u64(e, "left_bytes", UNIT_BYTES, l->left_bytes);
	event_end(e);
}

/* ---- the beginning, and how much there is ---- */

struct event attach_event_attached(const struct attach_scope *s, const char *comm,
				   const struct attach_info *info)
{
	struct event e = begin(s, "attached", s->start_ns);

	event_text(&e, "comm", comm);
	event_u64(&e, "expire_ns", UNIT_DURATION, s->expire_ns);
	event_text(&e, "allocator", info->entries.allocator_path);
	event_u64(&e, "functions_patched", UNIT_COUNT, info->nr_patched);
	event_list(&e, "functions_refused");
	for (size_t i = 0; i < info->entries.nr; i++) {
		const struct entry_found *f = &info->entries.v[i];

		if (!f->refused)
			continue;
		event_object(&e, NULL);
		event_text(&e, "function", f->name);
		event_text(&e, "module", f->module);
		event_text(&e, "reason", f->refused);
		event_end(&e);
	}
	event_end(&e);
	event_u64(&e, "prepare_ns", UNIT_DURATION, info->prepare_ns);
	event_u64(&e, "pause_ns", UNIT_DURATION, info->pause_ns);
	return e;
}

struct event attach_event_totals(const struct attach_scope *s, const struct ledger_totals *t)
{
	struct event e = begin(s, "totals", t->time_ns);

	event_u64(&e, "live_bytes", UNIT_BYTES, t->live_bytes);
	event_u64(&e, "live_blocks", UNIT_COUNT, t->live_blocks);
	event_u64(&e, "allocs", UNIT_COUNT, t->allocs);
	event_u64(&e, "frees", UNIT_COUNT, t->frees);
	event_u64(&e, "bytes_in", UNIT_BYTES, t->bytes_in);
	event_u64(&e, "bytes_out", UNIT_BYTES, t->bytes_out);
	event_u64(&e, "untracked_frees", UNIT_COUNT, t->untracked_frees);
	return e;
}

/* ---- expiry ---- */

static struct table *site_stack(const void *arg)
{
	const struct attach_site *at = arg;

	return watch_stack(at->heap, at->names, at->site);
}

static void say_expiry(struct str *line, const struct attach_scope *s, const struct heap *h,
		       const struct expiry_event *x)
{
	str_addf(line, "%8s  #%u ", report_duration(h, since(s, h->taken_ns)).s, x->number);
	switch (x->what) {
	case EXPIRY_FREED:
		str_addf(line, "freed after all: %s, %s that had outlived ",
			 fmt_many(x->count.blocks, "block").s, fmt_bytes(x->count.bytes).s);
		str_addf(line, "%s; %s left; silent until it holds more than twice its most\n",
			 fmt_duration_given(s->expire_ns).s,
			 fmt_many(x->expired.blocks, "block").s);
		break;
	case EXPIRY_AGAIN:
		str_addf(line, "again: %s, %s; ", fmt_many(x->count.blocks, "more block").s,
			 fmt_bytes(x->count.bytes).s);
		str_addf(line, "%s, %s not freed, ", fmt_many(x->expired.blocks, "block").s,
			 fmt_bytes(x->expired.bytes).s);
		str_addf(line, "the oldest %s old\n", report_duration(h, x->oldest_ns).s);
		break;
	case EXPIRY_NEW:
		str_addf(line, "%s, %s outlived ", fmt_many(x->count.blocks, "block").s,
			 fmt_bytes(x->count.bytes).s);
		str_addf(line, "%s, the oldest ", fmt_duration_given(s->expire_ns).s);
		str_addf(line, "%s old\n", report_duration(h, x->oldest_ns).s);
		break;
	}
}

struct event attach_event_expiry(const struct attach_scope *s, const struct attach_site *at,
				 const struct expiry_event *x)
{
	static const char *const name[] = {
		[EXPIRY_NEW] = "expired",
		[EXPIRY_AGAIN] = "again",
		[EXPIRY_FREED] = "freed",
	};
	struct event e = begin(s, name[x->what], at->heap->taken_ns);

	_Static_assert(NR(name) == EXPIRY_NR, "a name for each");
	event_u64(&e, "number", UNIT_NUMBER, x->number);
	event_u64(&e, "blocks", UNIT_COUNT, x->count.blocks);
	event_u64(&e, "bytes", UNIT_BYTES, x->count.bytes);
	add_count(&e, "expired", x->expired);
	event_u64(&e, "oldest_ns", UNIT_DURATION, x->oldest_ns);
	say_expiry(&e.text, s, at->heap, x);
	if (x->what == EXPIRY_NEW) {
		event_filled_list(&e, "stack", fill_stack, at);
		e.below = site_stack;
		e.below_arg = at;
	}
	return e;
}

struct event attach_event_more(const struct attach_scope *s, uint64_t now_ns, uint64_t nr)
{
	struct event e = { 0 };

	str_addf(&e.text, "%8s  and %s more of the kind; the table at the end has all sites\n",
		 fmt_duration(since(s, now_ns)).s, fmt_count(nr).s);
	return e;
}

/* ---- heap errors ---- */

struct event attach_event_error(const struct attach_scope *s, const struct heap *h,
				struct table *errors, uint64_t group)
{
	struct event e = begin(s, "error", h->taken_ns);

	event_object(&e, "finding");
	event_group(&e, errors, group);
	event_end(&e);
	return e;
}

/* ---- growth ---- */

static void say_until(struct str *line, const struct growth *g, const struct limit *limit)
{
	uint64_t left_ns = growth_time_left(limit->left_bytes, g->slope);
	struct fmt when;
	bool reached;

	if (left_ns == UINT64_MAX)
		return;
	when = watch_forecast(left_ns, g->until_ns - g->since_ns, &reached);
	str_addf(line, "; at this pace it will %sreach ", reached ? "" : "not ");
	if (limit->kind == LIMIT_MACHINE)
		str_add(line, "the machine's memory of ");
	else
		str_addf(line, "its %s of ", limit_name(limit->kind));
	str_addf(line, "%s %s", fmt_bytes(limit->limit_bytes).s, when.s);
}

static void say_growth(struct str *line, const struct growth *g, const struct limit *limit)
{
	switch (g->verdict) {
	case GROWTH_UNKNOWN:
		str_addf(line, "growth: too short a time to tell (it takes %d samples and %s)\n",
			 GROWTH_MIN_POINTS, fmt_duration_given(GROWTH_MIN_NS).s);
		break;
	case GROWTH_NONE:
		str_addf(line, "growth: not %s, because %s\n",
			 g->reason == GROWTH_TURNOVER ? "certain" : "steady",
			 watch_reason(g->reason));
		break;
	case GROWTH_STEADY:
		str_addf(line, "growth: the heap GROWS steadily by %s ", watch_pace(g->slope).s);
		str_addf(line, "(%s to ", watch_pace(g->slope_low).s);
		str_addf(line, "%s in 19 of 20 cases) ", watch_pace(g->slope_high).s);
		str_addf(line, "for %s", fmt_duration(g->until_ns - g->since_ns).s);
		if (limit)
			say_until(line, g, limit);
		str_add(line, "\n");
		break;
	}
}

struct event attach_event_growth(const struct attach_scope *s, uint64_t now_ns,
				 const struct growth *g, const struct limit *limit)
{
	struct event e = begin(s, "growth", now_ns);

	add_growth(&e, s, g, NULL, limit);
	add_limit(&e, limit);
	str_addf(&e.text, "%8s  ", fmt_duration(now_ns - s->start_ns).s);
	say_growth(&e.text, g, limit);
	return e;
}

/* ---- the end ---- */

static void add_range(struct event *e, const char *key, uint64_t from_ns, uint64_t to_ns)
{
	event_object(e, key);
	event_u64(e, "from_ns", UNIT_DURATION, from_ns);
	event_u64(e, "to_ns", UNIT_DURATION, to_ns);
	event_end(e);
}

static const struct limit *limit_of(const struct outcome *o)
{
	return o->limited ? &o->limit : NULL;
}

struct event attach_event_site(const struct attach_scope *s, const struct attach_site *at,
			       const struct outcome *o, const struct watch_site *w)
{
	const struct heap_site *h = &at->heap->sites[at->site];
	const struct expiry_row *r = &w->row;
	struct event e = begin(s, "site", at->heap->taken_ns);

	if (r->number)
		event_u64(&e, "number", UNIT_NUMBER, r->number);
	add_count(&e, "live", r->live);
	add_count(&e, "expired", r->expired);
	add_count(&e, "expired_ever", r->ever);
	add_count(&e, "freed_after_expiry", r->freed);
	event_u64(&e, "silent", UNIT_BOOL, r->silent);
	event_u64(&e, "allocs", UNIT_COUNT, h->allocs);
	event_u64(&e, "bytes_in", UNIT_BYTES, h->bytes_in);
	event_u64(&e, "frees", UNIT_COUNT, h->frees);
	event_u64(&e, "bytes_out", UNIT_BYTES, h->bytes_out);
	event_u64(&e, "oldest_ns", UNIT_DURATION, r->oldest_ns);
	if (r->lifetime.nr) {
		event_object(&e, "lifetime");
		event_u64(&e, "blocks", UNIT_COUNT, r->lifetime.nr);
		add_range(&e, "min", r->lifetime.min.from_ns, r->lifetime.min.to_ns);
		add_range(&e, "mean", r->lifetime.mean.from_ns, r->lifetime.mean.to_ns);
		add_range(&e, "max", r->lifetime.max.from_ns, r->lifetime.max.to_ns);
		event_end(&e);
	}
	add_growth(&e, s, &w->growth, &w->evidence, limit_of(o));
	event_filled_list(&e, "stack", fill_stack, at);
	return e;
}

static void say_totals(struct str *line, const struct attach_scope *s, const struct outcome *o)
{
	const struct heap *h = o->heap;
	const char *about = o->sampled ? "about " : "";

	str_add(line, "\nwatched '");
	utf8_add_clean(line, h->comm);
	str_addf(line, "' (%d) for %s: %s", (int)s->pid, report_run_time(h).s, about);
	str_addf(line, "%s of %s, ", fmt_many(h->allocs, "allocation").s, fmt_bytes(h->bytes_in).s);
	if (h->frees)
		str_addf(line, "%s of %s\n", fmt_many(h->frees, "free").s,
			 fmt_bytes(h->bytes_out).s);
	else
		str_add(line, "no frees\n");
	str_addf(line, "live: %s%s, ", about, fmt_many(h->live_blocks, "block").s);
	str_addf(line, "%s of what was allocated since the attach", fmt_bytes(h->live_bytes).s);
	if (h->untracked_frees)
		str_addf(line, "; %s from before%s %s freed",
			 fmt_many(h->untracked_frees, "block").s,
			 heap_allocator_is_glibc(h) ? ""
						    : ", or made in ways of the allocator's own "
						      "that pmm does not see,",
			 fmt_agree(h->untracked_frees, "was", "were"));
	str_add(line, "\n");
	if (h->missed_frees)
		str_addf(line,
			 "past the hooks: %s of these frees, as new blocks in their place show; "
			 "others may have been that do not show\n",
			 fmt_count(h->missed_frees).s);
	if (h->skipped_allocs)
		str_addf(line, "skipped: %s below %s\n",
			 fmt_many(h->skipped_allocs, "allocation").s,
			 fmt_bytes(h->min_size_bytes).s);
}

static void say_expired(struct str *line, const struct attach_scope *s, const struct outcome *o)
{
	if (o->expired.blocks) {
		str_addf(line, "expired: %s, ", fmt_many(o->expired.blocks, "block").s);
		str_addf(line, "%s of %s ", fmt_bytes(o->expired.bytes).s,
			 fmt_many(o->nr_expired_sites, "site").s);
		str_addf(line, "have lived for %s or more and are not freed",
			 fmt_duration_given(s->expire_ns).s);
		if (o->nr_silent_sites)
			str_addf(line, "; %u of these sites freed such blocks before",
				 o->nr_silent_sites);
		str_add(line, "\n");
	} else {
		str_addf(line,
			 o->seen_ns < s->expire_ns
				 ? "expired: none, because the process was watched for less "
				   "than %s\n"
				 : "expired: no block that is alive has lived for %s\n",
			 fmt_duration_given(s->expire_ns).s);
	}
}

static void say_verdict(struct str *line, const struct outcome *o)
{
	say_growth(line, &o->growth, limit_of(o));
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

static void say_outcome(struct str *line, const struct attach_scope *s, const struct outcome *o)
{
	bool ended = o->heap && lost_off_text(o->heap, line);

	if (ended)
		str_add(line, "\n");
	if (!o->heap) {
		str_add(line, "what was recorded could not be read\n");
	} else if (nothing_seen(o->heap)) {
		str_addf(line, "no allocations were seen in %s", report_run_time(o->heap).s);
		if (o->stopped)
			str_addf(line,
				 "; process %d is stopped, and 'kill -CONT %d' continues it\n",
				 (int)s->pid, (int)s->pid);
		else if (ended)
			str_add(line, "\n");
		else
			str_add(line, ": the program did not call its allocator, or uses one that "
				      "pmm does not know (see --alloc)\n");
	} else {
		say_totals(line, s, o);
		say_expired(line, s, o);
		say_verdict(line, o);
	}
}

static struct table *all_sites(const void *arg)
{
	const struct attach_sites *x = arg;
	const struct outcome *o = x->outcome;

	return watch_sites(o->heap, x->names, o->site, o->nr_sites, o->nr_all_sites,
			   o->limited ? o->limit.left_bytes : UINT64_MAX);
}

static void add_heap(struct event *e, const struct heap *h)
{
	event_u64(e, "allocs", UNIT_COUNT, h->allocs);
	event_u64(e, "bytes_in", UNIT_BYTES, h->bytes_in);
	event_u64(e, "frees", UNIT_COUNT, h->frees);
	event_u64(e, "bytes_out", UNIT_BYTES, h->bytes_out);
	event_u64(e, "untracked_frees", UNIT_COUNT, h->untracked_frees);
	event_u64(e, "skipped_allocs", UNIT_COUNT, h->skipped_allocs);
	event_u64(e, "live_bytes", UNIT_BYTES, h->live_bytes);
	event_u64(e, "live_blocks", UNIT_COUNT, h->live_blocks);
}

struct event attach_event_outcome(const struct attach_scope *s, const struct attach_sites *x)
{
	static const char *const why[] = {
		[SAY_SIGNAL] = "signal",
		[SAY_DURATION] = "duration",
		[SAY_ENDED] = "process_ended",
		[SAY_EXECED] = "process_called_exec",
		[SAY_MUTE] = "output_closed",
		[SAY_TROUBLE] = "trouble",
	};
	const struct outcome *o = x->outcome;
	struct event e = begin(s, "detached", s->start_ns + o->seen_ns);

	_Static_assert(NR(why) == SAY_NR_ENDS, "a name for each");
	event_text(&e, "why", why[o->end]);
	event_u64(&e, "removed", UNIT_BOOL, o->removed);
	event_u64(&e, "stopped", UNIT_BOOL, o->stopped);
	event_u64(&e, "pause_ns", UNIT_DURATION, o->detach_pause_ns);
	event_u64(&e, "seen_ns", UNIT_DURATION, o->seen_ns);
	event_u64(&e, "sampled", UNIT_BOOL, o->sampled);
	if (o->late.failed) {
		event_u64(&e, "functions_late", UNIT_COUNT, o->late.nr);
		event_text(&e, "functions_late_reason", o->late.why.text);
	}
	if (o->heap)
		add_heap(&e, o->heap);
	if (o->heap && o->heap->check.level)
		event_u64(&e, "errors", UNIT_COUNT, o->heap->nr_findings);
	add_count(&e, "expired", o->expired);
	event_u64(&e, "expired_sites", UNIT_COUNT, o->nr_expired_sites);
	event_u64(&e, "silent_sites", UNIT_COUNT, o->nr_silent_sites);
	event_u64(&e, "sites_left_out", UNIT_COUNT, o->nr_all_sites - o->nr_sites);
	add_growth(&e, s, &o->growth, NULL, limit_of(o));
	add_limit(&e, limit_of(o));
	say_outcome(&e.text, s, o);
	if (o->nr_sites) {
		str_add(&e.text, "\n");
		e.below = all_sites;
		e.below_arg = x;
	}
	return e;
}
