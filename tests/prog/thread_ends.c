/* SPDX-License-Identifier: GPL-2.0-or-later
 * Holds 1000000 bytes from its beginning on, for a second. A thread ends in the first quarter of
 * it, which has got another name after its first block.
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

SITE static void *whole(void) { return malloc(1000000); }

static void *thread(void *arg)
{
	prctl(PR_SET_NAME, "early");
	hide(malloc(100));
	prctl(PR_SET_NAME, "late");
	usleep(250000);
	return arg;
}

int main(void)
{
	void *p = hide(whole());
	pthread_t t;

	if (pthread_create(&t, NULL, thread, NULL) || pthread_join(t, NULL))
		return 1;
	usleep(750000);
	free(p);
	return 0;
}
