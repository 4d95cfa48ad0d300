/* SPDX-License-Identifier: GPL-2.0-or-later
 * check_sweep N: keeps N blocks of 20 bytes while two threads allocate, use and free others; says its pid. Each line "BLOCK OFFSET" of its
 * input changes one byte of a block, answered by "done". When the input ends, all blocks are looked at and released: "unharmed COUNT", status 0.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "victim.h"

static char **kept;
static int stop;

SITE static char *keep(size_t i)
{
	return memset(malloc(20), (int)i & 63, 20);
}

SITE static void hurt(char *block, long offset)
{
	__asm__ volatile("incb %0" : "+m"(block[offset]));
}

static void *churn(void *arg)
{
	for (size_t i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		size_t n = 1 + i * 37 % 3000;
		char *p = memset(malloc(n), 7, n);

		if (p[0] != 7 || p[n - 1] != 7)
			abort();
		free(p);
	}
	return arg;
}

int main(int argc, char **argv)
{
	size_t nr = argc > 1 ? strtoul(argv[1], NULL, 0) : 0, right = 0, i;
	pthread_t t[2];
	long offset;

	kept = malloc(nr * sizeof(*kept));
	for (i = 0; i < nr; i++)
		kept[i] = keep(i);
	for (int k = 0; k < 2; k++)
		pthread_create(&t[k], NULL, churn, NULL);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (scanf("%zu %ld", &i, &offset) == 2) {
		hurt(kept[i], offset);
		puts("done");
		fflush(stdout);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int k = 0; k < 2; k++)
		pthread_join(t[k], NULL);
	for (i = 0; i < nr; i++) {
		right += kept[i][0] == (char)(i & 63) && kept[i][19] == (char)(i & 63);
		free(kept[i]);
	}
	free(kept);
	printf("unharmed %zu\n", right);
	return 0;
}
