/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heap errors told: names, text or JSON. For `pmm check FILE|PID`, and while and after `pmm check
 * -- COMMAND` runs.
 */
#ifndef SESSION_CHECK_CHECK_REPORT_H
#define SESSION_CHECK_CHECK_REPORT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/cmd/opt.h"
#include "src/model/heap.h"
#include "src/view/check/check_view.h"

struct check_report_options {
	struct check_view_options view;
	bool json;
	struct opt_list skip;		/* --skip-fn */
	bool no_symbols, debuginfod;
	/* for a capture, a ledger, the debug information of a program; 0 = limits_share() */
	uint64_t memory_bytes;
	/* the process, where it may live in another file system tree; 0 = none */
	pid_t pid;
	/* names that are known already; NULL = looked up in the modules' files */
	names_resolve *resolve;
	void *resolve_ctx;
};

/* What is meant when nobody says otherwise. */
#define CHECK_REPORT_DEFAULT	{ .view = { .top = 100, .depth = 8 } }

/*
 * Write the document. The number of findings in the heap (at most INT_MAX), or -errno with `e`:
 * -ENODATA nobody looked for heap errors.
 */
int check_report(const struct heap *h, const struct check_report_options *o, FILE *out,
		 struct err *e);

#endif
