/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text broken into lines at its spaces, never inside a word or between a number and its unit.
 * Widths count characters; a word that is too long for a line has one of its own, whole.
 */
#ifndef BASE_WRAP_H
#define BASE_WRAP_H

#include <stddef.h>

#include "src/base/str.h"

/* How many bytes of `text` make the first line; a space may follow, which belongs to no line. */
size_t wrap_line(const char *text, unsigned width);

/*
 * Append `text` in lines of at most `width`; `before` precedes each but the first, in which `used`
 * columns are taken, and counts. No line end follows the last.
 */
void wrap_add(struct str *s, const char *text, unsigned width, const char *before, unsigned used);

/*
 * The column at which further lines of a text continue: behind "NAME " at its front, spaces
 * included, else behind its own indentation.
 */
unsigned wrap_hang(const char *text);

#endif
