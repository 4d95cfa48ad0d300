/* SPDX-License-Identifier: GPL-2.0-or-later
 * What host.c loads: it has a copy of the full form of its own. Compiled with several NAMEs and nothing else different, so that one has
 * its texts where another had.
 */
#include <pmm.h>

void *take(size_t bytes);
void give(void *p);
void mark(void *p);

void *NAME(size_t bytes);

void *NAME(size_t bytes)
{
	return malloc(bytes);
}

void *take(size_t bytes)
{
	return NAME(bytes);
}

void give(void *p)
{
	free(p);
}

void mark(void *p)
{
	pmm_mark(p);
}
