/* SPDX-License-Identifier: GPL-2.0-or-later
 * limited WHICH BYTES: under a limit on address space, files or descriptors, which stays as it is, a block is recorded and the program gets what
 * it would get without. A child's as well, if there is room for its ledger.
 */
#include <pmm.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(const char *who)
{
	struct pmm_stats stats;

	pmm_get_stats(&stats);
	printf("%s: %d new, %d passed\n", who, (int)stats.nr_new, (int)stats.nr_passed);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct rlimit was, now;
	int which;
	void *p;

	if (argc != 3)
		return 2;
	which = argv[1][0] == 'a' ? RLIMIT_AS : argv[1][0] == 'f' ? RLIMIT_FSIZE : RLIMIT_NOFILE;
	was.rlim_cur = was.rlim_max = strtoull(argv[2], NULL, 0);
	pmm_set(PMM_AT_EXIT, 0);
	if (setrlimit(which, &was))
		return 2;
	p = malloc(10);
	if (getrlimit(which, &now) || now.rlim_cur != was.rlim_cur)
		return 1;
	if (which == RLIMIT_AS && was.rlim_cur < 1u << 30 && !(malloc)(was.rlim_cur / 4 * 3))
		return 3;
	tell("program");
	free(p);
	if (fork() == 0) {
		free(malloc(10));
		tell("child");
		_exit(0);
	}
	wait(NULL);
	return 0;
}
