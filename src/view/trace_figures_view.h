/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What counters of the kernel have gained, where no events can be seen. */
#ifndef VIEW_TRACE_FIGURES_VIEW_H
#define VIEW_TRACE_FIGURES_VIEW_H

#include "src/document/doc.h"
#include "src/kernel/vmstat.h"
#include "src/proc/machine.h"
#include "src/proc/process_usage.h"

struct trace_figure {
	pid_t pid;
	bool began, ended;		/* in the time */
	struct process_usage first, last;	/* first: as it began, if it has */
};

struct trace_figures_result {
	const char *scope;
	uint64_t duration_ns;
	uint32_t classes;		/* bit per enum event_class */
	const struct err *why;		/* there are no events */
	const struct trace_figure *rows;
	size_t nr_rows;
	const struct vmstat *before, *after;
	const struct machine *machine_before, *machine_after;
	bool command;			/* the next two are known: of it and its children */
	uint64_t minor_faults, major_faults;
	uint32_t nothing_of;		/* of `classes`: no figure says anything about them */
	uint64_t top;			/* rows of a table; 0 = all */
};

/* doc_fini() follows; trouble is in the document (doc_error()). */
void trace_figures_document(struct doc *d, const struct trace_figures_result *r);

/* What a process has gained of both sorts of page faults. */
uint64_t trace_figure_faults(const struct trace_figure *f);

#endif
