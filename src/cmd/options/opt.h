/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options: one table per command drives parsing, --help, the man page and shell completion.
 */
#ifndef CMD_OPTIONS_OPT_H
#define CMD_OPTIONS_OPT_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/base/fmt.h"
#include "src/base/str.h"

enum opt_type {			/* what target points to */
	OPT_FLAG,		/* bool, set to true */
	OPT_STRING,		/* const char * */
	OPT_FILE,		/* const char *, completed as a file name */
	OPT_UINT,		/* uint64_t */
	OPT_SIZE,		/* uint64_t bytes: 4096, 64K, 1.5M, 2G */
	OPT_DURATION,		/* uint64_t nanoseconds: 5 (seconds), 10ms, 2m */
	OPT_SIZE_RANGE,		/* struct fmt_range of bytes: MIN[:MAX] */
	OPT_DURATION_RANGE,	/* struct fmt_range of nanoseconds */
	OPT_CHOICE,		/* int, index into choices */
	OPT_LIST,		/* struct opt_list: may be given again and again */
};

#define OPT_LIST_MAX	64

struct opt_list {
	const char *v[OPT_LIST_MAX];
	unsigned nr;
};

struct opt {
	const char *name;		/* without the dashes; NULL ends a table */
	char letter;			/* short form, 0 = none */
	enum opt_type type;
	/* name of the argument in --help; for a choice NULL lists the choices */
	const char *arg;
	const char *help;		/* lower case, no full stop, one line or more */
	void *target;
	/* not NULL: the argument is optional (--name[=ARG]) and stands for this */
	const char *if_omitted;
	bool *given;			/* may be NULL; set to true when the option was given */
	const char *const *choices;	/* OPT_CHOICE, NULL-terminated */
	/* is a choice offered where another word is refused? NULL: all are */
	bool (*offers)(int choice, unsigned by);
	unsigned by;
	/* bounds of OPT_UINT, OPT_SIZE, OPT_DURATION; max 0 = none */
	uint64_t min, max;
	unsigned uses;			/* the command's own: what it is for, a bit each; 0 = all */
};

/*
 * Parse argv[1..argc-1] by a table. Options and operands may mix unless `stop` is set, which ends
 * options at the first operand; "--" ends them too. argv is reordered so that the operands come
 * last; returns the index of the first one (argc if none). -EINVAL with `e` set (exit_code 2).
 * --help and -h set *help and end parsing.
 */
int opt_parse(const struct opt *table, bool stop, int argc, char **argv, bool *help, struct err *e);

/*
 * The options that opt_parse() met, in their order: number `i` from 0 on, NULL = there are no more.
 */
const struct opt *opt_met(unsigned i);

#define OPT_NO_DASHES	((unsigned)-1)

/* How many operands opt_parse() met in front of "--"; OPT_NO_DASHES: there was no "--". */
unsigned opt_before_dashes(void);

/* Append how the option is written: "--output FILE", "--sample[=BYTES]", "--sort live|peak". */
void opt_usage(const struct opt *o, struct str *out);

/*
 * The known word nearest to `word` (a slip of at most a third of its letters), NULL = none. `words`
 * ends with NULL.
 */
const char *opt_nearest(const char *word, const char *const *words);

#endif
