/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a page fault costs: "bench_faults KIND FAULTS [FILE]" touches memory again and again,
 * with 16 KiB of stack in use, and prints the CPU time of one fault in ns. KIND: anonymous; file,
 * which is in the page cache.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#define AROUND	(64ul << 10)	/* one fault of a file maps so much */
#define PAGE	4096ul
#define PAGES	1024ul		/* touched, then given back */

static volatile char sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static double touch(char *p, size_t step, int write)
{
	struct rusage before, after;
	double start, end;

	getrusage(RUSAGE_SELF, &before);
	start = now();
	for (size_t at = 0; at < PAGES * step; at += step) {
		if (write)
			*(volatile char *)(p + at) = 1;
		else
			sink = *(volatile char *)(p + at);
	}
	end = now();
	getrusage(RUSAGE_SELF, &after);
	madvise(p, PAGES * step, MADV_DONTNEED);
	return (end - start) / (after.ru_minflt - before.ru_minflt + 1e-9);
}

static double best_of(char *p, size_t step, int write, size_t faults)
{
	double best = 1e18, ns;

	for (size_t i = 0; i < faults / PAGES; i++) {
		ns = touch(p, step, write);
		if (best > ns)
			best = ns;
	}
	return best;
}

int main(int argc, char **argv)
{
	volatile char deep[16384];
	int file = argc > 3 && !strcmp(argv[1], "file");
	size_t step = file ? AROUND : PAGE;
	int fd = file ? open(argv[3], O_RDONLY) : -1;
	char *p;

	if (argc < 3 || (file && fd < 0))
		return 2;
	for (size_t i = 0; i < sizeof(deep); i += PAGE)
		deep[i] = 1;
	p = mmap(NULL, PAGES * step, file ? PROT_READ : PROT_READ | PROT_WRITE,
		 file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
	if (p == MAP_FAILED)
		return 2;
	madvise(p, PAGES * step, MADV_NOHUGEPAGE);
	if (file)
		touch(p, PAGE, 0);
	printf("%.1f\n", best_of(p, step, !file, strtoul(argv[2], NULL, 10)));
	return deep[0] != 1;
}
