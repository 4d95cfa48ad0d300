/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_hidden N [wait]: deletes its own file, then moves N mappings. With wait: once its parent has the file open.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int has_open(int pid, const char *file)
{
	char link[64], to[PATH_MAX];

	for (int fd = 0; fd < 1024; fd++) {
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, fd);
		ssize_t n = readlink(link, to, sizeof(to) - 1);
		if (n > 0 && strstr((to[n] = 0, to), file))
			return 1;
	}
	return 0;
}

static void hidden_calls(int n)
{
	while (n--)
		mremap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096, 8192, MREMAP_MAYMOVE);
}

int main(int argc, char **argv)
{
	if (argc < 2 || unlink(argv[0]))
		return 1;
	while (argc > 2 && !has_open(getppid(), strrchr(argv[0], '/')))
		usleep(1000);
	hidden_calls(atoi(argv[1]));
	return 0;
}
