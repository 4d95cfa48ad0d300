/* SPDX-License-Identifier: GPL-2.0-or-later
 * Two million reads behind a block's end, in a loop, and as many of a released block of a megabyte, each another byte: both have to come to
 * their end soon. Then, after some time, one more of each elsewhere: these are found. Expected: more than a thousand in `behind` and in `released`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "victim.h"

SITE static void behind(volatile char *p)
{
	for (int i = 0; i < 2000000; i++)
		p[4096 + i % 1000];
}

SITE static void released(volatile char *p)
{
	for (int i = 0; i < 2000000; i++)
		p[i % 1000000];
}

SITE static void one_more(volatile char *p) { p[4099]; }

int main(void)
{
	struct timespec pause = { 0, 50000000 };
	char *p = malloc(4096), *q = malloc(1000000);

	free(q);
	behind(p);
	released(q);
	nanosleep(&pause, NULL);
	free(malloc(10));
	one_more(p);
	printf("end\n");
	return 0;
}
