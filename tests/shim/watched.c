/* SPDX-License-Identifier: GPL-2.0-or-later
 * One thread looks at all blocks, again and again, while three release and get others, small and mapped: none is damaged, and what is
 * looked at may be gone at any moment. With an argument blocks have canaries before them as well.
 */
#include <pmm.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3, BLOCKS = 64, LOOKS = 150 };

static volatile int done;

static void *work(void *arg)
{
	unsigned seed = (unsigned)(size_t)arg, i;
	char *p[BLOCKS] = { NULL };
	size_t bytes;

	while (!done) {
		seed = seed * 1103515245u + 12345u;
		i = seed >> 8 & (BLOCKS - 1);
		bytes = seed >> 16 & 1 ? 150000 + (seed >> 18) : 1 + (seed >> 18) % 3000;
		free(p[i]);
		p[i] = malloc(bytes);
		p[i][0] = p[i][bytes - 1] = 1;
	}
	for (i = 0; i < BLOCKS; i++)
		free(p[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];
	struct pmm_stats stats;
	size_t i, damaged = 0;

	(void)argv;
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	pmm_set(PMM_AT_EXIT, 0);
	if (argc > 1)
		pmm_set(PMM_CANARY, PMM_BEHIND | PMM_BEFORE);
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, (void *)(i + 1));
	for (i = 0; i < LOOKS; i++) {
		damaged += pmm_check();
		pmm_report_fd(-1, PMM_BLOCKS);
	}
	done = 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	pmm_get_stats(&stats);
	printf("%d damaged, %d errors, %d live\n", (int)damaged, (int)stats.nr_errors, (int)stats.nr_live);
	return 0;
}
