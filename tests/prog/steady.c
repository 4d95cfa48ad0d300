/* SPDX-License-Identifier: GPL-2.0-or-later
 * Holds 3000 blocks of 100 bytes (site steady) and one mapping of 1 MiB, prints its process id,
 * then churns others in two threads until its standard input ends. Whoever looks meanwhile must
 * find exactly these.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "victim.h"

static volatile int stop;

SITE static void *steady(void) { return malloc(100); }
SITE static void *churned(size_t bytes) { return malloc(bytes); }

SITE static void *mapped(void)
{
	return mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void *churn(void *arg)
{
	void *p[100] = { 0 };

	for (unsigned i = 0; !stop; i++) {
		free(p[i % 100]);
		p[i % 100] = hide(churned(i % 5000));
	}
	for (int i = 0; i < 100; i++)
		free(p[i]);
	return arg;
}

int main(void)
{
	pthread_t t[2];
	char c;

	for (int i = 0; i < 3000; i++)
		hide(steady());
	hide(mapped());
	pthread_create(&t[0], NULL, churn, NULL);
	pthread_create(&t[1], NULL, churn, NULL);
	dprintf(1, "%d\n", (int)getpid());
	while (read(0, &c, 1) > 0)
		;
	stop = 1;
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return 0;
}
