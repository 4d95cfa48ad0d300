/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What sections about the kernel's events have in common: names of kinds, how much is shown. */
#include "src/kernel/event_class.h"
#include "src/view/kernel/report_kernel_priv.h"

#define TEXT_FRAMES 4	/* callers shown unless --depth says otherwise */

uint64_t report_kernel_depth(const struct report *r)
{
	return r->opt.depth_given ? r->opt.depth : TEXT_FRAMES;
}

void report_kernel_set_event(struct table *t, unsigned column, uint32_t kind)
{
	if (kind < TRACE_NR_KINDS && trace_kinds[kind].name)
		table_set_const(t, column, trace_kinds[kind].name);
	else
		table_setf(t, column, "kind %u", kind);
}

void report_kernel_cut(struct report *r, struct table *t, enum report_list list, uint64_t nr,
		       uint64_t all, const char *noun)
{
	struct str s = STR_INIT;

	r->left_out[list] = all - nr;
	if (nr == all)
		return;
	str_addf(&s, "more %s", noun);
	table_note(t, "%s (--top 0 shows all)", fmt_many(all - nr, table_text(t, &s)).s);
	str_fini(&s);
}
