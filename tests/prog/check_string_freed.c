/* SPDX-License-Identifier: GPL-2.0-or-later
 * String functions on a released block, at its start and within; in a signal handler; in a forked child and in a thread. Right: before its release.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_string.h"

static char *freed, other[16];

static void *touch(void *how)
{
	memcpy(other, freed + (how ? SIZE : 0), 16);
	return NULL;
}

SITE static void handler(int signal) { (void)signal; touch(NULL); }

int main(int argc, char **argv)
{
	pthread_t thread;

	begin(argc, argv);
	freed = hide(memset(malloc(SIZE * 4), 0, SIZE * 4));
	if (more)
		free(freed);
	CALL(strlen(freed));
	touch("inside");
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	pthread_create(&thread, NULL, touch, NULL);
	pthread_join(thread, NULL);
	memset(freed, 'x', 8);
	if (!fork()) {
		memset(malloc(10), 'x', opaque(10 + more));
		_exit(0);
	}
	wait(NULL);
	if (!more)
		free(freed);
	return 0;
}
