/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What works on this machine: probe by probe, and the verdict. */
#include "src/session/doctor/doctor.h"

#include <stdlib.h>
#include <string.h>

#include "src/document/doc.h"
#include "src/document/doc_record.h"
#include "src/session/trace/trace_form.h"
#include "src/view/trace/trace_view.h"

static const char *const state_name[] = {
	[DOCTOR_OK] = "ok",
	[DOCTOR_NOTE] = "note",
	[DOCTOR_NO] = "no",
};
_Static_assert(sizeof(state_name) / sizeof(*state_name) == DOCTOR_NR_STATES, "a name for each");

enum { COLUMN_STATE, COLUMN_CHECK, COLUMN_FOUND, COLUMN_NEEDED, COLUMN_REMEDY };

static const struct column columns[] = {
	[COLUMN_STATE] = { "state", "state", UNIT_TEXT, 0 },
	[COLUMN_CHECK] = { "check", "check", UNIT_TEXT, 0 },
	[COLUMN_FOUND] = { "found", "found", UNIT_TEXT, COLUMN_LABEL },
	[COLUMN_NEEDED] = JSON_COLUMN("needed", UNIT_BOOL),
	[COLUMN_REMEDY] = JSON_COLUMN("remedy", UNIT_TEXT),
};

/* Can `pmm run` work? */
static bool is_able(const struct doctor *d)
{
	vec_each(&d->findings, f)
		if (f->needed && f->state == DOCTOR_NO)
			return false;
	return true;
}

static struct table *table_of(const struct doctor *d)
{
	struct table *t =
		table_new(TABLE_ROWS, "checks", NULL, columns, sizeof(columns) / sizeof(*columns));

	if (!t)
		return NULL;
	vec_each(&d->findings, f) {
		bool stops = f->needed && f->state == DOCTOR_NO;

		table_row(t, 0, stops ? ROW_STRONG : ROW_PLAIN, ROW_BOTH);
		table_sentence(t);
		table_set_const(t, COLUMN_STATE, state_name[f->state]);
		table_set_const(t, COLUMN_CHECK, f->check);
		table_set_const(t, COLUMN_FOUND, f->found);
		table_set(t, COLUMN_NEEDED, f->needed);
		table_set_const(t, COLUMN_REMEDY, f->remedy);
		if (!f->remedy)
			continue;
		table_row(t, 0, ROW_DIM, ROW_TEXT_ONLY);
		table_sentence(t);
		table_setf(t, COLUMN_FOUND, "  %s", f->remedy);
	}
	table_note(t, "%s", "");
	table_note(t, is_able(d) ? "'pmm run' works here" : "'pmm run' does NOT work here");
	return t;
}

/* For scripts: the verdict by itself. */
static struct table *verdict_of(const struct doctor *d)
{
	struct table *t = record_new("verdict");

	record_bool(t, "run_works", is_able(d));
	record_text(t, "version", PMM_VERSION);
	return t;
}

/* Which of the kernel's events `pmm trace` can show: all are tried. */
static struct table *events_of(void)
{
	struct kernel_group_state groups[KERNEL_NR_GROUPS];
	struct trace_list_form form;

	trace_form_try(groups, &form);
	return trace_list_table(groups, &form, "Events of 'pmm trace'");
}

/* 0 or -errno. */
static int hand_over(const struct doctor *d, const struct session_sink *to)
{
	struct doc doc = { .schema = DOCTOR_SCHEMA };
	int rc;

	doc_add(&doc, verdict_of(d));
	doc_add(&doc, table_of(d));
	doc_add(&doc, events_of());
	rc = doc_error(&doc);
	if (!rc)
		rc = session_document(to, &doc, false);
	doc_fini(&doc);
	return rc;
}

int doctor(const struct session_sink *to, struct err *e)
{
	struct doctor d = { 0 };
	int rc;

	doctor_program(&d);
	doctor_attach(&d);
	doctor_kernel(&d);
	doctor_limits(&d);
	rc = hand_over(&d, to);
	if (rc)
		err_set(e, rc, "cannot print what was found: %s", strerror(-rc));
	else
		rc = is_able(&d);
	vec_each(&d.findings, f)
		free(f->found);
	vec_fini(&d.findings);
	return rc;
}
