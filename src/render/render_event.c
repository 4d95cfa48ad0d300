/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The renderers of events: a line of JSON, and lines for a person. */
#include <errno.h>
#include <string.h>

#include "src/base/wrap.h"
#include "src/document/event.h"
#include "src/render/render_json.h"

#define HANG	2	/* of a line without a name at its front */

/* ---- JSON ---- */

static int fields(struct json *j, const struct event *e);

static int filled_list(struct json *j, const struct field *f)
{
	struct event inside = { 0 };
	int rc;

	f->fill(&inside, f->arg);
	json_array_flat(j, f->key);
	rc = fields(j, &inside);
	json_end(j);
	event_fini(&inside);
	return rc;
}

static int fields(struct json *j, const struct event *e)
{
	int rc = event_error(e);

	vec_each (&e->fields, f) {
		switch (f->kind) {
		case FIELD_VALUE:
			render_json_cell(j, f->key, f->unit, &f->cell, 0);
			break;
		case FIELD_OBJECT:
			json_object_flat(j, f->key);
			break;
		case FIELD_LIST:
			json_array_flat(j, f->key);
			break;
		case FIELD_FILLED_LIST:
			rc = filled_list(j, f) ?: rc;
			break;
		case FIELD_END:
			json_end(j);
			break;
		}
	}
	return rc;
}

int event_print_json(const struct event *e, FILE *out)
{
	struct json j;
	int rc, failed = event_error(e);

	if (failed || !e->fields.nr)
		return failed;
	json_init(&j, out);
	json_object_flat(&j, NULL);
	failed = fields(&j, e);
	json_end(&j);
	rc = json_finish(&j);
	return rc ? rc : failed;
}

/* ---- text ---- */

static int put_lines(const struct event *e, const struct style *style, FILE *out)
{
	struct str lines = STR_INIT, line = STR_INIT, before = STR_INIT;
	int rc;

	for (const char *text = str_text(&e->text), *end; *text; text = end + (*end != '\0')) {
		unsigned hang;

		end = text + strcspn(text, "\n");
		str_clear(&line);
		str_addn(&line, text, (size_t)(end - text));
		hang = wrap_hang(str_text(&line));
		str_clear(&before);
		str_pad(&before, ' ', hang ? hang : HANG);
		wrap_add(&lines, str_text(&line), style->width, str_text(&before), 0);
		str_addc(&lines, '\n');
	}
	rc = str_error(&e->text) || str_error(&lines) || str_error(&line) || str_error(&before)
		     ? -ENOMEM
		     : 0;
	fputs(rc ? "out of memory: a line is missing here\n" : str_text(&lines), out);
	str_fini(&lines);
	str_fini(&line);
	str_fini(&before);
	return rc;
}

static int put_below(const struct event *e, const struct style *style, FILE *out)
{
	struct doc doc = { 0 };
	int rc;

	doc_add(&doc, e->below(e->below_arg));
	rc = doc_error(&doc) ?: doc_print_text(&doc, style, out);
	doc_fini(&doc);
	return rc;
}

int event_print_text(const struct event *e, const struct style *style, FILE *out)
{
	int rc = 0;

	if (e->text.len || str_error(&e->text))
		rc = put_lines(e, style, out);
	if (e->below)
		rc = put_below(e, style, out) ?: rc;
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return rc;
}
