/* SPDX-License-Identifier: GPL-2.0-or-later
 * Blocks that are damaged and never freed, of threads too, are told at the end: ended.table. Not so: one that was told before, and blocks that code
 * without the header has freed, whose memory is the allocator's or gone.
 */
#include "order.h"
#include <pthread.h>

static void *in_thread(void *arg)
{
	char *p = (char *)malloc(30);

	p[30] = 'x';
	p[31] = 'y';
	*(char **)arg = p;
	return NULL;
}

/* What a library does with a block that it is given. */
static void given_away(char *p, size_t size)
{
	(free)(p);
	(free)((malloc)(size > 100000 ? 64 : 2000));
}

int main(void)
{
	pthread_t thread;
	char *of_thread, *p, *well, *told;
	size_t i;

	BEGIN();
	well = (char *)malloc(10);
	well[9] = 'w';
	p = (char *)malloc(13);
	p[13] = 'x';
	told = (char *)malloc(20);
	told[20] = 'x';
	if (pmm_check() != 2)
		return 1;
	p = (char *)malloc(40);
	p[40] = 'x';
	for (i = 0; i < 2; i++)
		if (pthread_create(&thread, NULL, in_thread, &of_thread) || pthread_join(thread, NULL))
			return 2;
	given_away((char *)malloc(8), 8);
	for (i = 1000; i < 1000000; i += 100000)
		given_away((char *)malloc(i), i);
	pmm_set(PMM_CANARY, PMM_BEFORE | PMM_BEHIND);
	p = (char *)malloc(50);
	p[-1] = 'x';
	pmm_set(PMM_KEEP, 1000);
	p = (char *)malloc(60);
	free(p);
	p[5] = 'x';
	pmm_set(PMM_AT_EXIT, PMM_TOTALS);
	return 0;
}
