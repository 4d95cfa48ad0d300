/* SPDX-License-Identifier: GPL-2.0-or-later
 * Pointers behind what was asked for.
 *
 *	grown	an array grows to what malloc_usable_size() says: nine blocks, of which the last one hangs on its last bytes. None is lost
 *	stale	the same bytes of a block of which nobody has asked that hold an old pointer: one block of 40 bytes is definitely lost
 *	wait	says "ready", at the order "g" as grown and "done", then waits for the end of its input
 */
#define LEAK_THREADS		/* main is here */
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>

#include "leak.h"

static char **v;
static size_t n;

static void add(const char *text)
{
	if (!v || malloc_usable_size(v) / sizeof(*v) < n + 1) {
		size_t want = 2 * (n + 1) * sizeof(*v);

		v = realloc(v, want < 64 ? 64 : want);
	}
	v[n++] = strdup(text);
}

static void grown(void)
{
	char text[64];

	for (int i = 0; i < 9; i++) {
		snprintf(text, sizeof(text), "entry number %d", i);
		add(text);
	}
	memset(text, 0, sizeof(text));
}

static void stale(void)
{
	static char **block;

	block = malloc(64);
	memset(block, 0, 64);
	block[8] = malloc(40);		/* 72 bytes can be used of it */
}

int main(int argc, char **argv)
{
	bool waits = argc > 1 && !strcmp(argv[1], "wait");

	if (waits) {
		say("ready\n");
		rest(0);
	}
	if (argc > 1 && !strcmp(argv[1], "stale"))
		stale();
	else
		grown();
	scrub();
	if (waits) {
		say("done\n");
		while (rest(0))
			;
	}
	return 0;
}
