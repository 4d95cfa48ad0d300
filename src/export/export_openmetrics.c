/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures in the text form of OpenMetrics, which Prometheus reads. All are gauges: values of one
 * moment of a process that may be gone. Names of metrics and labels stay as they are.
 */
#include <errno.h>
#include <inttypes.h>

#include "src/analyze/lines.h"
#include "src/base/utf8.h"
#include "src/export/export_priv.h"

struct metrics {
	const struct export_source *s;
	struct str labels;	/* of all, without braces */
	FILE *out;
	bool failed;
};

/* Between quotes: backslash and quote are escaped, lines and controls cannot be there. */
static void add_label(struct str *s, const char *name, const char *value)
{
	struct str clean = STR_INIT;

	utf8_add_clean(&clean, value);
	str_addf(s, "%s%s=\"", s->len ? "," : "", name);
	for (const char *c = str_text(&clean); *c; c++) {
		if (*c == '\\' || *c == '"')
			str_addc(s, '\\');
		str_addc(s, *c);
	}
	str_addc(s, '"');
	s->failed |= clean.failed;
	str_fini(&clean);
}

static void family(struct metrics *m, const char *name, const char *unit, const char *help)
{
	fprintf(m->out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
	if (unit)
		fprintf(m->out, "# UNIT %s %s\n", name, unit);
}

static void gauge(struct metrics *m, const char *name, const char *unit, const char *help,
		  uint64_t value)
{
	family(m, name, unit, help);
	fprintf(m->out, "%s{%s} %" PRIu64 "\n", name, str_text(&m->labels), value);
}

static void calls(struct metrics *m, const struct heap *h)
{
	gauge(m, "pmm_heap_allocated_bytes", "bytes", "Bytes allocated since the start.",
	      h->bytes_in);
	gauge(m, "pmm_heap_freed_bytes", "bytes", "Bytes freed since the start.", h->bytes_out);
	gauge(m, "pmm_heap_allocations", NULL, "Allocations since the start.", h->allocs);
	gauge(m, "pmm_heap_frees", NULL, "Frees since the start.", h->frees);
}

/* What another tool's profile does not know has no gauge: 0 would be a figure. */
static void totals(struct metrics *m)
{
	const struct heap *h = m->s->heap;
	bool history = heap_import_history(h), allocated = heap_import_allocated(h);
	struct heap_resident resident;

	gauge(m, "pmm_heap_live_bytes", "bytes", "Bytes allocated and not freed.", h->live_bytes);
	gauge(m, "pmm_heap_live_blocks", NULL, "Blocks allocated and not freed.", h->live_blocks);
	if (history)
		gauge(m, "pmm_heap_peak_bytes", "bytes", "The most live bytes at any moment.",
		      h->peak_bytes);
	if (allocated)
		calls(m, h);
	if (history)
		gauge(m, "pmm_heap_temporary_allocations", NULL,
		      "Allocations freed as the next event of their thread.", h->temporary);
	if (!h->import.tool)
		gauge(m, "pmm_heap_failed_allocations", NULL, "Allocations that failed.",
		      h->failed);
	if (h->mode == HEAP_SAMPLED)
		gauge(m, "pmm_heap_sample_bytes", "bytes",
		      "Bytes between samples: all figures of the heap are estimates.",
		      h->sample_bytes);
	if (heap_resident(h, &resident))
		gauge(m, "pmm_process_resident_bytes", "bytes",
		      "Resident memory of the process when it was last seen.", resident.bytes);
}

static void put_line(struct metrics *m, const struct line *l, uint32_t number)
{
	const struct frame_name *f = l->frame;
	struct str labels = STR_INIT, name = STR_INIT;
	char text[24];

	str_add(&labels, str_text(&m->labels));
	if (f)
		export_frame(&name, f->function, f->module);
	add_label(&labels, "function", f ? str_text(&name) : EXPORT_NO_STACK);
	add_label(&labels, "file", f && f->file ? f->file : "");
	snprintf(text, sizeof(text), "%u", f ? f->line : 0);
	add_label(&labels, "line", text);
	add_label(&labels, "module", f && f->module ? str_basename(f->module) : "");
	/* lines without source differ in their address only */
	snprintf(text, sizeof(text), "%u", number);
	if (!f || !f->file)
		add_label(&labels, "rank", text);
	fprintf(m->out, "pmm_line_live_bytes{%s} %" PRIu64 "\n", str_text(&labels),
		l->weight.bytes);
	m->failed |= labels.failed || name.failed;
	str_fini(&labels);
	str_fini(&name);
}

static int lines(struct metrics *m)
{
	struct lines l;
	int rc = lines_rank(m->s->heap, m->s->selection, m->s->names, RANK_LIVE, 0, &l);

	if (rc)
		return rc;
	family(m, "pmm_line_live_bytes", "bytes",
	       "Live bytes by the source line that answers for them.");
	for (uint32_t i = 0; i < l.nr; i++)
		if (l.line[i].weight.bytes)
			put_line(m, &l.line[i], i + 1);
	lines_fini(&l);
	return 0;
}

int export_openmetrics(const struct export_source *s, FILE *out)
{
	struct metrics m = { .s = s, .out = out };
	int rc;

	add_label(&m.labels, "command", s->heap->comm);
	if (!s->filtered)
		totals(&m);
	rc = lines(&m);
	fputs("# EOF\n", out);
	m.failed |= m.labels.failed;
	str_fini(&m.labels);
	return rc ? rc : m.failed ? -ENOMEM : export_flush(out);
}
