/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heap errors as a document. */
#include "src/session/check/check_report.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "src/names/naming.h"
#include "src/proc/access.h"
#include "src/session/check/check_verdict.h"
#include "src/session/name_notes.h"

_Static_assert(ACCESS_NR_REGS == HEAP_NR_REGS, "the same registers");

static int hand_over(const struct heap *h, struct names *n, const struct check_report_options *o,
		     const struct session_sink *to)
{
	struct check_view_options options = o->view;
	struct check_view view;
	int rc;

	options.access_bytes = access_bytes;
	options.odd_address = access_odd_address;
	rc = check_view_init(&view, h, n, &options);
	for (uint64_t i = 0; !rc && o->entry && i < table_groups(view.entries); i++)
		o->entry(o->entry_ctx, h, view.entries, i);
	if (!rc && !o->entry)
		rc = session_document(to, &view.doc, o->follows);
	check_view_fini(&view);
	return rc;
}

static int give_verdicts(const struct heap *h, struct names *n,
			 const struct check_report_options *o, const struct session_sink *to)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&text, &bytes);
	int rc = memory ? check_verdicts_print(h, n, o, memory) : -ENOMEM;

	if (memory && fclose(memory) && !rc)
		rc = -ENOMEM;
	if (!rc)
		rc = session_text(to, text, bytes);
	free(text);
	return rc;
}

int check_report(const struct heap *h, const struct check_report_options *o,
		 const struct session_sink *to, struct err *e)
{
	const struct naming_options options = {
		.none = o->no_symbols,
		.full = true,
		.debuginfod = o->debuginfod,
		.pid = o->pid,
		.max_bytes = o->memory_bytes,
		.resolve = o->resolve,
		.resolve_ctx = o->resolve_ctx,
	};
	struct naming naming;
	int rc;

	if (!h->check.level && !h->nr_findings && !o->resolve) {
		err_set(e, -ENODATA,
			"the process of this capture was not checked for heap errors");
		err_hint(e, "run the program with 'pmm check -- COMMAND'");
		return -ENODATA;
	}
	naming_open(&naming, h, &options);
	names_skip(&naming.names, o->skip.v, o->skip.nr);
	rc = o->form == CHECK_DOCUMENT ? hand_over(h, &naming.names, o, to)
				       : give_verdicts(h, &naming.names, o, to);
	/* a reader that has seen enough (head, less) is no trouble */
	if (rc && rc != -EPIPE) {
		err_set(e, rc, "cannot write the report: %s", strerror(-rc));
		if (rc != -ENOMEM)
			err_hint(e, "--report FILE writes it elsewhere");
	} else {
		rc = h->nr_findings > INT_MAX ? INT_MAX : (int)h->nr_findings;
	}
	if (rc >= 0)
		name_notes(to, &naming, "--memory-limit");
	naming_close(&naming);
	return rc;
}
