/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text renderer, for a person in a hurry: aligned columns, one line per row, cut to the width
 * of the line.
 *
 * Widths are measured over all rows first. A label takes what is left of the line; when label and
 * tail do not fit, the label loses its end, so that the file and line of a long C++ name stay
 * readable. A module ("[libc.so.6]") says less than the function in it and gives way. A column
 * of paths (COLUMN_GIVES_WAY) loses their beginnings.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/utf8.h"
#include "src/base/wrap.h"
#include "src/document/doc.h"
#include "src/render/plain.h"

#define GAP 2
#define INDENT 2
#define MIN_LABEL 24
#define MIN_MODULE 8	/* less of a module's name is not worth the room */
#define MAX_COLUMNS 64

struct printer {
	const struct style *style;
	FILE *out;
	unsigned width[MAX_COLUMNS];
	bool blank[MAX_COLUMNS];  /* a column of zeros that are not shown: neither is it */
	uint32_t *indent; /* by row; NULL: depth times INDENT */
	bool visible;	  /* the table has rows to show */
	bool begun;	  /* something was written before */
	bool failed;	  /* no memory for a line: it is missing */
	unsigned gap;	  /* between columns: GAP, less where they would not fit into the line */
};

static bool visible(const struct printer *p, const struct table *t, unsigned c)
{
	return !(t->column[c].flags & COLUMN_JSON_ONLY) && !p->blank[c];
}

static bool aligned(const struct printer *p, const struct table *t, unsigned c)
{
	return visible(p, t, c) && !(t->column[c].flags & (COLUMN_LABEL | COLUMN_TAIL));
}

/* Is it the last one that shows, of words? Then it is broken into lines where it is too long. */
static bool wraps(const struct printer *p, const struct table *t, unsigned c)
{
	if (t->column[c].unit != UNIT_TEXT)
		return false;
	while (++c < t->nr_columns)
		if (visible(p, t, c))
			return false;
	return true;
}

/* Is nothing to be seen in the cell? */
static bool is_blank(const struct cell *cell)
{
	return !cell->set || !cell->u;
}

static void measure_row(struct printer *p, const struct table *t, size_t row, struct str *s)
{
	const struct cell *cells = table_cells(t, row);

	for (unsigned c = 0; c < t->nr_columns; c++) {
		unsigned width;

		if (!aligned(p, t, c) && !p->blank[c])
			continue;
		p->blank[c] &= is_blank(&cells[c]);
		str_clear(s);
		plain_cell(s, t, c, &cells[c], p->style);
		p->failed |= str_error(s) != 0;
		width = plain_width(str_text(s));
		if (width > p->width[c])
			p->width[c] = width;
	}
}

static unsigned margin(const struct table *t)
{
	return t->no_margin ? 0 : GAP;
}

/* With room for what is left of a label when it is cut. */
static unsigned gap(const struct printer *p, const struct table *t)
{
	unsigned width = margin(t);

	for (unsigned c = 0; c < t->nr_columns; c++) {
		if (aligned(p, t, c) && (wraps(p, t, c) || t->column[c].flags & COLUMN_GIVES_WAY))
			return GAP;
		if (aligned(p, t, c))
			width += p->width[c] + GAP;
		else if (t->column[c].flags & COLUMN_LABEL)
			width += MIN_LABEL;
	}
	if (!(t->column[t->nr_columns - 1].flags & (COLUMN_LABEL | COLUMN_TAIL)))
		width -= GAP;
	return width > p->style->width ? 1 : GAP;
}

/* The column that may be cut takes what the others leave, but not less than a label's least. */
static void give_way(struct printer *p, const struct table *t)
{
	unsigned used = margin(t), over, least, *width = NULL;

	for (unsigned c = 0; c < t->nr_columns; c++) {
		if (!aligned(p, t, c))
			continue;
		if (used > margin(t))
			used += p->gap;
		used += p->width[c];
		if (t->column[c].flags & COLUMN_GIVES_WAY)
			width = &p->width[c];
	}
	if (!width || used <= p->style->width)
		return;
	over = used - p->style->width;
	least = *width < MIN_LABEL ? *width : MIN_LABEL;
	*width = *width - least > over ? *width - over : least;
}

static void measure(struct printer *p, struct table *t)
{
	struct str s = STR_INIT;

	p->visible = false;
	for (unsigned c = 0; c < t->nr_columns; c++) {
		p->width[c] = t->column[c].title ? plain_width(t->column[c].title) : 0;
		p->blank[c] = t->column[c].flags & COLUMN_ZERO_BLANK;
	}
	for (uint64_t group = 0; group < table_groups(t); group++) {
		table_load(t, group);
		for (size_t i = 0; i < t->rows.nr; i++) {
			if (t->rows.v[i].where == ROW_JSON_ONLY)
				continue;
			p->visible = true;
			measure_row(p, t, i, &s);
		}
	}
	str_fini(&s);
	p->gap = gap(p, t);
	give_way(p, t);
}

