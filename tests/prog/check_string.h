/* SPDX-License-Identifier: GPL-2.0-or-later */ /* What the victims of string functions share: `wrong' as their argument makes each call go one byte, or character, too far. */
#ifndef CHECK_STRING_H
#define CHECK_STRING_H

#include <stdlib.h>

#include "victim.h"

static size_t more;		/* 1: too far */

#define SIZE 24

/* The compiler must not leave out calls whose results nobody wants. */
#define CALL(call) (sink = (size_t)(call))
static volatile size_t sink;

/* A block of its own for each call, full of 'x'. */
static inline char *block(void)
{
	char *p = malloc(SIZE);

	for (int i = 0; i < SIZE; i++)
		((volatile char *)p)[i] = 'x';
	return hide(p);
}

/* ... behind which another one lies, where natively nothing minds what is written. */
static inline void *room(void)
{
	char *p = block();

	block();
	return p;
}

/* ... with a string that fills it, or fills it and lacks its end. */
static inline char *text(void)
{
	char *p = block();

	if (!more)
		((volatile char *)p)[SIZE - 1] = 0;
	return hide(p);
}

/* Elsewhere: a string of as many characters as go into a block, and one more when that is wrong. */
static inline char *elsewhere(void)
{
	static char buffer[64];

	for (size_t i = 0; i < sizeof(buffer); i++)
		((volatile char *)buffer)[i] = i < SIZE - 1 + more ? 'y' : 0;
	return hide(buffer);
}

static inline void begin(int argc, char **argv)
{
	more = argc > 1 && !strcmp(argv[1], "wrong");
}

#endif
