/* SPDX-License-Identifier: GPL-2.0-or-later
 * Leaves 13 blocks of 90 bytes (site kept), then ends in the way argv[1] says.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "victim.h"

SITE static void *kept(void) { return malloc(90); }

static void *exit_here(void *arg)
{
	exit(arg ? 5 : 6);
}

static void *outlive(void *arg)
{
	pthread_join(*(pthread_t *)arg, NULL);
	exit(7);
}

int main(int argc, char **argv)
{
	static pthread_t self, t;
	const char *how = argc > 1 ? argv[1] : "";

	for (int i = 0; i < 13; i++)
		hide(kept());
	if (!strcmp(how, "_exit"))
		_exit(4);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		raise(SIGSEGV);
	if (!strcmp(how, "quick"))
		quick_exit(8);
	if (!strcmp(how, "thread") && !pthread_create(&t, NULL, exit_here, ""))
		pthread_join(t, NULL);
	if (!strcmp(how, "main-first")) {
		self = pthread_self();
		pthread_create(&t, NULL, outlive, &self);
		pthread_exit(NULL);
	}
	return 3;
}
