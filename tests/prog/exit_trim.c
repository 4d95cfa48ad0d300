/* SPDX-License-Identifier: GPL-2.0-or-later
 * Leaves through exit() in a signal handler while main gives memory back with malloc_trim(), which
 * holds the allocator's locks: it must end with status 7, as it does alone, and not hang.
 */
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include "victim.h"

static void handler(int sig)
{
	(void)sig;
	exit(7);
}

int main(void)
{
	struct itimerval once = { { 0, 0 }, { 0, 20000 } };

	for (int i = 0; i < 20000; i++) {
		void *p = hide(malloc(100 + i % 3000));

		if (i % 2)
			free(p);
	}
	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &once, NULL);
	for (;;)
		malloc_trim(0);
}
