/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_huge FAULTS COLLAPSES EMPTY: touch FAULTS huge pages for the first time; make COLLAPSES
 * huge pages of small ones, then ask for the same again; ask for it of EMPTY ranges without pages.
 * Says how many kB of each of the first two are huge, as /proc/self/smaps has it, and how many
 * ranges were refused.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE		(2ul << 20)
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif

/* N ranges of 2 MiB, beside which nothing is mapped. */
static char *ranges(int n)
{
	char *p = mmap(NULL, (n + 2) * HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	p = (char *)(((uintptr_t)p + 2 * HUGE - 1) / HUGE * HUGE);
	mprotect(p, n * HUGE, PROT_READ | PROT_WRITE);
	return p;
}

static long huge_kb(const char *p)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	char line[256];
	unsigned long start, end;
	long kb = -1;
	int here = 0;

	while (kb < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			here = start <= (unsigned long)p && (unsigned long)p < end;
		else if (here)
			sscanf(line, "AnonHugePages: %ld kB", &kb);
	fclose(f);
	return kb;
}

int main(int argc, char **argv)
{
	int faults, collapses, empty, refused = 0;
	char *a, *b, *c;

	if (argc != 4)
		return 2;
	faults = atoi(argv[1]);
	collapses = atoi(argv[2]);
	empty = atoi(argv[3]);
	a = ranges(faults);
	madvise(a, faults * HUGE, MADV_HUGEPAGE);
	for (int i = 0; i < faults; i++)
		a[i * HUGE] = 1;
	b = ranges(collapses);
	for (size_t i = 0; i < collapses * HUGE; i += 4096)
		b[i] = 1;
	for (int i = 0; i < 2 * collapses; i++)
		refused += madvise(b + i % collapses * HUGE, HUGE, MADV_COLLAPSE) != 0;
	c = ranges(empty);
	for (int i = 0; i < empty; i++)
		refused += madvise(c + i * HUGE, HUGE, MADV_COLLAPSE) != 0;
	printf("huge %ld %ld refused %d\n", huge_kb(a), huge_kb(b), refused);
	return 0;
}
