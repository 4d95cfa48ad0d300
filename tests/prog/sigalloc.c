/* SPDX-License-Identifier: GPL-2.0-or-later
 * A timer that fires every 30 us while main allocates; the handler allocates and frees too. The
 * allocator (libbump.so) allows that, so every single event must be counted. Prints "N handled".
 *
 * expect:
 *   total          untracked=0
 *   own in_main   allocs=2000000 frees=1999000 live=40000 blocks=1000
 * Site in_handler: N allocs, N / 2 of them live (rounded up), 24 bytes each.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "victim.h"

static volatile unsigned handled;

SITE static void *in_main(void) { return malloc(40); }
SITE static void *in_handler(void) { return malloc(24); }

static void handler(int sig)
{
	void *p = hide(in_handler());

	(void)sig;
	if (handled++ & 1)
		free(p);
}

int main(void)
{
	struct itimerval every = { { 0, 30 }, { 0, 30 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction sa = { .sa_handler = handler };

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < 2000000; i++) {
		void *p = hide(in_main());

		if (i >= 1000)
			free(p);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	dprintf(1, "%u handled\n", handled);
	return 0;
}
