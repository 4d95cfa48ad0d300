/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trace events, as Chromium's tracing and Perfetto read them ("Trace Event Format"): counters of
 * memory over time, marks for what happened. Times are in microseconds from the start.
 */
#include <errno.h>

#include "src/base/json.h"
#include "src/export/export_priv.h"

struct trace {
	struct json j;
	const struct export_source *s;
	bool failed;
};

static void event(struct trace *t, const char *name, const char *phase, uint64_t ns)
{
	json_object_flat(&t->j, NULL);
	json_str(&t->j, "name", name);
	json_str(&t->j, "ph", phase);
	json_double(&t->j, "ts", (double)heap_since(t->s->heap, ns) / 1000);
	json_u64(&t->j, "pid", t->s->heap->pid);
	json_u64(&t->j, "tid", t->s->heap->pid);
}

static void counter(struct trace *t, const char *name, const char *unit, uint64_t ns,
		    uint64_t value)
{
	event(t, name, "C", ns);
	json_object_flat(&t->j, "args");
	json_u64(&t->j, unit, value);
	json_end(&t->j);
	json_end(&t->j);
}

static void mark(struct trace *t, const char *name, uint64_t ns)
{
	event(t, name, "i", ns);
	json_str(&t->j, "s", "p");
	json_str(&t->j, "cat", "pmm");
	json_end(&t->j);
}

static void process_name(struct trace *t)
{
	event(t, "process_name", "M", 0);
	json_object_flat(&t->j, "args");
	json_str(&t->j, "name", t->s->heap->comm);
	json_end(&t->j);
	json_end(&t->j);
}

static void figures(struct trace *t, uint64_t ns, uint64_t bytes, uint64_t blocks)
{
	counter(t, "live bytes", "bytes", ns, bytes);
	counter(t, "live blocks", "blocks", ns, blocks);
}

static void series(struct trace *t)
{
	const struct heap *h = t->s->heap;

	figures(t, 0, 0, 0);
	for (uint32_t i = 0; i < h->nr_points; i++) {
		const struct heap_point *p = &h->points[i];

		figures(t, p->time_ns, p->live_bytes, p->live_blocks);
		counter(t, "allocations", "calls", p->time_ns, p->allocs);
		if (p->rss_bytes)
			counter(t, "RSS", "bytes", p->time_ns, p->rss_bytes);
	}
	if (!t->s->heap->nr_points || h->points[h->nr_points - 1].time_ns <= h->taken_ns) {
		figures(t, h->taken_ns, h->live_bytes, h->live_blocks);
		counter(t, "allocations", "calls", h->taken_ns, h->allocs);
	}
}

/* A counter for each of the call sites that the capture has over time. */
static void sites(struct trace *t)
{
	const struct heap *h = t->s->heap;
	struct str name = STR_INIT;

	for (uint32_t i = 0; i < h->nr_site_points; i++) {
		const struct heap_site_point *p = &h->site_points[i];
		const struct frame_name *f =
			names_responsible(t->s->names, h->sites[p->site].node, NULL);

		str_clear(&name);
		if (f)
			export_frame(&name, f->function, f->module);
		else
			str_add(&name, EXPORT_NO_STACK);
		str_addf(&name, " (site %u)", p->site);
		counter(t, str_text(&name), "bytes", p->time_ns, p->live_bytes);
		t->failed |= name.failed;
	}
	str_fini(&name);
}

static void marks(struct trace *t)
{
	const struct heap *h = t->s->heap;

	if (h->peak_bytes)
		mark(t, "peak", h->peak_ns);
	if (h->search.how != HEAP_SEARCH_NONE)
		mark(t, "search for leaks", h->search.at_ns);
	for (uint64_t i = 0; i < h->nr_findings; i++)
		mark(t, "heap error", h->findings[i].first_ns);
	mark(t, h->end == HEAP_RUNNING ? "snapshot" : "end", h->taken_ns);
}

int export_chrome(const struct export_source *s, FILE *out)
{
	struct str estimates = STR_INIT;
	struct trace t = { .s = s };
	int rc;

	json_init(&t.j, out);
	json_object(&t.j, NULL);
	json_str(&t.j, "displayTimeUnit", "ms");
	json_object_flat(&t.j, "otherData");
	json_str(&t.j, "version", "pmm " PMM_VERSION);
	json_str(&t.j, "command", s->heap->cmdline);
	if (export_estimates(&estimates, s->heap))
		json_str(&t.j, "estimates", str_text(&estimates));
	str_fini(&estimates);
	json_end(&t.j);
	json_array(&t.j, "traceEvents");
	process_name(&t);
	series(&t);
	sites(&t);
	marks(&t);
	json_end(&t.j);
	json_end(&t.j);
	rc = json_finish(&t.j);
	return rc ? rc : t.failed ? -ENOMEM : 0;
}
