/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The heap errors of a heap as verdicts (src/export/verdict.h).
 */
#ifndef SESSION_CHECK_CHECK_VERDICT_H
#define SESSION_CHECK_CHECK_VERDICT_H

#include <stdio.h>

#include "src/names/names.h"
#include "src/session/check/check_report.h"

/* All findings, and what was checked. 0, -ENOMEM or -errno of writing to `out`. */
int check_verdicts_print(const struct heap *h, struct names *n,
			 const struct check_report_options *o, FILE *out);

#endif
