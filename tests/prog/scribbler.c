/* SPDX-License-Identifier: GPL-2.0-or-later
 * scribbler MODE: allocates, writes over what it has mapped of pmm's where pmm and it talk to each other (the head of its own ledger file), prints
 * "done", and ends with status 7. What it has written over must not keep it from ending, nor harm anybody else.
 *
 *   states   for a second, words of the slot, at random
 *   head     for a second, any word of the head, at random
 *   asking   the slot says without end that it asks to be searched
 *   ones     every bit of the head is set
 *   child    as `head`, in a child, while the parent goes on allocating
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "include/pmm/ledger.h"
#include "victim.h"

SITE static void *block(void) { return malloc(100); }

static uint64_t seed = 88172645463325252ull;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct pmm_tree *head(void)
{
	unsigned long at = 0;
	char line[512];
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "memfd:" PMM_MEMFD_NAME) && strstr(line, "rw-s 00000000") && sscanf(line, "%lx", &at) == 1)
			break;
	if (f)
		fclose(f);
	return (struct pmm_tree *)at;
}

static void scribble(const char *mode)
{
	struct pmm_tree *t = head();
	double end = now() + 1;

	if (!t)
		exit(3);
	if (!strcmp(mode, "ones")) {
		memset(t, 0xff, sizeof(*t));
		return;
	}
	while (now() < end) {
		uint32_t *words = (uint32_t *)t;

		if (!strcmp(mode, "states"))
			((uint32_t *)&t->slot[0])[next() % 4] = (uint32_t)(next() % 6);
		else if (!strcmp(mode, "asking"))
			t->slot[0].leave = PMM_LEAVE_ASKED;
		else
			words[next() % (sizeof(*t) / 4)] = (uint32_t)next();
		if (next() % 100 == 0)
			usleep(100);
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	for (int i = 0; i < 1000; i++)
		block();
	if (!strcmp(mode, "child")) {
		if (!fork()) {
			block();
			scribble("head");
			_exit(0);
		}
		for (int i = 0; i < 100000; i++)
			free(block());
		wait(NULL);
	} else {
		scribble(mode);
	}
	puts("done");
	fflush(stdout);
	return 7;
}
