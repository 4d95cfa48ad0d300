/* SPDX-License-Identifier: GPL-2.0-or-later
 * A child that allocates nothing: the blocks of its parent, which frees them and gets others meanwhile, are not its own. It finds
 * nothing damaged, lists nothing, and changes nothing of its own copy.
 */
#include <pmm.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int child(const char *block, int from_parent)
{
	struct pmm_stats stats;
	char before[200], byte;
	size_t nr;

	memcpy(before, block, sizeof(before));
	if (read(from_parent, &byte, 1) != 1)
		return 1;
	nr = pmm_check();
	pmm_report_fd(1, PMM_BLOCKS);
	pmm_get_stats(&stats);
	printf("%d damaged, %d live, %d new, %d errors, changed: %d\n", (int)nr, (int)stats.nr_live, (int)stats.nr_new, (int)stats.nr_errors,
		memcmp(before, block, sizeof(before)) != 0);
	return 0;
}

int main(void)
{
	int pipes[2], i;
	char *p[3];

	pmm_set(PMM_AT_EXIT, 0);
	if (pipe(pipes))
		return 1;
	for (i = 0; i < 3; i++)
		memset(p[i] = malloc(300), 1, 300);
	p[0][300] = 'x';
	if (fork() == 0)
		return child(p[1], pipes[0]);
	for (i = 1; i < 3; i++)
		free(p[i]);
	for (i = 1; i < 3; i++)
		p[i] = malloc(290);
	if (write(pipes[1], "", 1) != 1)
		return 1;
	wait(NULL);
	return 0;
}
