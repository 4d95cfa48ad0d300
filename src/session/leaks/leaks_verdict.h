/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The leaks of a searched heap as verdicts (src/export/verdict.h).
 */
#ifndef SESSION_LEAKS_LEAKS_VERDICT_H
#define SESSION_LEAKS_LEAKS_VERDICT_H

#include "src/export/verdict.h"
#include "src/session/leaks/leaks_report.h"

/* Does an entry count as what `fail_on` (enum leaks_fail) names? */
bool leaks_counts(const struct leak_entry *e, unsigned fail_on);

/*
 * The judged entries that are asked for or count, and what was searched. `found`: there is more of
 * what counts than is allowed. 0, -ENOMEM or -errno of writing to `out`.
 */
int leaks_verdicts_print(const struct heap *h, struct names *n, const struct leaks *l,
			 const struct leaks_report_options *o, bool found, FILE *out);

#endif
