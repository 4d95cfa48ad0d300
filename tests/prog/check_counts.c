/* SPDX-License-Identifier: GPL-2.0-or-later
 * check_counts exit|_exit|kill NR: four threads make NR blocks each; when all have, and while they live, the process ends. As many blocks more
 * must be counted when NR is larger, whatever the end.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 4

static pthread_barrier_t all;
static unsigned long nr;

static void *work(void *arg)
{
	for (unsigned long i = 0; i < nr; i++)
		if (!malloc(100))
			abort();
	pthread_barrier_wait(&all);
	pause();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	if (argc < 3)
		return 2;
	nr = strtoul(argv[2], NULL, 0);
	pthread_barrier_init(&all, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	pthread_barrier_wait(&all);
	if (!strcmp(argv[1], "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(argv[1], "_exit"))
		_exit(0);
	return 0;
}