static void add_aligned(const struct printer *p, struct str *line, const struct column *col,
			const char *text, unsigned width)
{
	unsigned have = plain_width(text);
	unsigned pad = width > have ? width - have : 0;

	if (have > width && col->flags & COLUMN_GIVES_WAY) {
		plain_cut_front(line, text, width, p->style);
		return;
	}
	if (col->unit != UNIT_TEXT && col->unit != UNIT_BARS)
		str_pad(line, ' ', pad);
	str_add(line, text);
	if (col->unit == UNIT_TEXT || col->unit == UNIT_BARS)
		str_pad(line, ' ', pad);
}

/* Columns of a tail and the gap before it; 0: it is left out. */
static unsigned tail_room(const char *label, const char *tail, unsigned room)
{
	unsigned wanted = plain_width(tail) + GAP, most = room / 2, label_width;

	if (!*tail)
		return 0;
	if (*tail == '[') {
		label_width = plain_width(label);
		most = room > label_width ? room - label_width : 0;
		if (most < wanted && most < MIN_MODULE + GAP)
			return 0;
	}
	return wanted < most ? wanted : most;
}

/* Label and tail in what is left of the line after `used` columns. */
static void add_label(struct printer *p, struct str *line, const char *label, const char *tail,
		      unsigned used)
{
	unsigned room = p->style->width > used + MIN_LABEL ? p->style->width - used : MIN_LABEL;
	unsigned tail_width = tail_room(label, tail, room);

	plain_cut(line, label, room - tail_width, p->style);
	if (!tail_width)
		return;
	str_pad(line, ' ', GAP);
	plain_cut_front(line, tail, tail_width - GAP, p->style);
}

static void add_wrapped(const struct printer *p, struct str *line, const char *text, unsigned used,
			unsigned measure)
{
	unsigned width = p->style->width > used + MIN_LABEL ? p->style->width : used + MIN_LABEL;
	struct str before = STR_INIT;

	if (measure && width > used + measure)
		width = used + measure;
	str_pad(&before, ' ', used);
	wrap_add(line, text, width, str_text(&before), used);
	str_fini(&before);
}

static void put_line(struct printer *p, const struct str *line, enum row_style style)
{
	static const char *const on[] = {
		[ROW_PLAIN] = "",
		[ROW_STRONG] = "\033[1m",
		[ROW_DIM] = "\033[2m",
		[ROW_TOTAL] = "\033[1m",
	};
	const char *text = str_text(line);
	size_t len = strlen(text);

	_Static_assert(sizeof(on) / sizeof(*on) == ROW_NR_STYLES, "a sequence for each");
	p->failed |= str_error(line) != 0;
	if (p->failed)
		return;
	while (len && text[len - 1] == ' ')
		len--;
	if (p->style->colour && *on[style])
		fprintf(p->out, "%s%.*s\033[0m\n", on[style], (int)len, text);
	else
		fprintf(p->out, "%.*s\n", (int)len, text);
}

static void put_row(struct printer *p, struct table *t, const struct row *r,
		    const struct cell *cells, uint32_t indent)
{
	struct str line = STR_INIT, cell = STR_INIT, label = STR_INIT;
	unsigned used = margin(t);

	str_pad(&line, ' ', margin(t));
	for (unsigned c = 0; c < t->nr_columns; c++) {
		const struct column *col = &t->column[c];

		if (!visible(p, t, c))
			continue;
		str_clear(&cell);
		plain_cell(&cell, t, c, &cells[c], p->style);
		p->failed |= str_error(&cell) != 0;
		if (col->flags & COLUMN_LABEL) {
			str_add(&label, str_text(&cell));
		} else if (!(col->flags & COLUMN_TAIL) && c && wraps(p, t, c)) {
			add_wrapped(p, &line, str_text(&cell), used, r->measure);
		} else if (!(col->flags & COLUMN_TAIL)) {
			add_aligned(p, &line, col, str_text(&cell), p->width[c]);
			str_pad(&line, ' ', p->gap);
			used += p->width[c] + p->gap;
		}
	}
	p->failed |= str_error(&label) != 0;
	str_pad(&line, ' ', indent);
	if (label.len) {
		const char *tail =
			t->column[t->nr_columns - 1].flags & COLUMN_TAIL ? str_text(&cell) : "";

		if (r->sentence)
			add_wrapped(p, &line, str_text(&label), used + indent, r->measure);
		else
			add_label(p, &line, str_text(&label), tail, used + indent);
	}
	put_line(p, &line, r->style);
	str_fini(&line);
	str_fini(&cell);
	str_fini(&label);
}

