/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_pressure MIB READS: write to each page of so many MiB once, then read each once, in the same
 * order, READS times; says "ready" and waits for the end of standard input. Status 3: what was read
 * is not what was written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096ul

int main(int argc, char **argv)
{
	size_t bytes = argc == 3 ? strtoul(argv[1], NULL, 10) << 20 : 0;
	int reads = argc == 3 ? atoi(argv[2]) : 0;
	volatile char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char c;

	if (p == MAP_FAILED)
		return 2;
	madvise((char *)p, bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < bytes; i += PAGE)
		p[i] = (char)(i / PAGE + 1);
	while (reads--)
		for (size_t i = 0; i < bytes; i += PAGE)
			if (p[i] != (char)(i / PAGE + 1))
				return 3;
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}
