/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of the report: each adds its tables and series to r->doc, in order. Trouble stays in the
 * document.
 */
#ifndef VIEW_REPORT_PRIV_H
#define VIEW_REPORT_PRIV_H

#include "src/base/fmt.h"
#include "src/base/str.h"
#include "src/view/report_view.h"

#define NR_COLUMNS(a) ((unsigned)(sizeof(a) / sizeof((a)[0])))

/*
 * JSON record of the process; table of what was not recorded; how it ended, in words; a row of
 * facts on what ran and how that ended. For other documents on a heap too.
 */
void report_process(struct doc *d, const struct heap *h);
void report_end_text(struct str *s, const struct heap *h);
/* "killed by signal 11 (SIGSEGV)" */
void report_killed_text(struct str *s, int signal);
/* The moment of the figures of a heap whose process was running: a capture is read later. */
const char *report_when(const struct heap *h);
void report_process_row(struct table *t, const struct heap *h);

void report_head(struct report *r); /* what ran, totals, what must be known before believing them */
void report_history(struct report *r);	 /* the heap over time */
/* JSON: the kernel's figures of the process over time; what happened when (report_time.c). */
void report_usage(struct report *r);
void report_marks(struct report *r);
void report_lines(struct report *r);	 /* source lines that hold the memory */
void report_functions(struct report *r); /* functions with all they call */
void report_sites(struct report *r);	 /* stacks */
void report_tree(struct report *r);	 /* call tree */
void report_map_sites(struct report *r); /* stacks of mmap */
void report_sizes(struct report *r);	 /* size classes */
void report_lifetimes(struct report *r);
void report_memory(struct report *r); /* the allocator's own view, mappings, the ledger */
/*
 * What the kernel did (kernel/): its sections, a list over time for programs; rows of marks for the
 * graph of the heap over time, 0 or -ENOMEM. Nothing where it was not traced.
 */
void report_kernel(struct report *r);
void report_kernel_bins(struct report *r);
int report_kernel_marks(struct series *s, const struct heap *h);
void report_threads(struct report *r);
void report_blocks(struct report *r); /* block list */
void report_modules(struct report *r);

/* JSON: what was asked for, and what that leaves out. */
void report_selection(struct report *r);
void report_left_out(struct report *r); /* after all lists */
/* What a filter lets pass: a fact for people, members of a record for programs. */
void report_filter_row(struct table *t, const struct filter *f, bool passes_none);
void report_filter_record(struct table *t, const struct filter *f);
/* Is there a filter that passes nothing of the heap? */
bool report_passes_none(const struct report *r);

/* At a moment, in whole ticks as heap_tick_time(). */
uint64_t report_age(const struct heap *h, uint64_t now_ns, uint64_t birth_ns);

/* For people, a moment by the agent's clock: "after 30 ms", "in the first 10 ms". */
struct fmt report_after(const struct heap *h, uint64_t ns);

/* "13.9 MiB after 580 ms". */
struct fmt report_peak(const struct heap *h);

/* Allocations a second of the time that it ran; 0 when that is not known. */
double report_rate(const struct heap *h);

/* part / whole in percent, 0 of nothing. */
double report_percent(uint64_t part, uint64_t whole);

/* Append "1 failed, 2 of size zero, 3 huge", without those that are none. */
void report_unusual(struct str *s, uint64_t failed, uint64_t zero_size, uint64_t huge);

const char *report_basename(const char *path);

/* "parse_node", or "libx.so+0x1234" without symbols. */
void report_frame_label(struct str *s, const struct frame_name *f);

/*
 * Set the label column to that, and the tail column after it to "file.c:12" or the module's
 * name.
 */
void report_set_label(struct table *t, unsigned label, const struct frame_name *f);

/* What the figures of a sort key are called. */
struct report_titles {
	const char *bytes, *count, *lines, *stacks; /* bytes NULL: the key has none */
};
extern const struct report_titles report_titles[RANK_NR];

/*
 * Set JSON columns function, file, line, module, module_offset, pc (in this order from `first`)
 * of a frame.
 */
#define REPORT_FRAME_COLUMNS                                                                       \
	JSON_COLUMN("function", UNIT_TEXT), JSON_COLUMN("file", UNIT_TEXT),                        \
		JSON_COLUMN("line", UNIT_NUMBER), JSON_COLUMN("module", UNIT_TEXT),                \
		JSON_COLUMN("module_offset", UNIT_ADDRESS), JSON_COLUMN("pc", UNIT_ADDRESS)
void report_set_frame(struct table *t, unsigned first, const struct frame_name *f);

/* report_allocator.c: the record for programs; for people. */
void report_allocator_record(struct report *r);
void report_allocator_rows(struct table *t, const struct heap *h);

#endif
