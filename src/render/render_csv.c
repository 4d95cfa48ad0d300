/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One table of a document as comma-separated values (RFC 4180). The header has the keys of the
 * JSON, whose endings are the units; a table of estimates has a last column that says so.
 *
 * A text that a spreadsheet would take for a formula gets an apostrophe before it.
 */
#include "src/render/render_csv.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "src/base/utf8.h"

static bool is_list(const struct table *t)
{
	return t->key && t->shape != TABLE_RECORD;
}

void doc_csv_tables(const struct doc *d, struct str *names)
{
	for (size_t i = 0; i < d->sections.nr; i++) {
		const struct section *s = &d->sections.v[i];
		const char *key = s->table ? s->table->key : s->series ? s->series->key : NULL;

		if (key)
			str_addf(names, "%s%s", names->len ? ", " : "", key);
	}
}

static void put_text(FILE *out, const char *text, struct str *room)
{
	bool formula = *text && strchr("=+-@\t\r", *text);

	str_clear(room);
	utf8_add_clean(room, text);
	fputs(formula ? "\"'" : "\"", out);
	for (const char *c = str_text(room); *c; c++) {
		if (*c == '"')
			fputc('"', out);
		fputc(*c, out);
	}
	fputc('"', out);
}

static void put_bars(FILE *out, const uint64_t *v, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		fprintf(out, "%s%" PRIu64, i ? " " : "", v[i]);
}

static void put_cell(FILE *out, enum unit unit, const struct cell *c, unsigned nr_bars,
		     struct str *room)
{
	if (!c->set)
		return;
	switch (unit) {
	case UNIT_TEXT:
		put_text(out, c->text, room);
		break;
	case UNIT_PERCENT:
	case UNIT_FLOAT:
		fprintf(out, "%.10g", c->f);
		break;
	case UNIT_ADDRESS:
		fprintf(out, "0x%" PRIx64, c->u);
		break;
	case UNIT_BOOL:
		fputs(c->u ? "true" : "false", out);
		break;
	case UNIT_BARS:
		put_bars(out, c->bars, nr_bars);
		break;
	case UNIT_NUMBERS:
		put_bars(out, c->bars + 1, c->bars[0]);
		break;
	case UNIT_SIGNED:
		fprintf(out, "%" PRId64, (int64_t)c->u);
		break;
	case UNIT_COUNT:
	case UNIT_NUMBER:
	case UNIT_BYTES:
	case UNIT_DURATION:
	case UNIT_TIME:
		fprintf(out, "%" PRIu64, c->u);
		break;
	}
}

static bool is_shown(const struct column *c)
{
	return c->key && !(c->flags & COLUMN_TEXT_ONLY);
}

static void put_header(FILE *out, const struct column *column, unsigned nr, bool depth,
		       bool estimated)
{
	const char *separator = depth ? "," : "";

	if (depth)
		fputs("depth", out);
	for (unsigned i = 0; i < nr; i++)
		if (is_shown(&column[i])) {
			fprintf(out, "%s%s", separator, column[i].key);
			separator = ",";
		}
	fputs(estimated ? ",estimated\r\n" : "\r\n", out);
}

static void put_row(FILE *out, struct table *t, size_t row, struct str *room)
{
	const struct cell *cells = table_cells(t, row);
	const char *separator = "";

	if (t->shape == TABLE_TREE) {
		fprintf(out, "%" PRIu32, t->rows.v[row].depth);
		separator = ",";
	}
	for (unsigned i = 0; i < t->nr_columns; i++)
		if (is_shown(&t->column[i])) {
			fputs(separator, out);
			put_cell(out, t->column[i].unit, &cells[i], t->bars_nr, room);
			separator = ",";
		}
	fputs(t->estimated ? ",true\r\n" : "\r\n", out);
}

static int put_table(FILE *out, struct table *t)
{
	struct str room = STR_INIT;
	int rc;

	put_header(out, t->column, t->nr_columns, t->shape == TABLE_TREE, t->estimated);
	for (uint64_t g = 0; g < table_groups(t); g++) {
		table_load(t, g);
		for (size_t i = 0; i < t->rows.nr; i++)
			if (t->rows.v[i].where != ROW_TEXT_ONLY)
				put_row(out, t, i, &room);
	}
	rc = table_error(t) ? table_error(t) : str_error(&room);
	str_fini(&room);
	return rc;
}

static void put_series(FILE *out, const struct series *s)
{
	put_header(out, s->column, s->nr_columns, false, s->estimated);
	for (size_t i = 0; i < s->nr; i++) {
		for (unsigned c = 0; c < s->nr_columns; c++)
			fprintf(out, "%s%" PRIu64, c ? "," : "", series_get(s, i, c));
		fputs(s->estimated ? ",true\r\n" : "\r\n", out);
	}
}

/* Is this the section that is meant? */
static bool is_meant(const struct section *s, const char *table)
{
	const char *key = s->table ? s->table->key : s->series ? s->series->key : NULL;

	return table ? key && !strcmp(key, table) : s->table && is_list(s->table);
}

bool doc_csv_has(const struct doc *d, const char *table)
{
	for (size_t i = 0; i < d->sections.nr; i++)
		if (is_meant(&d->sections.v[i], table))
			return true;
	return false;
}

int doc_print_csv(const struct doc *d, const char *table, FILE *out)
{
	for (size_t i = 0; i < d->sections.nr; i++) {
		const struct section *s = &d->sections.v[i];
		int rc = 0;

		if (!is_meant(s, table))
			continue;
		if (s->series)
			put_series(out, s->series);
		else
			rc = put_table(out, s->table);
		errno = 0;
		if (fflush(out) || ferror(out))
			return errno ? -errno : -EIO;
		return rc;
	}
	return -ENOENT;
}
