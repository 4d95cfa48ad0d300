/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The heap errors of a heap, with names, as a document or as verdicts. For `pmm check FILE|PID`,
 * and while and after `pmm check -- COMMAND` runs.
 */
#ifndef SESSION_CHECK_CHECK_REPORT_H
#define SESSION_CHECK_CHECK_REPORT_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/base/texts.h"
#include "src/model/heap.h"
#include "src/session/session.h"
#include "src/view/check/check_view.h"

enum check_form { CHECK_DOCUMENT, CHECK_SARIF, CHECK_JUNIT };

struct check_report_options {
	enum check_form form;	/* other than a document: with `whole` */
	struct check_view_options view;
	/* one document for each process, at its end: where results are no text for a person */
	bool whole;
	bool follows; /* another document went before (session_ops.document) */
	struct texts skip; /* functions that are stepped over where lines are named */
	bool no_symbols, debuginfod;
	/* for a capture, a ledger, the debug information of a program; 0 = limits_share() */
	uint64_t memory_bytes;
	/* the process, where it may live in another file system tree; 0 = none */
	pid_t pid;
	/* takes each entry, a group of a table, in place of the document; NULL = none does */
	void (*entry)(void *ctx, const struct heap *h, struct table *t, uint64_t group);
	void *entry_ctx;
	/* names that are known already; NULL = looked up in the modules' files */
	names_resolve *resolve;
	void *resolve_ctx;
};

/* The defaults. */
#define CHECK_REPORT_DEFAULT	{ .view = { .top = 100, .depth = 8 } }

/*
 * Hand over the document. The number of findings in the heap (at most INT_MAX), or -errno with `e`:
 * -ENODATA it was not checked for heap errors.
 */
int check_report(const struct heap *h, const struct check_report_options *o,
		 const struct session_sink *to, struct err *e);

#endif
