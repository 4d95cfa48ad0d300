/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verdict on a searched heap: names, suppressions, growth; handed over as a document, as
 * Valgrind's XML, as verdicts or as suppressions. For `pmm leaks` and for the end of `pmm run
 * --leaks`.
 */
#ifndef SESSION_LEAKS_LEAKS_REPORT_H
#define SESSION_LEAKS_LEAKS_REPORT_H

#include <stdbool.h>

#include "src/analyze/leaks.h"
#include "src/analyze/suppress/suppress.h"
#include "src/base/err.h"
#include "src/base/texts.h"
#include "src/session/session.h"
#include "src/view/leaks_view.h"

enum leaks_format {
	LEAKS_TEXT, /* a document, for a person */
	LEAKS_JSON, /* a document, for programs: with a head also when empty */
	LEAKS_VALGRIND_XML,
	LEAKS_SARIF,
	LEAKS_JUNIT,
	LEAKS_GEN_VALGRIND,
	LEAKS_GEN_LSAN
};

/* What makes it fail (enum leaks_show has the classes in its low bits). */
enum leaks_fail {
	LEAKS_FAIL_LIKELY	= 1 << 4,	/* certain or likely */
	LEAKS_FAIL_GROWTH	= 1 << 5,	/* reachable and growing steadily */
	/* of a COMMAND: a process that was not searched or not tracked */
	LEAKS_FAIL_UNSEARCHED	= 1 << 6,
	LEAKS_FAIL_DEFAULT	= LEAKS_FAIL_LIKELY,
};

struct leaks_report_options {
	enum leaks_format format;
	struct leaks_view_options view;
	uint64_t old_ns;		/* 0 = LEAKS_OLD_NS */
	/* what was watched; NULL = only what the heap has of its past */
	const struct growing *growing;
	struct suppress *suppress;	/* borrowed; NULL = none */
	struct texts skip; /* functions that are stepped over where lines are named */
	bool no_symbols, debuginfod;
	/* for the debug information of a program; 0 = limits_share() */
	uint64_t memory_bytes;
	/* the process, where it may live in another file system tree; 0 = none */
	pid_t pid;
	/*
	 * After the verdict: take entries out. What is reported is what is left, sums are of all;
	 * NULL = all.
	 */
	void (*choose)(void *arg, struct leaks *l);
	void *choose_arg;
	/*
	 * When the verdict is known, before anything is handed over; `found` is what will be
	 * returned. NULL = not wanted.
	 */
	void (*judged)(void *arg, bool found);
	void *judged_arg;
	bool silent; /* hand over nothing, find nothing: another report has it */
	/* hand over nothing when no entry is left; else as what follows other documents */
	bool quiet_if_none;
	unsigned fail_on;		/* enum leaks_fail and classes */
	uint64_t max_leaked_bytes;	/* more than that of what fail_on names; 0 = any block */
};

/* The defaults. */
#define LEAKS_REPORT_DEFAULT                                                                       \
	{                                                                                          \
		.view = { .show = LEAKS_SHOW_DEFAULT, .top = 10, .depth = 8 },                     \
		.fail_on = LEAKS_FAIL_DEFAULT                                                      \
	}
extern const struct leaks_report_options leaks_report_default;

/*
 * Suppressions of the files named and pmm's own unless `no_default`; *out is
 * suppress_free()d. 0 or -errno with `e`.
 */
int leaks_read_suppressions(struct texts files, bool no_default, struct suppress **out,
			    struct err *e);

/*
 * Take the lost blocks out of a heap that `pmm leaks` would not report, and note how many those of
 * `source` are. *out: what was definitely or indirectly lost of them. `s` NULL: none. 0 or -ENOMEM.
 */
int leaks_suppress_heap(struct heap *h, struct names *n, struct suppress *s, const char *source,
			const struct session_sink *to, struct leak_sum *out);

/*
 * Judge `l` (NULL = the rows of `h`) and hand it over. 1 = found what fail_on asks for, 0 = not,
 * -errno with `e`: -ENODATA not searched.
 */
int leaks_report(const struct heap *h, struct leaks *l, const struct leaks_report_options *o,
		 const struct session_sink *to, struct err *e);

#endif
