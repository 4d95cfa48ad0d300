/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_fragments BYTES: take BYTES of small pages and give every second one back, so that what is
 * free is in pieces; then say "ready" and wait for the end of standard input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t bytes = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char c;

	if (p == MAP_FAILED)
		return 2;
	madvise(p, bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < bytes; i += 4096)
		p[i] = 1;
	for (size_t i = 0; i < bytes; i += 8192)
		madvise(p + i, 4096, MADV_DONTNEED);
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}
