/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a trace says: sections of its result and lines of its events, as text and as JSON. */
#ifndef TESTS_UNIT_TRACE_TEXT_H
#define TESTS_UNIT_TRACE_TEXT_H

#include "src/document/event.h"
#include "src/view/trace/trace_line.h"
#include "src/view/trace/trace_sections.h"
#include "tests/unit/unit.h"

static inline void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		print_message("no '%s' in\n%s\n", part, text);
	assert_non_null(strstr(text, part));
}

/* A section of a result. free() it. */
static inline char *section_text(trace_section *section, const struct trace_result *t, bool json)
{
	struct style style = { .width = 120 };
	struct doc d = { .schema = TRACE_SCHEMA };
	char *words = NULL;
	size_t n;
	FILE *out = open_memstream(&words, &n);

	section(&d, t);
	assert_int_equal(doc_error(&d), 0);
	assert_int_equal(json ? doc_print_json(&d, out) : doc_print_text(&d, &style, out), 0);
	fclose(out);
	doc_fini(&d);
	return words;
}

/* Its JSON has this part; it is freed. */
static inline void event_json_has(struct event *e, const char *json)
{
	char *words = NULL;
	size_t n;
	FILE *out = open_memstream(&words, &n);

	assert_int_equal(event_print_json(e, out), 0);
	fclose(out);
	has(words, json);
	free(words);
	event_fini(e);
}

/* ... and its line that one. */
static inline void event_has(struct event *e, const char *part, const char *json)
{
	assert_int_equal(event_error(e), 0);
	has(str_text(&e->text), part);
	event_json_has(e, json);
}

#endif
