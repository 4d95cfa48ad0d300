/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plain text: cutting and the looks of cells.
 */
#include "src/render/plain.h"

#include <inttypes.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/base/str.h"
#include "src/base/utf8.h"
#include "src/base/wrap.h"

unsigned plain_width(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += utf8_begins(*text);
	return n;
}

/* The text after its first n characters. */
static const char *skip(const char *text, unsigned n)
{
	for (; *text && (n || !utf8_begins(*text)); text++)
		if (utf8_begins(text[1]))
			n -= n > 0;
	return text;
}

static const char *ellipsis(const struct style *style)
{
	return style->utf8 ? "…" : "~";
}

void plain_cut(struct str *s, const char *text, unsigned width, const struct style *style)
{
	if (plain_width(text) <= width) {
		str_add(s, text);
	} else if (width) {
		str_addn(s, text, (size_t)(skip(text, width - 1) - text));
		str_add(s, ellipsis(style));
	}
}

void plain_cut_front(struct str *s, const char *text, unsigned width, const struct style *style)
{
	unsigned have = plain_width(text);

	if (have <= width) {
		str_add(s, text);
	} else if (width) {
		str_add(s, ellipsis(style));
		str_add(s, skip(text, have - (width - 1)));
	}
}

static void percent(struct str *s, double x)
{
	if (x > 0 && x < 0.05)
		str_add(s, "<0.1%");
	else if (x < 100)
		str_addf(s, "%.1f%%", x > 99.9 ? 99.9 : x);
	else
		str_add(s, "100%");
}

/* "+1.20 MiB", "-12", "0". */
static void change(struct str *s, const struct column *col, int64_t n)
{
	uint64_t size = n < 0 ? -(uint64_t)n : (uint64_t)n;
	bool bytes = col->key && str_ends(col->key, "_bytes");

	str_add(s, n < 0 ? "-" : n ? "+" : "");
	str_add(s, bytes ? fmt_bytes(size).s : fmt_count(size).s);
}

void plain_bars(struct str *s, const uint64_t *v, unsigned nr, const struct style *style)
{
	static const char *const utf8[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const ascii[] = { " ", ".", ".", ":", "-", "=", "+", "*", "#" };
	uint64_t max = 0;

	for (unsigned i = 0; i < nr; i++)
		max = v[i] > max ? v[i] : max;
	for (unsigned i = 0; i < nr; i++) {
		unsigned level = v[i] ? 1 + (unsigned)((double)v[i] / (double)max * 7) : 0;

		str_add(s, (style->utf8 ? utf8 : ascii)[level > 8 ? 8 : level]);
	}
}

void plain_cell(struct str *s, const struct table *t, unsigned column, const struct cell *c,
		const struct style *style)
{
	const struct column *col = &t->column[column];

	if (!c->set)
		return;
	if ((col->flags & COLUMN_ZERO_BLANK) && c->u == 0) {
		str_add(s, "-");
		return;
	}
	switch (col->unit) {
	case UNIT_TEXT:
		utf8_add_clean(s, c->text);
		break;
	case UNIT_COUNT:
		str_add(s, fmt_count(c->u).s);
		break;
	case UNIT_NUMBER:
		str_addf(s, "%" PRIu64, c->u);
		break;
	case UNIT_SIGNED:
		if (col->flags & COLUMN_CHANGE)
			change(s, col, (int64_t)c->u);
		else
			str_addf(s, "%" PRId64, (int64_t)c->u);
		break;
	case UNIT_BYTES:
		str_add(s, fmt_bytes(c->u).s);
		break;
	case UNIT_PERCENT:
		percent(s, c->f);
		break;
	case UNIT_DURATION:
		str_add(s, c->u || !(col->flags & COLUMN_MOMENT)
				   ? fmt_duration_step(c->u, t->tick_ns).s
				   : "0 s");
		break;
	case UNIT_TIME:
		str_add(s, fmt_time(c->u).s);
		break;
	case UNIT_ADDRESS:
		str_addf(s, "0x%" PRIx64, c->u);
		break;
	case UNIT_FLOAT:
		str_addf(s, "%.1f", c->f);
		break;
	case UNIT_BOOL:
		str_add(s, c->u ? "yes" : "no");
		break;
	case UNIT_BARS:
		plain_bars(s, c->bars, t->bars_nr, style);
		break;
	case UNIT_NUMBERS:
		for (uint64_t i = 1; i <= c->bars[0]; i++)
			str_addf(s, "%s%" PRIu64, i > 1 ? " " : "", c->bars[i]);
		break;
	}
}

int plain_title(const char *title, const struct style *style, FILE *out)
{
	struct str s = STR_INIT, lines = STR_INIT;
	int rc;

	utf8_add_clean(&s, title);
	wrap_add(&lines, str_text(&s), style->width, "", 0);
	rc = str_error(&s) ? str_error(&s) : str_error(&lines);
	if (!rc)
		fprintf(out, style->colour ? "\033[1;4m%s\033[0m\n" : "%s\n", str_text(&lines));
	str_fini(&s);
	str_fini(&lines);
	return rc;
}
