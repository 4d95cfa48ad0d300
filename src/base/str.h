/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * String builder. Trouble is sticky: append without checking, ask once at the end.
 *
 *	struct str s = STR_INIT;
 *	str_addf(&s, "%d blocks", n);
 *	char *text = str_steal(&s);		NULL when memory ran out on the way
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>

struct str {
	char *s;		/* NUL-terminated, or NULL while empty: read through str_text() */
	size_t len, room;
	bool failed;		/* memory ran out; what was added since is lost */
};

#define STR_INIT { 0 }

void str_add(struct str *s, const char *text);
void str_addn(struct str *s, const char *bytes, size_t n);
void str_addc(struct str *s, char c);
void str_addf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Append `n` copies of a character. */
void str_pad(struct str *s, char c, size_t n);

/* Empty it, keeping the room. Clears `failed`. */
void str_clear(struct str *s);

/* The text so far, never NULL; valid until the next change. */
const char *str_text(const struct str *s);

/* 0, or -ENOMEM when something could not be added. */
int str_error(const struct str *s);

/* Hand the text to the caller (free()) and start anew. NULL when something could not be added. */
char *str_steal(struct str *s);

void str_fini(struct str *s);

/* Does `text` begin (end) with `part`? */
bool str_starts(const char *text, const char *part);

/* What of a path is behind its last slash. */
const char *str_basename(const char *path);
bool str_ends(const char *text, const char *part);

#endif
