/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON lines of `pmm attach`. */
#include "src/cmd/attach_json.h"

#include "src/base/json.h"
#include "src/view/report_part.h"

static uint64_t since(const struct say *s, uint64_t ns)
{
	return ns > s->start_ns ? ns - s->start_ns : 0;
}

static void begin(struct json *j, const struct say *s, const char *event, uint64_t time_ns)
{
	json_init(j, s->out);
	json_object_flat(j, NULL);
	json_str(j, "schema", WATCH_SCHEMA);
	json_str(j, "event", event);
	json_u64(j, "time_ns", since(s, time_ns));
	json_u64(j, "pid", (uint64_t)s->pid);
}

static void end(struct json *j)
{
	json_end(j);
	json_finish(j);
}

static void count(struct json *j, const char *key, struct expiry_count c)
{
	json_object_flat(j, key);
	json_u64(j, "blocks", c.blocks);
	json_u64(j, "bytes", c.bytes);
	json_end(j);
}

static void stack(struct json *j, struct names *n, uint32_t node)
{
	static const char *const role[] = { "program", "runtime", "allocator", "mark" };

	json_array_flat(j, "stack");
	for (uint32_t at = node; at; at = n->heap->nodes[at].parent) {
		unsigned nr;
		const struct frame_name *f = names_find(n, at, &nr);

		for (unsigned i = 0; i < nr; i++, f++) {
			json_object_flat(j, NULL);
			json_str(j, "function", f->function);
			json_str(j, "file", f->file);
			if (f->line)
				json_u64(j, "line", f->line);
			json_str(j, "module", f->module);
			json_hex(j, "module_offset", f->offset);
			json_bool(j, "inlined", f->inlined);
			json_str(j, "role", role[f->role]);
			json_end(j);
		}
	}
	json_end(j);
}

void attach_json_begin(struct say *s, const char *comm, const struct attach_info *info)
{
	struct json j;

	begin(&j, s, "attached", s->start_ns);
	json_str(&j, "comm", comm);
	json_u64(&j, "expire_ns", s->expire_ns);
	json_str(&j, "allocator", info->entries.allocator_path);
	json_u64(&j, "functions_patched", info->nr_patched);
	json_array_flat(&j, "functions_refused");
	for (size_t i = 0; i < info->entries.nr; i++) {
		const struct entry_found *f = &info->entries.v[i];

		if (!f->refused)
			continue;
		json_object_flat(&j, NULL);
		json_str(&j, "function", f->name);
		json_str(&j, "module", f->module);
		json_str(&j, "reason", f->refused);
		json_end(&j);
	}
	json_end(&j);
	json_u64(&j, "prepare_ns", info->prepare_ns);
	json_u64(&j, "pause_ns", info->pause_ns);
	end(&j);
}

void attach_json_totals(struct say *s, const struct ledger_totals *t)
{
	struct json j;

	begin(&j, s, "totals", t->time_ns);
	json_u64(&j, "live_bytes", t->live_bytes);
	json_u64(&j, "live_blocks", t->live_blocks);
	json_u64(&j, "allocs", t->allocs);
	json_u64(&j, "frees", t->frees);
	json_u64(&j, "bytes_in", t->bytes_in);
	json_u64(&j, "bytes_out", t->bytes_out);
	json_u64(&j, "untracked_frees", t->untracked_frees);
	end(&j);
}

void attach_json_event(struct say *s, const struct heap *h, struct names *n,
		       const struct expiry_event *e)
{
	static const char *const name[] = { "expired", "again", "freed" };
	struct json j;

	begin(&j, s, name[e->what], h->taken_ns);
	json_u64(&j, "number", e->number);
	json_u64(&j, "blocks", e->count.blocks);
	json_u64(&j, "bytes", e->count.bytes);
	count(&j, "expired", e->expired);
	json_u64(&j, "oldest_ns", e->oldest_ns);
	if (e->what == EXPIRY_NEW)
		stack(&j, n, h->sites[e->site].node);
	end(&j);
}

