/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text from outside: names of processes, files, functions, threads, whatever a command line or a
 * file says. It may be no UTF-8 at all, and what is sound may still drive a terminal (ESC, and
 * U+0080-009F on some), turn the order of what follows (U+202A-202E, U+2066-2069), or end a line
 * and begin one that looks like ours.
 *
 * One rule says what is harmless, utf8_harmless(). Reports, messages and lines of text pass what is
 * from outside through utf8_add_clean() or utf8_clean(); what is stored loses it by utf8_mask();
 * JSON (src/base/json.h) escapes it, which can be undone.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/str.h"

/*
 * The character at s, of n bytes: its length, *c its number. 0 = malformed (RFC 3629: overlong,
 * surrogate, too large, cut off). n > 0.
 */
size_t utf8_decode(const char *s, size_t n, uint32_t *c);

/*
 * Does it show as itself, and nothing else? Not controls, line ends, direction marks and other
 * invisible ones, private use.
 */
bool utf8_harmless(uint32_t c);

/* The same of the character at s: its length, 0 = no. */
size_t utf8_harmless_length(const char *s, size_t n);

/* Does a character begin with this byte? The others continue one, or are malformed. */
static inline bool utf8_begins(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

/* In place: each of the n bytes that is not of a harmless character becomes `mask`. */
void utf8_mask(char *s, size_t n, char mask);

/*
 * Append text; each byte of what is not harmless becomes \xNN. Text that was cleaned stays as it
 * is.
 */
void utf8_add_clean(struct str *s, const char *text);

/*
 * Append a word as a shell takes it: as it is, 'in quotes', or where not all is harmless as
 * $'\xNN' (bash, zsh, ksh).
 */
void utf8_add_quoted(struct str *s, const char *word);

/*
 * The same as utf8_add_clean() into a buffer of `size` bytes, cut between characters where it does
 * not fit. `to` and `from` must not overlap.
 */
void utf8_clean(char *to, size_t size, const char *from);

#endif
