/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel events of a heap in some lines, for people. */
#include "src/session/kernel_notes.h"

#include <stdlib.h>

#include "src/analyze/trace/kernel_rank.h"
#include "src/base/fmt.h"
#include "src/base/str.h"
#include "src/kernel/event_class.h"
#include "src/session/session.h"
#include "src/view/lost.h"

#define NAME_WIDTH 12	/* as the lines of a summary have it */

void kernel_notes_losses(const struct session_sink *to, const struct heap *h)
{
	struct str s = STR_INIT;

	for (enum lost_kernel i = 0; i < LOST_KERNEL_NR; i++) {
		if (!lost_kernel(h, i))
			continue;
		if (s.len)
			str_add(&s, "; ");
		lost_kernel_text(h, i, &s);
	}
	session_warn_text(to, &s, "kernel events are missing");
}

/* What of the kernel's events is worth a word. */
struct kernel_figures {
	uint64_t faults, major, swap_ins, oom, reclaims, reclaim_ns;
};

static void figure(struct kernel_figures *f, const struct kernel_kind_sum *k)
{
	switch (k->kind) {
	case TRACE_FAULT:
		f->faults = k->events;
		break;
	case TRACE_FAULT_MAJOR:
		f->major = k->events;
		break;
	case TRACE_SWAP_IN:
		f->swap_ins = k->events;
		break;
	case TRACE_RECLAIM ... TRACE_RECLAIM_NODE:
		f->reclaims += k->events;
		f->reclaim_ns += k->rows.ns;
		break;
	case TRACE_OOM:
		f->oom = k->events;
		break;
	}
}

/* A part of a line, behind a comma where it is not the first. */
static void add_part(struct str *s, const char *text)
{
	str_addf(s, "%s%s", s->len ? ", " : "", text);
}

static void note_parts(const struct session_sink *to, const char *name, struct str *s)
{
	if (str_error(s))
		session_warn(to, "a line is missing here: out of memory");
	else if (s->len)
		session_note(to, "%-*s %s", NAME_WIDTH, name, str_text(s));
	str_fini(s);
}

void kernel_notes(const struct session_sink *to, const struct heap *h)
{
	struct str faults = STR_INIT, kernel = STR_INIT;
	struct kernel_figures f = { 0 };
	struct kernel_kind_sum *kinds;
	size_t nr;

	if (kernel_kinds_sum(h, &kinds, &nr))
		session_warn(to, "what the kernel did is missing here: out of memory");
	for (size_t i = 0; i < nr; i++)
		figure(&f, &kinds[i]);
	free(kinds);
	if (f.faults)
		add_part(&faults, fmt_count(f.faults).s);
	if (f.major)
		str_addf(&faults, "%s%s major", faults.len ? ", " : "", fmt_count(f.major).s);
	if (f.swap_ins)
		add_part(&faults, fmt_many(f.swap_ins, "swap-in").s);
	if (f.reclaims)
		str_addf(&kernel, "%s lost in reclaim, %s", fmt_duration(f.reclaim_ns).s,
			 fmt_many(f.reclaims, "wait").s);
	if (f.oom)
		add_part(&kernel, fmt_many(f.oom, "OOM kill").s);
	note_parts(to, "page faults", &faults);
	note_parts(to, "kernel", &kernel);
}
