/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_pages rss MB: maps MB anonymous and touches every page, the last of all; writes what its /proc/self/smaps_rollup says to stderr.
 * trace_pages cache FILE PAGES: reads one byte of each of so many pages of a file, without read-ahead.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static char smaps[4096];

/* Every call by one function, so that none is new to the process at its end. */
static int rss(size_t bytes)
{
	volatile char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long fd = syscall(SYS_open, "/proc/self/smaps_rollup", O_RDONLY), n;

	if (fd < 0 || p == MAP_FAILED || syscall(SYS_pread64, fd, smaps, sizeof(smaps), 0) < 0)
		return 1;
	syscall(SYS_madvise, p, bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < bytes; i += 4096)
		p[i] = 1;
	n = syscall(SYS_pread64, fd, smaps, sizeof(smaps), 0);
	syscall(SYS_write, 2, smaps, n);
	return syscall(SYS_exit_group, 0);
}

static int cache(const char *file, size_t pages)
{
	int fd = open(file, O_RDONLY);
	volatile char *p = mmap(NULL, pages * 4096, PROT_READ, MAP_SHARED, fd, 0);
	volatile char sum = 0;

	if (fd < 0 || p == MAP_FAILED)
		return 1;
	madvise((void *)p, pages * 4096, MADV_RANDOM);
	for (size_t i = 0; i < pages; i++)
		sum += p[i * 4096];
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "rss"))
		return rss(strtoul(argv[2], NULL, 0) << 20);
	if (argc > 3 && !strcmp(argv[1], "cache"))
		return cache(argv[2], strtoul(argv[3], NULL, 0));
	return 1;
}
