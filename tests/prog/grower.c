/* SPDX-License-Identifier: GPL-2.0-or-later
 * Serves for as long as its first argument says, in seconds, a hundred requests a second. At `kept` one of two requests leaves a block in a list
 * for ever: a leak. At `cached` a block replaces the oldest of 300, and at `table` one is made for each of 40 kinds of requests: none. Says
 * "ready" at the end and waits for the end of its input. Time lost is made up for: many requests in a row come then.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "victim.h"

struct node {
	struct node *next;
	char text[200];
};

static struct node *volatile list;
static void *volatile cache[300], *volatile tables[40];

SITE static void kept(void)
{
	struct node *n = malloc(sizeof(*n));

	n->next = list;
	list = n;
}

SITE static void cached(unsigned i)
{
	free(cache[i % 300]);
	cache[i % 300] = hide(malloc(500));
}

/* The first of each kind comes half a second after the one before. */
SITE static void table(unsigned i)
{
	if (i % 50 == 0 && i / 50 < 40)
		tables[i / 50] = hide(malloc(3000));
}

int main(int argc, char **argv)
{
	unsigned requests = argc > 1 ? 100 * (unsigned)atoi(argv[1]) : 100;
	struct timespec due;
	char c;

	clock_gettime(CLOCK_MONOTONIC, &due);
	for (unsigned i = 0; i < requests; i++) {
		cached(i);
		table(i);
		if (i % 2)
			kept();
		due.tv_nsec += 10000000;
		if (due.tv_nsec >= 1000000000) {
			due.tv_nsec -= 1000000000;
			due.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
	}
	if (write(1, "ready\n", 6) != 6)
		return 1;
	return read(0, &c, 1) != 0;
}
