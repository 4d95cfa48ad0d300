/* SPDX-License-Identifier: GPL-2.0-or-later
 * Heap errors, one at a time, each with its correct twin: the same way through the same functions without the error. What must be found
 * is in tests/cli/check_matrix.table. A block comes from an entry, which the program that includes this has a table of.
 */
#ifndef PROG_CHECK_VICTIM_H
#define PROG_CHECK_VICTIM_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <wchar.h>

#include "victim.h"

struct entry {
	const char *name;
	char *(*make)(void);
	void (*drop)(char *p);
	size_t size;
};

struct error {
	const char *name;
	void (*commit)(const struct entry *e, int wrong);
};

static volatile char seen;
static char *volatile kept;

/* Live blocks on both sides of the one that is made, so that what goes far astray does no other harm. */
static char *volatile before, *volatile behind;

/* Change a byte, whatever is there, in one access. */
#define change(p) __asm__ volatile("incb %0" : "+m"(*(p)))

static char *made(const struct entry *e)
{
	char *p;

	before = (char *)malloc(40000);
	p = e->make();
	behind = (char *)malloc(40000);
	return p;
}

static void dropped(const struct entry *e, char *p)
{
	e->drop(p);
	free(before);
	free(behind);
}

/* ---- accesses ---- */

SITE static void write_behind(const struct entry *e, int wrong)
{
	char *volatile p = made(e);

	change(p + e->size - !wrong);
	dropped(e, p);
}

SITE static void read_behind(const struct entry *e, int wrong)
{
	char *volatile p = made(e);

	seen = p[e->size - !wrong];
	dropped(e, p);
}

SITE static void write_far(const struct entry *e, int wrong)
{
	char *volatile p = made(e);

	change(p + e->size - 1 + (size_t)wrong * 2001);
	dropped(e, p);
}

SITE static void read_far(const struct entry *e, int wrong)
{
	char *volatile p = made(e);

	seen = p[e->size - 1 + (size_t)wrong * 2001];
	dropped(e, p);
}

SITE static void write_before(const struct entry *e, int wrong)
{
	char *volatile p = made(e);

	change(p + -wrong);
	dropped(e, p);
}

SITE static void read_before(const struct entry *e, int wrong)
{
	char *volatile p = made(e);

	seen = p[-wrong];
	dropped(e, p);
}

SITE static void write_far_before(const struct entry *e, int wrong)
{
	char *volatile p = made(e);

	change(p + -wrong * 4096);
	dropped(e, p);
}

SITE static void read_far_before(const struct entry *e, int wrong)
{
	char *volatile p = made(e);

	seen = p[-wrong * 4096];
	dropped(e, p);
}

SITE static void write_freed(const struct entry *e, int wrong)
{
	char *volatile p = made(e);

	if (wrong)
		dropped(e, p);
	change(p + 24);
	if (!wrong)
		dropped(e, p);
}

SITE static void read_freed(const struct entry *e, int wrong)
{
	char *volatile p = made(e);

	if (wrong)
		dropped(e, p);
	seen = p[24];
	if (!wrong)
		dropped(e, p);
}

/* A block that is still there at the end. */
SITE static void write_kept(const struct entry *e, int wrong)
{
	kept = made(e);
	change(kept + e->size - !wrong);
}

/* Through memory of other functions: once in a place that is written to again and again. */
SITE static void write_often(const struct entry *e, int wrong)
{
	char *volatile p = made(e);

	for (volatile size_t i = 0; i < 100; i++)
		change(p + e->size - !wrong);
	dropped(e, p);
}

/* ---- functions ---- */

SITE static void memset_behind(const struct entry *e, int wrong)
{
	char *p = made(e);

	memset(p, 1, e->size + 3 * (size_t)wrong);
	dropped(e, p);
}

SITE static void memcpy_behind(const struct entry *e, int wrong)
{
	char *p = made(e), from[5000] = "";

	memcpy(p, from, e->size + 3 * (size_t)wrong);
	dropped(e, p);
}

SITE static void memcpy_from_behind(const struct entry *e, int wrong)
{
	char *p = made(e), to[5000];

	memcpy(to, p, e->size + 3 * (size_t)wrong);
	seen = to[0];
	dropped(e, p);
}

SITE static void memcpy_overlap(const struct entry *e, int wrong)
{
	char *p = made(e);

	memset(p, 1, e->size);
	memcpy(p + 24 - 8 * wrong, p, 24);
	dropped(e, p);
}

SITE static void memcpy_freed(const struct entry *e, int wrong)
{
	char *p = made(e), to[8];

	if (wrong)
		dropped(e, p);
	memcpy(to, p, 8);
	seen = to[0];
	if (!wrong)
		dropped(e, p);
}

