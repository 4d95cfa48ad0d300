/* SPDX-License-Identifier: GPL-2.0-or-later */ /* A child whose first call resizes a block of its parent, and which frees the result: that is counted in its own ledger. */
#include <pmm.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(const char *who)
{
	struct pmm_stats stats;

	pmm_get_stats(&stats);
	printf("%s: %d new, %d freed, %d foreign\n", who, (int)stats.nr_new, (int)stats.nr_freed, (int)stats.nr_foreign);
	fflush(stdout);
}

int main(void)
{
	void *p = malloc(10), *q = malloc(20);

	pmm_set(PMM_AT_EXIT, 0);
	free(malloc(1));
	if (fork() == 0) {
		p = realloc(p, 1000);
		free(p);
		tell("child");
		_exit(0);
	}
	wait(NULL);
	tell("parent");
	free(p);
	free(q);
	return 0;
}
