/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heaps compared: names, amounts and growth in cells. */
#include <inttypes.h>
#include <stdio.h>

#include "src/view/diff/diff_view_priv.h"
#include "src/view/report_priv.h"

void diff_set_name(struct table *t, unsigned first, const struct diff_name *name)
{
	table_set_text(t, first, name->function);
	table_set_text(t, first + 1, name->file);
	if (name->line)
		table_set(t, first + 2, name->line);
	table_set_text(t, first + 3, name->module);
	if (name->module && name->offset)
		table_set(t, first + 4, name->offset);
}

void diff_add_label(struct str *s, const struct diff_name *name)
{
	if (name->function)
		str_add(s, name->function);
	else if (name->module && name->offset)
		str_addf(s, "%s+0x%" PRIx64, report_basename(name->module), name->offset);
	else if (name->module)
		str_add(s, report_basename(name->module));
	else if (name->offset)
		str_addf(s, "0x%" PRIx64, name->offset);
	else
		str_add(s, "[no module]");
}

void diff_set_label(struct table *t, unsigned label, const struct diff_name *name)
{
	struct str s = STR_INIT;

	diff_add_label(&s, name);
	table_set_text(t, label, table_text(t, &s));
	str_fini(&s);
	if (name->mark || !name->function)
		return;
	if (name->file && name->line)
		table_setf(t, label + 1, "%s:%u", report_basename(name->file), name->line);
	else if (name->file)
		table_set_text(t, label + 1, report_basename(name->file));
	else if (name->module)
		table_setf(t, label + 1, "[%s]", report_basename(name->module));
}

bool diff_in_bytes(enum diff_key key)
{
	return key != DIFF_CALLS && key != DIFF_TEMPORARIES;
}

struct fmt diff_amount(enum diff_key key, uint64_t n)
{
	return diff_in_bytes(key) ? fmt_bytes(n) : fmt_count(n);
}

struct fmt diff_growth(int64_t before, int64_t after)
{
	double change = (double)after - (double)before;
	struct fmt f = { "" };

	if (after == before)
		return f;
	if (before <= 0)
		snprintf(f.s, sizeof(f.s), "%s", after > 0 ? "new" : "");
	else if (change * 100 < 1000 * (double)before)
		snprintf(f.s, sizeof(f.s), "%+.1f%%", 100 * change / (double)before);
	else
		snprintf(f.s, sizeof(f.s), "%.0f times", (double)after / (double)before);
	return f;
}
