/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The forms of results: what --format can say, for all commands, who writes each and who reads it.
 *
 * To add a form: an enum form, a row in forms.c, and what writes it in the commands that its row
 * names. The others refuse it by name.
 */
#ifndef CMD_REPORT_FORMS_H
#define CMD_REPORT_FORMS_H

#include <stdbool.h>

#include "src/base/err.h"
#include "src/base/str.h"

enum form {
	FORM_TEXT,
	FORM_JSON,
	FORM_HTML,
	FORM_CSV,
	FORM_SVG,
	FORM_COLLAPSED,
	FORM_SPEEDSCOPE,
	FORM_PPROF,
	FORM_MASSIF,
	FORM_DHAT,
	FORM_HEAPTRACK,
	FORM_CHROME_TRACE,
	FORM_OPENMETRICS,
	FORM_VALGRIND_XML,
	FORM_SARIF,
	FORM_JUNIT,
};
#define FORM_NR (FORM_JUNIT + 1)

/* Commands, a bit each. */
enum form_writer {
	FORM_REPORT = 1 << 0,
	FORM_KMOD_REPORT = 1 << 1,
	FORM_LEAKS = 1 << 2,
	FORM_CHECK = 1 << 3,
	FORM_BUDGET = 1 << 4,
	FORM_DIFF = 1 << 5,
};

struct form_by {
	enum form_writer writer;
	const char *command;	/* "pmm leaks" */
};

#define FORM_NR_WRITERS 6
extern const struct form_by form_writers[FORM_NR_WRITERS];

struct form_row {
	const char *name;
	unsigned writers;	/* enum form_writer */
	const char *file;	/* what it is written to without -o; "-": stdout */
	const char *reader;	/* command that shows it, before the file's name; NULL: none */
	bool binary;		/* nothing for a terminal */
	const char *about;	/* what is in it, and who reads it */
	const char *lacks;	/* what of a heap has no place in it; NULL: nothing to be said */
};

extern const struct form_row form_table[FORM_NR];

/* Their names, for an option; ends with NULL. */
extern const char *const form_name[FORM_NR + 1];

/* Has the enum form_writer this form? */
bool form_is_of(int form, unsigned writer);

/* A row of a table of options: `form` is an int, `was_given` a bool, `writer` the command's. */
#define FORM_OPTION(form, was_given, writer, text, ...)                                            \
	{                                                                                          \
		"format", 0, OPT_CHOICE, "FORM", text, (form), .given = (was_given),               \
			.choices = form_name, .offers = form_is_of, .by = (writer), __VA_ARGS__    \
	}

/* Does the command have the form? 0, or -EINVAL with `e` (a usage error) that names who has it. */
int form_check(enum form form, enum form_writer writer, struct err *e);

/* Append "text, json, sarif": the forms of a command. */
void form_add_names(struct str *s, enum form_writer writer);

/* Of a COMMAND, which has stdout and stderr, the form needs a file: -EINVAL with `e`. */
int form_needs_file(enum form form, struct err *e);

/* --json beside --format: *form becomes FORM_JSON, or -EINVAL with `e` when they contradict. */
int form_join_json(int *form, bool given, bool as_json, struct err *e);

#endif
