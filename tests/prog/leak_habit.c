/* SPDX-License-Identifier: GPL-2.0-or-later
 * Pointers into blocks that are a habit: behind headers of one size, into the parts of a pool; and some that are none.
 *
 * expect:
 *   object      reachable=12/840 plain:possible=12/840 memcheck:possible=12/840
 *   member      reachable=12/372 plain:possible=12/372 memcheck:possible=12/372
 *   pool        reachable=1/4096 plain:possible=1/4096 memcheck:possible=1/4096
 *   part        reachable=1/601 plain:possible=1/601 memcheck:possible=1/601
 *   few         possible=3/210
 *   anywhere    possible=8/560
 *   twice       possible=1/4097
 *   beside      definite=1/602
 */
#include "leak.h"

#define OBJECTS 12

static char *volatile objects[OBJECTS], *volatile parts[6], *volatile fews[3], *volatile places[8], *volatile two[2];

SITE static void *member(void) { return make(31); }
SITE static void *part(void) { return make(601); }
SITE static void beside(void) { hide(make(602)); }

/* The program knows them by what is behind 16 bytes. */
SITE static void object(void)
{
	for (unsigned i = 0; i < OBJECTS; i++) {
		char *p = make(70);

		*(void *volatile *)(p + 32) = member();
		objects[i] = p + 16;
	}
}

/* Cut into pieces of 64 bytes, of which some are in use. */
SITE static void pool(void)
{
	char *p = make(4096);

	for (unsigned i = 0; i < 6; i++)
		parts[i] = p + 64 * (2 * i + 1);
	*(void *volatile *)parts[3] = part();
}

SITE static void few(void)
{
	for (unsigned i = 0; i < 3; i++)
		fews[i] = (char *)make(70) + 24;
}

SITE static void anywhere(void)
{
	for (unsigned i = 0; i < 8; i++)
		places[i] = (char *)make(70) + 8 * (i + 1);
}

SITE static void twice(void)
{
	char *p = make(4097);

	two[0] = p + 64;
	two[1] = p + 192;
}

static void cases(void)
{
	object(), pool(), few(), anywhere(), twice(), beside();
}