/* "steady many": the pieces that there are. */
static void evidence(struct json *j, const struct evidence *x)
{
	struct str s = STR_INIT;

	evidence_names(&s, x);
	json_str(j, "evidence", str_text(&s));
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
static void growth(struct json *j, const struct say *s, const struct growth *g,
		   const struct evidence *x, const struct limit *limit)
{
	static const char *const verdict[] = { "unknown", "none", "steady" };
	static const char *const reason[] = { NULL,	  "no_trend",	"one_step",
					      "levelled", "peaks_only", "turnover" };
	uint64_t left_ns = limit ? growth_time_left(limit->left_bytes, g->slope) : UINT64_MAX;

	json_object_flat(j, "growth");
	json_str(j, "verdict", verdict[g->verdict]);
	json_str(j, "reason", reason[g->reason]);
	if (g->verdict == GROWTH_STEADY) {
		json_u64(j, "since_ns", since(s, g->since_ns));
		json_double(j, "bytes_per_second", g->slope);
		json_double(j, "low_bytes_per_second", g->slope_low);
		json_double(j, "high_bytes_per_second", g->slope_high);
		if (left_ns <= growth_forecast_ns(g->until_ns - g->since_ns))
			json_u64(j, "limit_in_ns", two_digits(left_ns));
		if (x)
			evidence(j, x);
	}
	json_end(j);
}

static void nearest(struct json *j, const struct limit *l)
{
	static const char *const kind[] = {
		[LIMIT_CGROUP] = "cgroup",	 [LIMIT_ADDRESS_SPACE] = "address_space",
		[LIMIT_DATA] = "data",		 [LIMIT_MACHINE] = "machine",
		[LIMIT_PROCESSES] = "processes",
	};

	if (!l)
		return;
	json_object_flat(j, "limit");
	json_str(j, "kind", kind[l->kind]);
	if (l->where[0])
		json_str(j, "cgroup", l->where);
	json_u64(j, "limit_bytes", l->limit_bytes);
	json_u64(j, "used_bytes", l->used_bytes);
	json_u64(j, "left_bytes", l->left_bytes);
	json_end(j);
}

void attach_json_growth(struct say *s, uint64_t now_ns, const struct growth *g,
			const struct limit *limit)
{
	struct json j;

	begin(&j, s, "growth", now_ns);
	growth(&j, s, g, NULL, limit);
	nearest(&j, limit);
	end(&j);
}

static void range(struct json *j, const char *key, uint64_t from_ns, uint64_t to_ns)
{
	json_object_flat(j, key);
	json_u64(j, "from_ns", from_ns);
	json_u64(j, "to_ns", to_ns);
	json_end(j);
}

static void site(struct say *s, struct names *n, const struct outcome *o,
		 const struct watch_site *w)
{
	const struct heap_site *h = &o->heap->sites[w->row.site];
	const struct expiry_row *r = &w->row;
	struct json j;

	begin(&j, s, "site", o->heap->taken_ns);
	if (r->number)
		json_u64(&j, "number", r->number);
	count(&j, "live", r->live);
	count(&j, "expired", r->expired);
	count(&j, "expired_ever", r->ever);
	count(&j, "freed_after_expiry", r->freed);
	json_bool(&j, "silent", r->silent);
	json_u64(&j, "allocs", h->allocs);
	json_u64(&j, "bytes_in", h->bytes_in);
	json_u64(&j, "frees", h->frees);
	json_u64(&j, "bytes_out", h->bytes_out);
	json_u64(&j, "oldest_ns", r->oldest_ns);
	if (r->lifetime.nr) {
		json_object_flat(&j, "lifetime");
		json_u64(&j, "blocks", r->lifetime.nr);
		range(&j, "min", r->lifetime.min.from_ns, r->lifetime.min.to_ns);
		range(&j, "mean", r->lifetime.mean.from_ns, r->lifetime.mean.to_ns);
		range(&j, "max", r->lifetime.max.from_ns, r->lifetime.max.to_ns);
		json_end(&j);
	}
	growth(&j, s, &w->growth, &w->evidence, o->limited ? &o->limit : NULL);
	stack(&j, n, h->node);
	end(&j);
}

void attach_json_outcome(struct say *s, struct names *n, const struct outcome *o)
{
	static const char *const why[] = { "signal",	    "duration",
					   "process_ended", "process_called_exec",
					   "output_closed", "trouble" };
	const struct heap *h = o->heap;
	struct json j;

	for (size_t i = 0; i < o->nr_sites; i++)
		site(s, n, o, &o->site[i]);
	begin(&j, s, "detached", s->start_ns + o->seen_ns);
	json_str(&j, "why", why[o->end]);
	json_bool(&j, "removed", o->removed);
	json_u64(&j, "pause_ns", o->detach_pause_ns);
	json_u64(&j, "seen_ns", o->seen_ns);
	json_bool(&j, "sampled", o->sampled);
	if (o->late.failed) {
		json_u64(&j, "functions_late", o->late.nr);
		json_str(&j, "functions_late_reason", o->late.why.text);
	}
	if (h) {
		json_u64(&j, "allocs", h->allocs);
		json_u64(&j, "bytes_in", h->bytes_in);
		json_u64(&j, "frees", h->frees);
		json_u64(&j, "bytes_out", h->bytes_out);
		json_u64(&j, "untracked_frees", h->untracked_frees);
		json_u64(&j, "skipped_allocs", h->skipped_allocs);
		json_u64(&j, "live_bytes", h->live_bytes);
		json_u64(&j, "live_blocks", h->live_blocks);
	}
	count(&j, "expired", o->expired);
	json_u64(&j, "expired_sites", o->nr_expired_sites);
	json_u64(&j, "silent_sites", o->nr_silent_sites);
	json_u64(&j, "sites_left_out", o->nr_all_sites - o->nr_sites);
	growth(&j, s, &o->growth, NULL, o->limited ? &o->limit : NULL);
	nearest(&j, o->limited ? &o->limit : NULL);
	end(&j);
}