SITE static void strcpy_behind(const struct entry *e, int wrong)
{
	char *p = made(e), from[5000];

	memset(from, 'x', sizeof(from));
	from[e->size - !wrong] = '\0';
	strcpy(p, from);
	dropped(e, p);
}

SITE static void strlen_behind(const struct entry *e, int wrong)
{
	char *p = made(e);

	memset(p, 'x', e->size);
	p[e->size - 1] = wrong ? 'x' : '\0';
	seen = (char)strlen(p);
	dropped(e, p);
}

SITE static void snprintf_behind(const struct entry *e, int wrong)
{
	char *p = made(e);

	snprintf(p, e->size + (size_t)wrong, "%*d", (int)e->size, 5);
	dropped(e, p);
}

SITE static void wmemset_behind(const struct entry *e, int wrong)
{
	char *p = made(e);

	wmemset((wchar_t *)(void *)p, 1, e->size / sizeof(wchar_t) + (size_t)wrong);
	dropped(e, p);
}

/* ---- releases ---- */

SITE static void double_free(const struct entry *e, int wrong)
{
	char *p = made(e);

	dropped(e, p);
	if (wrong)
		e->drop(p);
}

SITE static void free_middle(const struct entry *e, int wrong)
{
	char *p = made(e);

	if (wrong)
		e->drop(p + 16);
	dropped(e, p);
}

SITE static void free_askew(const struct entry *e, int wrong)
{
	char *p = made(e);

	if (wrong)
		e->drop(p + 1);
	dropped(e, p);
}

SITE static void realloc_freed(const struct entry *e, int wrong)
{
	char *p = made(e), *q;

	dropped(e, p);
	q = (char *)realloc(wrong ? p : NULL, 100);
	if (!wrong)
		free(q);
}

/* Errors after another one with the same block. */
SITE static void damaged_twice(const struct entry *e, int wrong)
{
	char *volatile p = made(e);

	change(p + e->size - !wrong);
	dropped(e, p);
	if (wrong)
		e->drop(p);
}

SITE static void damaged_freed(const struct entry *e, int wrong)
{
	char *volatile p = made(e);

	change(p + -wrong);
	if (!wrong)
		change(p + 24);
	dropped(e, p);
	if (wrong)
		change(p + 24);
}

SITE static void free_stack(const struct entry *e, int wrong)
{
	char here[64], *p = made(e);

	if (wrong)
		e->drop(here + (16 - ((size_t)here & 15)));
	dropped(e, p);
}

SITE static void free_static(const struct entry *e, int wrong)
{
	static char here[64];
	char *p = made(e);

	if (wrong)
		e->drop(here);
	dropped(e, p);
}

SITE static void free_unmapped(const struct entry *e, int wrong)
{
	char *p = made(e);

	if (wrong)
		e->drop((char *)0x10000);
	dropped(e, p);
}

/* Memory of the program's own, in which no block ever was. */
SITE static void free_never(const struct entry *e, int wrong)
{
	char *own = (char *)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *p = made(e);

	if (wrong)
		e->drop(own + 4160);
	dropped(e, p);
	munmap(own, 8192);
}

static const struct error common_errors[] = {
	{ "write-behind", write_behind }, { "read-behind", read_behind }, { "write-far", write_far }, { "read-far", read_far },
	{ "write-before", write_before }, { "read-before", read_before }, { "write-far-before", write_far_before },
	{ "read-far-before", read_far_before }, { "write-freed", write_freed }, { "read-freed", read_freed }, { "write-kept", write_kept },
	{ "write-often", write_often },
	{ "memset-behind", memset_behind }, { "memcpy-behind", memcpy_behind }, { "memcpy-from-behind", memcpy_from_behind },
	{ "memcpy-overlap", memcpy_overlap }, { "memcpy-freed", memcpy_freed }, { "strcpy-behind", strcpy_behind },
	{ "strlen-behind", strlen_behind }, { "snprintf-behind", snprintf_behind }, { "wmemset-behind", wmemset_behind },
	{ "double-free", double_free }, { "free-middle", free_middle }, { "free-askew", free_askew }, { "realloc-freed", realloc_freed },
	{ "damaged-twice", damaged_twice }, { "damaged-freed", damaged_freed },
	{ "free-stack", free_stack }, { "free-static", free_static }, { "free-unmapped", free_unmapped }, { "free-never", free_never },
	{ NULL, NULL }
};

static const struct error *error_named(const struct error *all, const char *name)
{
	for (; all->name; all++)
		if (!strcmp(all->name, name))
			return all;
	return NULL;
}

static const struct entry *entry_named(const struct entry *all, const char *name)
{
	for (; all->name; all++)
		if (!strcmp(all->name, name))
			return all;
	return NULL;
}

#endif
