/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program to attach to whose threads end. What a thread frees is in its cache then, which the allocator releases itself at the thread's end.
 *   t  100 threads that each allocate and free 5 blocks -> "done"
 *   b  100 threads that each free a block from the start as well, and the last 20 of them one of the C library's from then (opendir) -> "done"
 *   e  end with status 49
 */
#include <dirent.h>
#include <pthread.h>

#include "attach.h"

#define NR	100
#define NR_DIRS 20

static void *from_before[NR];
static DIR *dir[NR_DIRS];

static void *work(void *arg)
{
	const long n = (long)arg;
	void *volatile p[5];

	for (int i = 0; i < 5; i++)
		p[i] = malloc(100);
	for (int i = 0; i < 5; i++)
		free(p[i]);
	if (n >= 0)
		free(from_before[n]);
	if (n >= NR - NR_DIRS)
		closedir(dir[NR - 1 - n]);
	return NULL;
}

static void threads(int with)
{
	for (long i = 0; i < NR; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, (void *)(with ? i : -1)) || pthread_join(thread, NULL))
			_exit(99);
	}
}

int main(void)
{
	char o;

	threads(0);			/* what the C library keeps from its first threads is there */
	for (int i = 0; i < NR; i++)
		from_before[i] = malloc(50);
	for (int i = 0; i < NR_DIRS; i++)
		dir[i] = opendir("/");
	say("ready\n");
	while ((o = order()) && o != 'e') {
		threads(o == 'b');
		say("done\n");
	}
	return 49;
}
