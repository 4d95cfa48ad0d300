/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verdicts: what was judged, by which rule, and how that ended, for those who read results of
 * checks (SARIF, JUnit). Leaks, heap errors and budgets are all lists of verdicts.
 *
 *	struct verdicts v;
 *	verdicts_init(&v, "leaks", "app");
 *	rule = verdict_rule(&v, "definitely-lost", "Definitely lost memory", "Nothing points ...");
 *	verdict_add(&v, rule, VERDICT_ERROR, VERDICT_FAILED);
 *	verdict_title(&v, "definitely lost: %s", function);	of the verdict added last, as below
 *	verdict_message(&v, "%s in %s are lost", ...);
 *	verdict_stack(&v, "allocated by");
 *	verdict_frame(&v, &frame);				innermost first
 *	verdicts_print_sarif(&v, out);
 *	verdicts_fini(&v);
 *
 * Trouble is sticky: add without checking, printing says -ENOMEM. Texts are copied, but for those
 * of rules.
 *
 * A fingerprint is made of the rule and the frames of the first stack: functions and names of
 * modules, no addresses and no lines. It is the same for the same finding in another process, after
 * a rebuild and when lines have moved. With own frames among them it is made of those alone, so
 * that another C library does not change it. What is no stack's has an identity of its own. Equal
 * ones are numbered.
 */
#ifndef EXPORT_VERDICT_H
#define EXPORT_VERDICT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "src/base/arena.h"
#include "src/base/str.h"
#include "src/base/vec.h"

enum verdict_level { VERDICT_ERROR, VERDICT_WARNING, VERDICT_NOTE };
#define VERDICT_NR_LEVELS (VERDICT_NOTE + 1)

enum verdict_state {
	VERDICT_FAILED,		/* found, and it makes the check fail */
	VERDICT_LISTED,		/* found, and it does not */
	VERDICT_SUPPRESSED,	/* found, and known: `text` says by what */
	VERDICT_PASSED,		/* was looked for and not found; the message says in what */
	VERDICT_SKIPPED,	/* was looked for in a part only: no pass; the message says why */
	VERDICT_UNKNOWN,	/* could not be looked for; the message says why */
};

struct verdict_rule {
	const char *id;		/* "definitely-lost": stable; these are not copied */
	const char *title;	/* one line */
	const char *help;	/* what to do; may be NULL */
	enum verdict_level level;	/* of its worst verdict */
};

struct verdict_frame {
	const char *function, *file, *module;	/* NULL: not known */
	uint32_t line;				/* 0: not known */
	bool own;	/* of the program, not of the C library or another run-time system */
	/*
	 * Made by verdicts_finish(): the path of the file, else of the module, below the root or
	 * absolute; NULL: neither is known. A relative one that is not there has no place.
	 */
	const char *path;
	bool lined;	/* it is the file's */
	bool in_root;	/* it is below the root ... */
	bool there;	/* ... as a file of sources that is there */
};

struct verdict_stack {
	const char *title;	/* "allocated by"; may be NULL */
	uint32_t first, nr;	/* of frames */
};

struct verdict_figure {
	const char *name;	/* "bytes"; not copied */
	uint64_t value;
};

#define VERDICT_MAX_STACKS	4u
#define VERDICT_MAX_FIGURES	6u
#define VERDICT_FINGERPRINT	17

struct verdict {
	uint32_t rule;
	enum verdict_level level;
	enum verdict_state state;
	const char *title;	/* the same in the next run: no figures. Never NULL when printed */
	const char *message;	/* one line, with figures */
	const char *text;	/* further lines; NULL: none */
	const char *identity;	/* NULL: it is that of the first stack */
	const char *scheme;	/* of fingerprints: "stack/v1"; not copied */
	struct verdict_stack stack[VERDICT_MAX_STACKS];
	struct verdict_figure figure[VERDICT_MAX_FIGURES];
	uint32_t nr_stacks, nr_figures;
	/*
	 * Where it is shown, + 1: the innermost frame of the program's own whose file is there
	 * below the root, else one whose file is known, else one in a module; 0: there is none.
	 */
	uint32_t at;
	uint32_t source;	/* a frame + 1 that serves where no code below the root does */
	uint32_t number;	/* of those with this fingerprint: 1, 2 ... */
	uint32_t title_number;	/* of those with this rule and title */
	char fingerprint[VERDICT_FINGERPRINT];
};

struct verdicts {
	const char *command;	/* "leaks" */
	const char *program;	/* what was judged, a name or a path */
	const char *cmdline;	/* NULL: not known */
	/* of the sources: files below it are named from there; NULL: none */
	const char *root;
	uint64_t start_realtime_ns, took_ns;	/* 0: not known */
	VEC(struct verdict_rule) rules;
	VEC(struct verdict) list;
	VEC(struct verdict_frame) frames;
	struct verdict_frame program_frame;	/* serves where there is no other place */
	struct arena texts;
	bool failed, finished;
};

/* An empty list; texts are copied. verdicts_fini() in any case. */
void verdicts_init(struct verdicts *v, const char *command, const char *program);
void verdicts_fini(struct verdicts *v);

/* Further facts; texts are copied. The root must be absolute. */
void verdicts_cmdline(struct verdicts *v, const char *cmdline);
void verdicts_root(struct verdicts *v, const char *root);

/* The number of a rule, entered if its ID is new. */
uint32_t verdict_rule(struct verdicts *v, const char *id, const char *title, const char *help);

/* Add a verdict, which the functions below are about. */
void verdict_add(struct verdicts *v, uint32_t rule, enum verdict_level level,
		 enum verdict_state state);
void verdict_title(struct verdicts *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void verdict_message(struct verdicts *v, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The same of a text that was made already; what it could not hold for want of memory fails. */
void verdict_message_str(struct verdicts *v, const struct str *s);
void verdict_text(struct verdicts *v, const struct str *s);
/* What it is known by from run to run, not its stack; `scheme` names the way: "budget/v1". */
void verdict_identity(struct verdicts *v, const char *scheme, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A file of the project that it is about; before stacks. It is shown there if nowhere else. */
void verdict_source(struct verdicts *v, const char *file, uint32_t line);
void verdict_figure(struct verdicts *v, const char *name, uint64_t value);
/* Begin a stack, of which there are VERDICT_MAX_STACKS, and add frames to it. */
void verdict_stack(struct verdicts *v, const char *title);
void verdict_frame(struct verdicts *v, const struct verdict_frame *f);

/* How many are in this state. */
uint64_t verdicts_count(const struct verdicts *v, enum verdict_state state);

/* "parse (src/doc.c:41) [app]", once verdicts_finish() has found places. */
void verdict_frame_text(struct str *s, const struct verdict_frame *f);

/*
 * Write all as SARIF 2.1.0: what was found as results, what was looked at or could not be as
 * notifications of the run. 0 or -errno.
 */
int verdicts_print_sarif(struct verdicts *v, FILE *out);

/* The same as JUnit's XML: each verdict is a test case. */
int verdicts_print_junit(struct verdicts *v, FILE *out);

/* Make fingerprints and places; the two above call it. 0 or -ENOMEM. */
int verdicts_finish(struct verdicts *v);

#endif