static void put_heading(struct printer *p, const struct table *t)
{
	struct str line = STR_INIT;
	bool any = false;

	for (unsigned c = 0; c < t->nr_columns; c++)
		any |= visible(p, t, c) && t->column[c].title;
	if (!any)
		return;
	str_pad(&line, ' ', GAP);
	for (unsigned c = 0; c < t->nr_columns; c++) {
		const struct column *col = &t->column[c];

		if (!visible(p, t, c) || (col->flags & COLUMN_TAIL))
			continue;
		add_aligned(p, &line, col, col->title ? col->title : "",
			    aligned(p, t, c) ? p->width[c] : 0);
		str_pad(&line, ' ', p->gap);
	}
	put_line(p, &line, ROW_DIM);
	str_fini(&line);
}

/*
 * Indentation that leaves chains flat: an only child is where its parent is. `shown` is the
 * indentation of the last row at each depth, so one pass suffices; whether a row has siblings is
 * found by looking ahead at equal depth.
 */
static int fold_chains(struct printer *p, const struct table *t)
{
	size_t nr = t->rows.nr;
	uint32_t max = 0, *last, *children;

	for (size_t i = 0; i < nr; i++)
		max = t->rows.v[i].depth > max ? t->rows.v[i].depth : max;
	p->indent = calloc(nr + 1, sizeof(*p->indent));
	last = calloc((size_t)max + 2, sizeof(*last));
	children = calloc(nr + 1, sizeof(*children));
	if (!p->indent || !last || !children) {
		free(p->indent);
		free(last);
		free(children);
		return -ENOMEM;
	}
	/* last[d]: row + 1 that is the parent of rows at depth d */
	for (size_t i = 0; i < nr; i++) {
		uint32_t depth = t->rows.v[i].depth;

		children[last[depth]] += t->rows.v[i].where != ROW_JSON_ONLY;
		last[depth + 1] = (uint32_t)i + 1;
	}
	memset(last, 0, ((size_t)max + 2) * sizeof(*last));
	for (size_t i = 0; i < nr; i++) {
		uint32_t depth = t->rows.v[i].depth, parent = last[depth];

		p->indent[i] = depth && parent
				       ? p->indent[parent - 1] + (children[parent] > 1 ? INDENT : 0)
				       : 0;
		last[depth + 1] = (uint32_t)i + 1;
	}
	free(last);
	free(children);
	return 0;
}

static void put_note(struct printer *p, const struct table *t, const char *note)
{
	struct str line = STR_INIT, clean = STR_INIT;

	utf8_add_clean(&clean, note);
	str_pad(&line, ' ', margin(t));
	add_wrapped(p, &line, str_text(&clean), margin(t), 0);
	p->failed |= str_error(&clean) != 0;
	put_line(p, &line, ROW_DIM);
	str_fini(&line);
	str_fini(&clean);
}

/* An empty line between sections. */
static void separate(struct printer *p)
{
	if (p->begun)
		fputc('\n', p->out);
	p->begun = true;
}

static int put_table(struct printer *p, struct table *t)
{
	p->indent = NULL;
	if (t->fold_chains && !t->fill && fold_chains(p, t))
		return -ENOMEM;
	measure(p, t);
	if (!p->visible && !t->notes.nr)
		goto out;
	separate(p);
	if (t->title)
		p->failed |= plain_title(t->title, p->style, p->out) != 0;
	put_heading(p, t);
	for (uint64_t group = 0; group < table_groups(t); group++) {
		table_load(t, group);
		for (size_t i = 0; i < t->rows.nr; i++) {
			const struct row *r = &t->rows.v[i];

			if (r->where != ROW_JSON_ONLY)
				put_row(p, t, r, table_cells(t, i),
					p->indent ? p->indent[i] : r->depth * INDENT);
		}
	}
	vec_each (&t->notes, note)
		put_note(p, t, *note);
out:
	free(p->indent);
	return p->failed ? -ENOMEM : table_error(t);
}

int doc_print_text(const struct doc *d, const struct style *style, FILE *out)
{
	struct printer p = { .style = style, .out = out };
	int rc = 0;

	for (size_t i = 0; i < d->sections.nr; i++) {
		const struct section *s = &d->sections.v[i];

		if (s->series) {
			if (!plain_has_graph(s->series))
				continue;
			separate(&p);
			rc = plain_graph(s->series, style, out);
		} else if (!s->table->json_only && s->table->nr_columns <= MAX_COLUMNS) {
			rc = put_table(&p, s->table);
		}
		if (rc)
			return rc;
	}
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
