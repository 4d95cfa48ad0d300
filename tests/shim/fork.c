/* SPDX-License-Identifier: GPL-2.0-or-later
 * Forked children (shim_full.bats): each of 100, one after the other, has a ledger of its own, frees what it inherited and exits with 0. Then one stays, says
 * "ready PID" and holds 3 blocks of 30 bytes of line 36, while the parent holds 2 of 20 of line 18.
 */
#include <pmm.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile held[5];

static void hold_two(void)
{
	unsigned i;

	for (i = 0; i < 2; i++)
		held[i] = malloc(10);
}

static int child_is_tracked(void)
{
	struct pmm_stats stats;

	free(held[0]);
	held[2] = malloc(5);
	pmm_get_stats(&stats);
	return stats.nr_new == 1 && stats.nr_live == 1 && stats.nr_foreign == 1 && !stats.nr_passed && !stats.nr_errors;
}

static int stay(void)
{
	unsigned i;

	for (i = 2; i < 5; i++)
		held[i] = malloc(10);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}

int main(int argc, char **argv)
{
	int i, status = 0, bad = 0;

	pmm_set(PMM_AT_EXIT, 0);
	if (argc > 1 && argv[1][0] == 'b')
		pmm_set(PMM_CANARY, PMM_BEFORE | PMM_BEHIND);
	hold_two();
	for (i = 0; i < 100; i++) {
		if (fork() == 0)
			_exit(!child_is_tracked());
		wait(&status);
		bad += status != 0;
	}
	if (fork() == 0)
		return stay();
	wait(&status);
	return bad ? 1 : 4;
}
