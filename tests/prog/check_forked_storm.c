/* SPDX-License-Identifier: GPL-2.0-or-later
 * Children forked while other threads allocate, each with an error in a block of its parent, which releases its own copy: check_forked_storm
 * CHILDREN [ok]. "ok": no error. Each child's error must be found, with the stack that allocated the block: makes.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

static volatile int over;

SITE char *makes(size_t n) { return hide(malloc(n)); }

static void *churns(void *seed)
{
	unsigned random = (unsigned)(size_t)seed;
	void *kept[200] = { 0 };

	for (unsigned i = 0; !over; i++) {
		random = random * 1103515245 + 12345;
		free(kept[i % 200]);
		kept[i % 200] = hide(malloc(opaque(16 + (random >> 16) % 500)));
	}
	for (unsigned i = 0; i < 200; i++)
		free(kept[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];

	for (size_t i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, churns, (void *)(i + 1));
	for (int i = 0; argc > 1 && i < atoi(argv[1]); i++) {
		char *p = makes(100);

		if (!fork()) {
			((char *)hide(p))[argc > 2 ? 99 : 100] = 1;
			free(hide(p));
			_exit(0);
		}
		free(hide(p));
		if (i >= 20)
			wait(NULL);
	}
	while (wait(NULL) > 0)
		;
	over = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	puts("done");
	return 0;
}
