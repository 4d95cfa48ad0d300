/* SPDX-License-Identifier: MIT */
/*
 * memcpy and memset for code that gcc turns into calls of them.
 */
#include "agent/sys.h"

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
	char *t = to;
	const char *f = from;

	__asm__ volatile("rep movsb" : "+D"(t), "+S"(f), "+c"(bytes) : : "memory");
	return to;
}

void *memset(void *to, int byte, size_t bytes)
{
	char *t = to;

	__asm__ volatile("rep stosb" : "+D"(t), "+c"(bytes) : "a"(byte) : "memory");
	return to;
}
