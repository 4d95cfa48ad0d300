/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process did, in words: the same for all documents on a heap. */
#include <string.h>

#include "include/pmm/ledger.h"
#include "src/base/fmt.h"
#include "src/base/str.h"
#include "src/document/facts.h"
#include "src/view/report_priv.h"

const char *report_when(const struct heap *h)
{
	return h->captured ? "when captured" : "now";
}

void report_killed_text(struct str *s, int signal)
{
	const char *name = sigabbrev_np(signal);

	str_addf(s, "killed by signal %d", signal);
	if (name)
		str_addf(s, " (SIG%s)", name);
}

void report_end_text(struct str *s, const struct heap *h)
{
	switch (h->end) {
	case HEAP_RUNNING:
		str_add(s, h->captured ? "running when captured" : "still running");
		break;
	case HEAP_EXITED:
		str_add(s, "exited");
		if (h->end_status >= 0)
			str_addf(s, " with status %d", h->end_status);
		break;
	case HEAP_KILLED:
		report_killed_text(s, h->end_status);
		break;
	case HEAP_GONE:
		if (heap_end_known(h))
			str_addf(s, "ended without exit(), status %d", h->end_status);
		else
			str_add(s, "ended; how is not known");
		break;
	case HEAP_REPLACED:
		str_add(s, "replaced itself through exec");
		break;
	}
}

void report_process_row(struct table *t, const struct heap *h)
{
	struct str end = STR_INIT;

	report_end_text(&end, h);
	facts_add(t, "process", "%s, pid %u, %s %s, %s", h->comm, h->pid,
		  h->began == HEAP_BEGAN_ATTACH ? "watched for" : "ran", report_run_time(h).s,
		  table_text(t, &end));
	str_fini(&end);
}
