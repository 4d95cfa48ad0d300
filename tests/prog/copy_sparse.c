/* SPDX-License-Identifier: GPL-2.0-or-later
 * Memory that is mostly untouched: copy_sparse. Prints the addresses of five mappings of 1 GiB with nothing mapped behind them, of which one
 * word is written, 300 MiB from the start: one as any other, one that is not copied (MADV_DONTFORK), one that a copy gets empty
 * (MADV_WIPEONFORK), a shared one, one of a file. Ends with 7.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define NR	5
#define BYTES	(1ul << 30)

int main(void)
{
	FILE *file = tmpfile();
	char *at[NR], c;

	if (!file || ftruncate(fileno(file), BYTES))
		return 1;
	for (int i = 0; i < NR; i++) {
		at[i] = mmap(NULL, BYTES + 4096, PROT_READ | PROT_WRITE, (i == 3 ? MAP_SHARED : MAP_PRIVATE) | MAP_NORESERVE | (i == 4 ? 0 : MAP_ANONYMOUS),
			     i == 4 ? fileno(file) : -1, 0);
		if (at[i] == MAP_FAILED || munmap(at[i] + BYTES, 4096) || madvise(at[i], BYTES, MADV_NOHUGEPAGE))
			return 1;
		*(uint64_t *)(void *)(at[i] + (300 << 20)) = 1;
	}
	if (madvise(at[1], BYTES, MADV_DONTFORK) || madvise(at[2], BYTES, MADV_WIPEONFORK))
		return 1;
	printf("%p %p %p %p %p\n", (void *)at[0], (void *)at[1], (void *)at[2], (void *)at[3], (void *)at[4]);
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 7;
}
