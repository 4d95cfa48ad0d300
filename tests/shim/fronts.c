/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Many blocks with canaries before them, released in the order they came, resized, and resized and released by a child. */
#include <pmm.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 300000 };

static char *p[BLOCKS];

/* Whether what was in it is lost on the way. */
static int release(int i, int resize)
{
	char *q = resize ? realloc(p[i], 70) : p[i];
	int wrong = resize && (q[0] != (char)i || q[49] != (char)i);

	free(q);
	return wrong;
}

int main(void)
{
	int i, status = 1, errors, wrong = 0;
	struct pmm_stats stats;

	pmm_set(PMM_AT_EXIT, 0);
	pmm_set(PMM_CANARY, PMM_BEHIND | PMM_BEFORE);
	for (i = 0; i < BLOCKS; i++)
		p[i] = i % 7 ? malloc((size_t)(i % 40)) : aligned_alloc(64, 64);
	for (i = 0; i < BLOCKS; i += 3)
		memset(p[i] = realloc(p[i], 50), i & 255, 50);
	if (fork() == 0) {
		for (i = 0; i < BLOCKS; i++)
			wrong += release(i, i % 3 == 0);
		pmm_get_stats(&stats);
		_exit(wrong || stats.nr_foreign != BLOCKS || stats.nr_errors);
	}
	wait(&status);
	for (i = 0; i < BLOCKS; i++)
		free(p[i]);
	pmm_get_stats(&stats);
	errors = (int)stats.nr_errors;
	printf("child %d, %d live, %d foreign, %d errors\n", status, (int)stats.nr_live, (int)stats.nr_foreign, errors);
	return 0;
}
