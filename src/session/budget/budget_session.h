/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures judged by the budgets of a file.
 */
#ifndef SESSION_BUDGET_BUDGET_SESSION_H
#define SESSION_BUDGET_BUDGET_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "src/analyze/suppress/suppress.h"
#include "src/base/err.h"
#include "src/session/session.h"

enum budget_form { BUDGET_DOCUMENT, BUDGET_SARIF, BUDGET_JUNIT };

struct budget_session_options {
	const char *file;
	enum budget_form form;
	struct suppress *suppress;	/* of leaks: borrowed; NULL = none */
	bool debuginfod;
	uint64_t memory_bytes;	/* of captures and names, each; 0 = limits_share() */
};

struct budget_session_end {
	bool exceeded;		/* a budget is */
	bool unmeasured;	/* a budget was not measured, or is about none of the captures */
};

/*
 * Judge `nr` captures, profiles of other tools or processes. 0 or -errno with `e`; what was not
 * measured is in *end.
 */
int budget_session(const struct budget_session_options *o, char *const *capture, unsigned nr,
		   const struct session_sink *to, struct budget_session_end *end, struct err *e);

#endif
