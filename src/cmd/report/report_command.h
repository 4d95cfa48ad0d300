/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `pmm report` and `pmm kmod report` share: the options of a report and its printing.
 */
#ifndef CMD_REPORT_REPORT_COMMAND_H
#define CMD_REPORT_REPORT_COMMAND_H

#include "src/analyze/rank.h"
#include "src/cmd/options/opt.h"
#include "src/cmd/report/forms.h"
#include "src/model/heap.h"
#include "src/view/report_view.h"

struct report_command {
	int form;			/* enum form */
	bool form_given;
	const char *output;		/* NULL: not given */
	const char *table;		/* of csv; NULL: not chosen yet */
	struct report_options opt;
	int sort;
	struct opt_list skipped;
	uint64_t memory_bytes;
	bool with_source;		/* of the page: lines of source files */
	bool as_json, given_top, bottom_up, top_down, no_symbols, debuginfod;
};

/* Rows of a table of options; `c`: a static struct report_command, `bits`: their uses. */
#define REPORT_OPTIONS(c, bits)                                                                    \
	{ "sort", 0, OPT_CHOICE, NULL,                                                             \
	  "what makes a site large (default live; peak when little of it is left)", &(c).sort,     \
	  .given = &(c).opt.sort_given, .choices = rank_key_name, .uses = (bits) },                \
	{ "table", 0, OPT_STRING, "NAME",                                                          \
	  "with --format csv: this table of the report (default lines, or what --blocks, "         \
	  "--functions, --top-down or --bottom-up asks for)", &(c).table,                          \
	  .uses = (bits) },                                                                        \
	{ "top", 0, OPT_UINT, "N",                                                                 \
	  "rows shown of each list (default 10, as JSON all; 0 = all)", &(c).opt.top,              \
	  .given = &(c).given_top, .uses = (bits) },                                               \
	{ "top-down", 0, OPT_FLAG, NULL,                                                           \
	  "call tree from the outermost function inward, instead of stacks", &(c).top_down,        \
	  .uses = (bits) },                                                                        \
	{ "bottom-up", 0, OPT_FLAG, NULL,                                                          \
	  "call tree from the allocating function outward, instead of stacks", &(c).bottom_up,     \
	  .uses = (bits) },                                                                        \
	{ "depth", 0, OPT_UINT, "N", "frames shown of a stack, levels of a tree (0 = all)",        \
	  &(c).opt.depth, .given = &(c).opt.depth_given, .uses = (bits) },                         \
	{ "function", 0, OPT_STRING, "PATTERN", "only stacks with a function like this",           \
	  &(c).opt.filter.function, .uses = (bits) },                                              \
	{ "file", 0, OPT_STRING, "PATTERN", "only stacks through a source file like this",         \
	  &(c).opt.filter.file, .uses = (bits) },                                                  \
	{ "module", 0, OPT_STRING, "PATTERN",                                                      \
	  "only stacks through a library or program like this", &(c).opt.filter.module,            \
	  .uses = (bits) },                                                                        \
	{ "thread", 0, OPT_STRING, "NAME|TID", "only live blocks that this thread made",           \
	  &(c).opt.filter.thread, .uses = (bits) },                                                \
	{ "size", 0, OPT_SIZE_RANGE, "MIN[:MAX]", "only live blocks of this size",                 \
	  &(c).opt.filter.size_bytes, .given = &(c).opt.filter.by_size, .uses = (bits) },          \
	{ "age", 0, OPT_DURATION_RANGE, "MIN[:MAX]",                                               \
	  "only live blocks of this age (seconds, or 10ms, 2m, 3h, 1d)",                           \
	  &(c).opt.filter.age_ns, .given = &(c).opt.filter.by_age, .uses = (bits) },               \
	{ "blocks", 0, OPT_FLAG, NULL, "list live blocks too, largest first", &(c).opt.blocks,     \
	  .uses = (bits) },                                                                        \
	{ "functions", 0, OPT_FLAG, NULL,                                                          \
	  "list functions too, by what is held through them: by themselves or what they call",     \
	  &(c).opt.functions, .uses = (bits) },                                                    \
	{ "skip-fn", 0, OPT_LIST, "PATTERN",                                                       \
	  "skip functions like this where lines are named: wrappers of malloc (may be given "      \
	  "again)",                                                                                \
	  &(c).skipped, .uses = (bits) },                                                          \
	{ "debuginfod", 0, OPT_FLAG, NULL,                                                         \
	  "ask the servers of $DEBUGINFOD_URLS for missing debug information", &(c).debuginfod,    \
	  .uses = (bits) },                                                                        \
	{ "no-symbols", 0, OPT_FLAG, NULL, "no names: module and offset only", &(c).no_symbols,    \
	  .uses = (bits) }

/*
 * Make the options whole, and see that they go together; `writer`: which of the two commands it is.
 * 0, or -EINVAL with `e` (a usage error).
 */
int report_command_check(struct report_command *c, enum form_writer writer, struct err *e);

/* Print the report of a heap; `source`: what the user named. 0 or -errno with `e`. */
int report_command_print(struct report_command *c, const struct heap *h, const char *source,
			 struct err *e);

#endif
