/* SPDX-License-Identifier: GPL-2.0-or-later
 * Limits its address space to 400 MiB, softly or not ("soft", "hard"), then replaces itself argv[2]
 * times by exec. The last image must find the limit as it was set, and feel it: 100 MiB are to be
 * had, 600 MiB are not. Prints all of this; must be the same as natively.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "victim.h"

static int limit(int hard)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_AS, &r))
		return -1;
	r.rlim_cur = 400UL << 20;
	if (hard)
		r.rlim_max = r.rlim_cur;
	return setrlimit(RLIMIT_AS, &r);
}

static int try(size_t bytes)
{
	errno = 0;
	free(hide(malloc(opaque(bytes))));
	return errno;
}

int main(int argc, char **argv)
{
	int rounds = argc == 3 ? atoi(argv[2]) : 0;
	struct rlimit r;
	char left[16];

	if (argc == 3 && strcmp(argv[1], "again") && limit(!strcmp(argv[1], "hard")))
		return 2;
	if (rounds) {
		snprintf(left, sizeof(left), "%d", rounds - 1);
		execl(argv[0], argv[0], "again", left, NULL);
		return 2;
	}
	printf("small %d, large %d\n", try(100 << 20), try(600 << 20));
	getrlimit(RLIMIT_AS, &r);
	printf("limit %lx of %lx\n", (unsigned long)r.rlim_cur, (unsigned long)r.rlim_max);
	return 0;
}
