/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names as they compare between builds: without what a compiler, a version or a place adds to them.
 */
#ifndef ANALYZE_DIFF_DIFF_NAMES_H
#define ANALYZE_DIFF_DIFF_NAMES_H

#include <stddef.h>

/*
 * How many bytes of a function's name stay: "parse.constprop.0", "parse(int) [clone .isra.0]" and
 * "parse::h0123456789abcdef" are `parse`, with its arguments.
 */
size_t diff_function_bytes(const char *name);

/*
 * The part of a module's path that stays, not terminated: "libz.so" of "/usr/lib/libz.so.1.2.13",
 * "app" of "/tmp/app (deleted)". *bytes gets its length.
 */
const char *diff_module_part(const char *path, size_t *bytes);

#endif
