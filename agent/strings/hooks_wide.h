/* SPDX-License-Identifier: MIT */
/*
 * The hooks of functions of wide characters, for those of their fortified forms.
 */
#ifndef AGENT_STRINGS_HOOKS_WIDE_H
#define AGENT_STRINGS_HOOKS_WIDE_H

#include "agent/strings/strings.h"

typedef int wide;

#define WIDE sizeof(wide)

HOOK_AS(size_t, wcslen, const wide *s);
HOOK_AS(size_t, wcsnlen, const wide *s, size_t n);
HOOK_AS(wide *, wcscpy, wide *to, const wide *source);
HOOK_AS(wide *, wcpcpy, wide *to, const wide *source);
HOOK_AS(wide *, wcsncpy, wide *to, const wide *source, size_t n);
HOOK_AS(wide *, wcscat, wide *to, const wide *source);
HOOK_AS(int, wcscmp, const wide *a, const wide *b);
HOOK_AS(wide *, wmemcpy, wide *to, const wide *source, size_t n);
HOOK_AS(wide *, wmemmove, wide *to, const wide *source, size_t n);
HOOK_AS(wide *, wmempcpy, wide *to, const wide *source, size_t n);
HOOK_AS(wide *, wmemset, wide *to, wide c, size_t n);
HOOK_AS(wide *, wmemchr, const wide *s, wide c, size_t n);
HOOK_AS(int, wmemcmp, const wide *a, const wide *b, size_t n);
HOOK_AS(int, wcsncmp, const wide *a, const wide *b, size_t n);
HOOK_AS(wide *, wcsncat, wide *to, const wide *source, size_t n);
HOOK_AS(wide *, wcschr, const wide *s, wide c);
HOOK_AS(wide *, wcsrchr, const wide *s, wide c);
HOOK_AS(wide *, wcsstr, const wide *s, const wide *what);

/* Characters of a string, or as many as can be read. */
size_t wide_length(const wide *s, const char *function, const struct caller *from);

#endif
