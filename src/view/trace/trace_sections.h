/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a class of events has in the result beyond the common tables: a section each, in a file of
 * its own (src/view/trace/trace_NAME.c). It is called when the class was asked for, reads
 * result->rows and result->totals, and adds nothing where there is nothing to say.
 */
#ifndef VIEW_TRACE_TRACE_SECTIONS_H
#define VIEW_TRACE_TRACE_SECTIONS_H

#include "src/view/trace/trace_view.h"

typedef void trace_section(struct doc *d, const struct trace_result *t);

void trace_section_kernel(struct doc *d, const struct trace_result *t);
void trace_section_rss(struct doc *d, const struct trace_result *t);
void trace_section_cache(struct doc *d, const struct trace_result *t);
void trace_section_pmc(struct doc *d, const struct trace_result *t);
/* Of classes `faults`, `major` and `swap`: by whose memory it is. */
void trace_fault_blocks(struct doc *d, const struct trace_result *t);

void trace_section_heap(struct doc *d, const struct trace_result *t);
void trace_section_faults(struct doc *d, const struct trace_result *t);
void trace_section_major(struct doc *d, const struct trace_result *t);
void trace_section_libc(struct doc *d, const struct trace_result *t);
void trace_section_stack(struct doc *d, const struct trace_result *t);
void trace_section_swap(struct doc *d, const struct trace_result *t);

/* By enum event_class; NULL: nothing of its own. */
extern trace_section *const trace_sections[EVENT_NR_CLASSES];

void trace_reclaim_section(struct doc *d, const struct trace_result *t);
void trace_compaction_section(struct doc *d, const struct trace_result *t);
void trace_migrate_section(struct doc *d, const struct trace_result *t);
void trace_thp_section(struct doc *d, const struct trace_result *t);

#endif
