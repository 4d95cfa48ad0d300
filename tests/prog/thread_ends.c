/* SPDX-License-Identifier: GPL-2.0-or-later
 * thread_ends [TENTHS]: holds 1000000 bytes from its beginning on, for so many tenths of a second
 * (10). A thread ends in the first quarter of it, which has got another name after its first block.
 *
 * expect:
 *   site whole  allocs=1 frees=1 bytes=1000000 live=0
 *   threads     count=2
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "victim.h"

static useconds_t tenths = 10;

SITE static void *whole(void) { return malloc(1000000); }

static void *thread(void *arg)
{
	prctl(PR_SET_NAME, "early");
	hide(malloc(100));
	prctl(PR_SET_NAME, "late");
	usleep(25000 * tenths);
	return arg;
}

int main(int argc, char **argv)
{
	void *p = hide(whole());
	pthread_t t;

	if (argc > 1)
		tenths = (useconds_t)atoi(argv[1]);
	if (pthread_create(&t, NULL, thread, NULL) || pthread_join(t, NULL))
		return 1;
	usleep(75000 * tenths);
	free(p);
	return 0;
}
