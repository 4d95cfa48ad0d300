/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the victims of `pmm attach` share: they wait for orders, a letter each on standard input, and answer each with
 * a line when it is done. No stdio, so that nothing is allocated but what the victim says.
 */
#ifndef ATTACH_H
#define ATTACH_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "victim.h"

static inline void say(const char *line)
{
	if (write(1, line, strlen(line)) != (ssize_t)strlen(line))
		_exit(99);
}

static inline void say_number(const char *word, unsigned long n)
{
	char line[64], digits[24];
	size_t at = strlen(word), i = 0;

	memcpy(line, word, at);
	do
		digits[i++] = (char)('0' + n % 10);
	while (n /= 10);
	while (i)
		line[at++] = digits[--i];
	line[at++] = '\n';
	line[at] = 0;
	say(line);
}

/* The next order; 0 at the end. A newline is none. */
static inline char order(void)
{
	char c;

	do
		if (read(0, &c, 1) != 1)
			return 0;
	while (c == '\n');
	return c;
}

/* A block with a pattern that only its address and size determine, and the check of it. */
static inline void *fill(void *p, size_t bytes)
{
	for (size_t i = 0; p && i < bytes; i++)
		((unsigned char *)p)[i] = (unsigned char)((size_t)p / 16 + bytes + i);
	return p;
}

static inline int filled(const void *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (((const unsigned char *)p)[i] != (unsigned char)((size_t)p / 16 + bytes + i))
			return 0;
	return 1;
}

#endif
