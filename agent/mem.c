/* SPDX-License-Identifier: MIT */
/*
 * memcpy and memset for code that gcc turns into calls of them.
 */
#include "agent/sys.h"

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
	arch_copy(to, from, bytes);
	return to;
}

void *memset(void *to, int byte, size_t bytes)
{
	arch_fill(to, byte, bytes);
	return to;
}
