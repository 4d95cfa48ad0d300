/* SPDX-License-Identifier: GPL-2.0-or-later
 * Twenty threads end the process at once, in the ways the arguments say in turn (exit, _exit, quick_exit, err, term), and so does main when
 * the first argument is main, while four allocate without pause and a destructor takes its time: by SIGTERM or with status 7. A static variable
 * and each of the twenty's frames hold blocks:
 *
 * expect:
 *   lost   definite=3/300
 *   kept   reachable=2/120
 *   framed reachable=20/800
 */
#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "victim.h"

static pthread_barrier_t barrier;
static void *volatile keeps[2];

SITE static void *lost(void) { return malloc(100); }
SITE static void *kept(void) { return malloc(60); }
SITE static void *framed(void) { return malloc(40); }

static __attribute__((destructor)) void slow(void) { usleep(2000); }
static void *allocate(void *arg) { for (;;) free(realloc(malloc(100), 5000)); return arg; }

static void *leave(void *how)
{
	void *volatile held = hide(framed());

	pthread_barrier_wait(&barrier);
	if (!strcmp(how, "term"))
		raise(SIGTERM);
	if (!strcmp(how, "err"))
		errx(7, "err");
	(!strcmp(how, "exit") ? exit : !strcmp(how, "_exit") ? _exit : quick_exit)(7);
	return held;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	for (int i = 0; i < 5; i++)
		i < 3 ? hide(lost()) : (keeps[i - 3] = hide(kept()));
	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, allocate, NULL);
	pthread_barrier_init(&barrier, NULL, 21);
	for (int i = 0; i < 20; i++)
		pthread_create(&thread, NULL, leave, argv[2 + i % (argc - 2)]);
	pthread_barrier_wait(&barrier);
	return !strcmp(argv[1], "main") ? 7 : pause();
}
