/*
 * Why something failed, for a person: one sentence and a hint.
 *
 * Functions return 0 or a positive value, or -errno. Where a person must learn why, the last argument is a
 * `struct err *` (may be NULL); the function that detects the trouble fills it, callers pass it on untouched.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

struct err {
	char text[512];		/* lower case, no full stop, subject in 'quotes'; "" = none */
	char hint[512];		/* what to do about it; "" = none */
	int exit_code;		/* 2 usage, 3 could not do it; 0 = decide by default (3) */
};

/* Set the sentence and return `code` (a -errno), so that `return err_set(e, -EINVAL, ...)` works. e may be NULL. */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Add what to do about it. Returns nothing; e may be NULL. */
void err_hint(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
