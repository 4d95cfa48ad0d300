/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_reclaim FILE: have no page of FILE in memory, then read it once. Says how many of its pages
 * are gone again: in a memory control group that is smaller, so many were reclaimed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE	4096

static long missing(int fd)
{
	struct stat st;
	long pages, gone = 0;
	unsigned char *there;
	void *p;

	fstat(fd, &st);
	pages = (st.st_size + PAGE - 1) / PAGE;
	p = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	there = malloc(pages);
	if (p == MAP_FAILED || !there || mincore(p, st.st_size, there))
		return -1;
	for (long i = 0; i < pages; i++)
		gone += !(there[i] & 1);
	free(there);
	munmap(p, st.st_size);
	return gone;
}

int main(int argc, char **argv)
{
	static char buffer[1 << 16];
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return 2;
	do {
		fsync(fd);
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	} while (missing(fd) != (st.st_size + PAGE - 1) / PAGE);
	while (read(fd, buffer, sizeof(buffer)) > 0)
		;
	printf("reclaimed %ld\n", missing(fd));
	return 0;
}
