/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why something failed, for a person: one sentence and a hint.
 *
 * Functions return 0 or a positive value, or -errno. Where a person must learn why, the last
 * argument is a `struct err *` (may be NULL); the function that detects the trouble fills it,
 * callers pass it on untouched.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>

/*
 * Names and other text from outside go into a message as they are: the functions below make what
 * they format harmless (src/base/utf8.h), so that it fits on a line of a terminal.
 */
struct err {
	char text[512];		/* lower case, no full stop, subject in 'quotes'; "" = none */
	char hint[512];		/* what to do about it; "" = none */
	int exit_code;		/* 2 usage, 3 could not do it; 0 = decide by default (3) */
};

/*
 * Set the sentence and return `code` (a -errno), so that `return err_set(e, -EINVAL, ...)` works. e
 * may be NULL.
 */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * For the code that prints it: where no message says why `code` (a -errno) was returned, a sentence
 * made of the number alone. Returns e.
 */
const struct err *err_default(struct err *e, int code);

/*
 * Does an error (a -errno) tell of our own want of memory or descriptors, and so nothing of what
 * was looked at?
 */
bool err_is_want(int code);

/*
 * err_set() with "WHAT: why", where a descriptor could not be had; with what to do about it where
 * they are all in use.
 */
int err_no_file(struct err *e, int code, const char *what);

/* Add what to do about it. Returns nothing; e may be NULL. */
void err_hint(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
