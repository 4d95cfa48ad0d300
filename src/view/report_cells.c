/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tables of several documents have in common: times, rates, what is unusual, frames. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/view/report_priv.h"

uint64_t report_age(const struct heap *h, uint64_t now_ns, uint64_t birth_ns)
{
	return heap_tick_span(h, birth_ns, now_ns);
}

uint64_t report_run_ns(const struct heap *h)
{
	return heap_since(h, h->taken_ns);
}

struct fmt report_run_time(const struct heap *h)
{
	uint64_t ns = report_run_ns(h);

	return h->tick_ns && ns % h->tick_ns ? fmt_duration(ns) : report_duration(h, ns);
}

struct fmt report_duration(const struct heap *h, uint64_t ns)
{
	return fmt_duration_step(ns, h->tick_ns);
}

struct fmt report_after(const struct heap *h, uint64_t ns)
{
	uint64_t after_ns = heap_tick_time(h, ns);
	struct fmt f;

	if (after_ns < h->tick_ns)
		snprintf(f.s, sizeof(f.s), "in the first %.26s",
			 fmt_duration_step(h->tick_ns, h->tick_ns).s);
	else
		snprintf(f.s, sizeof(f.s), "after %.33s", report_duration(h, after_ns).s);
	return f;
}

struct fmt report_peak(const struct heap *h)
{
	struct fmt f = fmt_bytes(h->peak_bytes), bytes = f;

	if (h->kmod.sums) {
		bytes = fmt_bytes(h->kmod.peak_bytes);
		snprintf(f.s, sizeof(f.s), "%.12s, when is not known", bytes.s);
		return f;
	}
	if (h->peak_bytes)
		snprintf(f.s, sizeof(f.s), "%.12s %.26s", bytes.s, report_after(h, h->peak_ns).s);
	return f;
}

double report_rate(const struct heap *h)
{
	uint64_t run_ns = report_run_ns(h);

	return run_ns ? (double)h->allocs * 1e9 / (double)run_ns : 0;
}

double report_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

void report_unusual(struct str *s, uint64_t failed, uint64_t zero_size, uint64_t huge)
{
	const struct {
		uint64_t n;
		const char *what;
	} all[] = { { failed, "failed" }, { zero_size, "of size zero" }, { huge, "huge" } };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].n)
			str_addf(s, "%s%s %s", s->len ? ", " : "", fmt_count(all[i].n).s,
				 all[i].what);
}

const char *report_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

void report_frame_label(struct str *s, const struct frame_name *f)
{
	if (!f)
		str_add(s, "[stack unknown]");
	else if (f->function)
		str_add(s, f->function);
	else if (f->module && f->offset)
		str_addf(s, "%s+0x%" PRIx64, report_basename(f->module), f->offset);
	else if (f->address)
		str_addf(s, "0x%" PRIx64, f->address);
	else if (f->module && !f->file)	/* of heaptrack's frames no more is known */
		str_addf(s, f->module[0] == '[' ? "%s" : "[%s]", report_basename(f->module));
	else
		str_addc(s, '?');	/* a line outside functions, that pmm.h named */
}

void report_set_label(struct table *t, unsigned label, const struct frame_name *f)
{
	struct str s = STR_INIT;

	report_frame_label(&s, f);
	table_set_text(t, label, table_text(t, &s));
	str_fini(&s);
	if (!f || f->role == FRAME_MARK)
		return;
	if (f->file && f->line)
		table_setf(t, label + 1, "%s:%u", report_basename(f->file), f->line);
	else if (f->file)
		table_set_text(t, label + 1, report_basename(f->file));
	else if (f->function && f->module && f->module[0] == '[')
		table_set_text(t, label + 1, f->module); /* "[vdso]" has its brackets */
	else if (f->function && f->module)
		table_setf(t, label + 1, "[%s]", report_basename(f->module));
}

void report_set_frame(struct table *t, unsigned first, const struct frame_name *f)
{
	if (!f)
		return;
	table_set_text(t, first, f->function);
	table_set_text(t, first + 1, f->file);
	if (f->file && f->line)
		table_set(t, first + 2, f->line);
	table_set_text(t, first + 3, f->module);
	if (f->module && f->offset)
		table_set(t, first + 4, f->offset);
	if (f->address)
		table_set(t, first + 5, f->address);
}
