/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of the document on heap errors.
 */
#ifndef VIEW_CHECK_CHECK_PRIV_H
#define VIEW_CHECK_CHECK_PRIV_H

#include "src/view/check/check_view.h"

/* Of the table of errors. */
enum found_column {
	FOUND_TYPE,
	FOUND_BY,
	FOUND_ACCESS,
	FOUND_PLACE,
	FOUND_WHAT,
	FOUND_COUNT,
	FOUND_FIRST,
	FOUND_LAST,
	FOUND_SINCE,
	FOUND_THREAD,
	FOUND_THREAD_NAME,
	FOUND_VALGRIND_THREAD,
	FOUND_ADDRESS,
	FOUND_SIZE,
	FOUND_BLOCK,
	FOUND_BLOCK_BYTES,
	FOUND_KIND,
	FOUND_RELEASE,
	FOUND_FUNCTION,
	FOUND_OTHER,
	FOUND_SAID,
	FOUND_SIGNAL,
	FOUND_CODE,
	FOUND_ENDED,
	FOUND_STATUS,
	FOUND_MAPPING,
	FOUND_MAP_ACCESS,
	FOUND_MAP_START,
	FOUND_MAP_END,
	FOUND_SAYS,
	FOUND_GUARDED,
	FOUND_AGAIN,
	FOUND_BYTES,
	FOUND_ALLOC_THREAD,
	FOUND_ALLOC_THREAD_NAME,
	FOUND_ALLOC_TIME,
	FOUND_FREE_THREAD,
	FOUND_FREE_THREAD_NAME,
	FOUND_FREE_TIME,
	FOUND_PARENT,
	FOUND_PROCESS,
	FOUND_PID,
	FOUND_RUNS,
	FOUND_PROGRAM,
	FOUND_PROCESSES,
	FOUND_PIDS,
	FOUND_STACK,
	FOUND_FRAME,
	FOUND_INLINED = FOUND_FRAME + 6,
	FOUND_ROLE,
	FOUND_LABEL,
	FOUND_TAIL,
	FOUND_NR,
};

extern const struct column check_found_columns[FOUND_NR];

#define CHECK_LINE_WIDTH	76	/* with what it is indented by: 80 */
#define FACT_WIDTH		68	/* with the names before it: 80 */

/*
 * An error's own row: all but the text. access_bytes: of the access, by its instruction; 0 = not
 * known.
 */
void check_figures(struct table *t, const struct check_view *v, const struct heap_finding *f,
		   unsigned access_bytes);

/* What ran, what was looked at and how, what must be known before believing it. */
void check_head(struct check_view *v);

/* The same of a tree of processes, and its errors in brief: text lists no others. */
void check_tree(struct check_view *v);

/* Of a tree: the processes of the error with this index. */
void check_set_processes(struct table *t, const struct check_view *v, uint64_t i);

/* JSON: what was looked at and how. */
void check_record(struct check_view *v);

/* "9 blocks guarded, 3 with canaries": what was guarded, what was not, and why. */
void check_coverage(struct str *to, const struct heap_check *c);

/*
 * "use after free in parse, request.c:41": what it is and where it shows, for the eye that looks
 * for a line to begin with.
 */
void check_title(struct str *s, struct names *n, const struct heap_finding *f, bool again);

/* Was its damage reported before, by a canary scan? */
static inline bool check_again(const struct check_view *v, const struct heap_finding *f)
{
	return v->opt.again && v->opt.again(v->opt.again_ctx, f);
}

#define CHECK_SIGNAL_BYTES	16

/* "SIGSEGV". */
void check_signal_name(char name[CHECK_SIGNAL_BYTES], unsigned signal);

/* The signal of the process's crash, also where its handler ended it by another. */
unsigned check_crash_signal(const struct heap *h);

/* "write of 4 bytes at 0x10, 16 bytes behind a null pointer": of a finding that is a crash. */
void check_crash_headline(struct str *s, const struct heap *h, const struct heap_finding *f,
			  unsigned access_bytes);

/* Behind what another finding is: that the process ended by it, if so. */
void check_ended_by(struct str *s, const struct heap *h, const struct heap_finding *f);

/*
 * The signal that ended the process, 0 = none is known of; and "SIGKILL ended it", false where
 * there is none.
 */
unsigned check_death_signal(const struct heap *h);
bool check_death(struct str *s, const struct heap *h);

/* "20 ms after the start", as exactly as is known. */
void check_when(struct str *s, const struct heap *h, uint64_t ns);

/* Of several runs: for JSON, for people, what must be known before believing it. */
void check_runs_record(struct check_view *v);
void check_runs_rows(struct table *t, const struct check_view *v);
void check_runs_notes(struct str *s, const struct check_view *v);

/* The runs that met an error, and where it comes from; NULL = there is one run. */
void check_runs_met(struct str *s, const struct check_view *v, const struct heap_finding *f,
		    const char *between, const char *quote);
const struct finding_origin *check_origin(const struct check_view *v, const struct heap_finding *f);

/* "3 errors: 2 use after free, 1 double free". */
void check_counts(struct str *s, const struct heap *h);

/* enum pmm_release in JSON's words, "delete[] with a size", and in a sentence, "sized delete[]". */
const char *check_release_word(unsigned release);
const char *check_release_text(unsigned release);

#endif
