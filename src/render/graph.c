/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Graphs: one value over time, drawn in characters.
 *
 *	65.4 MiB |              ##
 *	         |          ####### ##
 *	       0 |__####################__
 *	          0 s          ^ peak      12.3 s
 *	  faults |. ##:      . #          .
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/render/plain.h"

#define HEIGHT 8
#define MIN_WIDTH 20
#define SHORTEST_NS	50000000u /* less says nothing: a few ticks of the clock */
#define MAX_WIDTH 98
#define SCALE_WIDTH 12 /* of the scale at the left, with its bar */

static const char *const utf8_part[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const ascii_part[] = { " ", " ", "_", "_", ".", ".", ":", ":", "#" };

/* Eighths of a character that value fills in the line from `level` up. */
static unsigned eighths(uint64_t value, uint64_t highest, unsigned level)
{
	double filled = (double)value / (double)highest * HEIGHT * 8 - level * 8.0;

	if (value && level == 0 && filled < 1)
		return 1;
	return filled <= 0 ? 0 : filled >= 8 ? 8 : (unsigned)(filled + 0.5);
}

/* Write a line without the blanks at its end, and release it. 0 or -ENOMEM. */
static int put_line(struct str *line, FILE *out)
{
	size_t len = line->len;
	int rc = str_error(line);

	while (len && str_text(line)[len - 1] == ' ')
		len--;
	if (!rc)
		fprintf(out, "%.*s\n", (int)len, str_text(line));
	str_fini(line);
	return rc;
}

static int put_level(const uint64_t *v, unsigned width, uint64_t highest, unsigned level,
		      const struct style *style, FILE *out)
{
	struct str line = STR_INIT;
	const char *scale = level == HEIGHT - 1	      ? fmt_bytes(highest).s
			    : level == HEIGHT / 2 - 1 ? fmt_bytes(highest / 2).s
			    : level == 0	      ? "0"
						      : "";

	str_addf(&line, "%*s ", SCALE_WIDTH - 2, scale);
	str_add(&line, style->utf8 ? "│" : "|");
	for (unsigned i = 0; i < width; i++)
		str_add(&line,
			(style->utf8 ? utf8_part : ascii_part)[eighths(v[i], highest, level)]);
	return put_line(&line, out);
}

static struct fmt at_time(const struct series *s, uint64_t ns)
{
	return ns ? fmt_duration_step(ns, s->tick_ns) : fmt_duration(0);
}

/* The line of times below, with an arrow under the mark. */
static void put_times(const struct series *s, unsigned width, FILE *out)
{
	uint64_t from = series_get(s, 0, 0), to = series_get(s, s->nr - 1, 0);
	struct fmt first = at_time(s, from), last = at_time(s, to);
	char mark[160] = "";
	unsigned at = 0, len;

	fprintf(out, "%*s", SCALE_WIDTH, "");
	if (s->mark < s->nr) {
		uint64_t t = series_get(s, s->mark, 0);

		at = to > from ? (unsigned)((double)(t - from) / (double)(to - from) * width) : 0;
		at = at < width ? at : width - 1;
		snprintf(mark, sizeof(mark), "^ %s %s at %s", s->mark_name,
			 fmt_bytes(series_get(s, s->mark, 1)).s, at_time(s, t).s);
	}
	len = (unsigned)strlen(mark);
	if (len && at + len > width) {
		/* no room to the right: put the text before the arrow */
		snprintf(mark, sizeof(mark), "%s %s at %s ^", s->mark_name,
			 fmt_bytes(series_get(s, s->mark, 1)).s,
			 at_time(s, series_get(s, s->mark, 0)).s);
		at = at + 1 > len ? at + 1 - len : 0;
	}
	if (len)
		fprintf(out, "%*s%s\n%*s", (int)at, "", mark, SCALE_WIDTH, "");
	fprintf(out, "%s%*s\n", first.s, (int)(width - strlen(first.s)), last.s);
}

/* How many events there were in each column, a line for each row. */
static int put_rows(const struct series *s, uint64_t *v, unsigned width, const struct style *style,
		    FILE *out)
{
	int rc = 0;

	for (unsigned row = 0; row < s->rows.nr && !rc; row++) {
		struct str line = STR_INIT;

		series_fold_row(s, row, v, width);
		str_addf(&line, "%*s %s", SCALE_WIDTH - 2, s->rows.v[row].name,
			 style->utf8 ? "│" : "|");
		plain_bars(&line, v, width, style);
		rc = put_line(&line, out);
	}
	return rc;
}

bool plain_has_graph(const struct series *s)
{
	return !s->json_only && s->nr &&
	       series_get(s, s->nr - 1, 0) - series_get(s, 0, 0) >= SHORTEST_NS;
}

int plain_graph(const struct series *s, const struct style *style, FILE *out)
{
	unsigned width =
		style->width > SCALE_WIDTH + MIN_WIDTH ? style->width - SCALE_WIDTH : MIN_WIDTH;
	uint64_t *v, highest;
	int rc;

	if (width > MAX_WIDTH)
		width = MAX_WIDTH;
	v = calloc(width, sizeof(*v));
	if (!v)
		return -ENOMEM;
	rc = plain_title(s->title, style, out);
	highest = series_fold(s, v, width);
	if (s->nr && highest) {
		for (unsigned level = HEIGHT; !rc && level-- > 0;)
			rc = put_level(v, width, highest, level, style, out);
		put_times(s, width, out);
		rc = rc ? rc : put_rows(s, v, width, style, out);
	} else {
		fputs("  nothing to draw\n", out);
	}
	free(v);
	return rc;
}
