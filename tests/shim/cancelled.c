/* SPDX-License-Identifier: GPL-2.0-or-later */ /* A thread is cancelled while its report is written by a function where that may happen: the others go on. */
#include <pmm.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>

static volatile int lines;

static void slow(void *ctx, const char *text, size_t bytes)
{
	(void)ctx, (void)text, (void)bytes;
	lines++;
	poll(NULL, 0, 1);
}

static void *report(void *arg)
{
	for (;;) {
		pmm_report_to(slow, NULL, PMM_ALL);
		pthread_testcancel();
	}
	return arg;
}

int main(void)
{
	pthread_t thread;
	void *p = malloc(10);

	pthread_create(&thread, NULL, report, NULL);
	while (lines < 3)
		poll(NULL, 0, 1);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	printf("%d damaged\n", (int)pmm_check());
	free(p);
	pmm_set(PMM_AT_EXIT, 0);
	return 0;
}
