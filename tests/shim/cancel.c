/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Threads that are to be cancelled where the program's own functions run in the monitor: it waits until that is left, and others go on. */
#include "order.h"
#include <pthread.h>

static int nr_entered, nr_left;

static void output(void *ctx, const char *text, size_t bytes)
{
	(void)ctx, (void)text, (void)bytes;
	nr_entered++;
	pthread_testcancel();
	nr_left++;
}

static int look(void *ctx, const struct pmm_block *block)
{
	(void)block;
	output(ctx, "", 0);
	return 0;
}

static void *work(void *looks)
{
	pthread_cancel(pthread_self());
	if (looks)
		pmm_each_block(look, NULL);
	else
		pmm_report_to(output, NULL, PMM_TOTALS);
	pthread_testcancel();
	return NULL;
}

int main(void)
{
	pthread_t thread[2];
	void *end[2], *p = malloc(10);
	int i;

	BEGIN();
	pmm_set(PMM_AT_EXIT, 0);
	for (i = 0; i < 2; i++) {
		pthread_create(&thread[i], NULL, work, i ? p : NULL);
		pthread_join(thread[i], &end[i]);
	}
	free(p);
	printf("cancelled: %d %d; done: %d\n", end[0] == PTHREAD_CANCELED, end[1] == PTHREAD_CANCELED, nr_entered > 1 && nr_left == nr_entered);
	return 0;
}
