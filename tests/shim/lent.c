/* SPDX-License-Identifier: GPL-2.0-or-later
 * A block that code without the header has freed: its memory is another's, which no check and no free writes to. And damage of a
 * block is told once, not by each check and the free.
 */
#include <pmm.h>
#include <stdio.h>

static int nr_told;

static void count(void *ctx, const char *text, size_t bytes)
{
	(void)ctx;
	nr_told += bytes > 10 && strstr(text, "changed") != NULL;
}

int main(void)
{
	char *lent, *p, *other;
	int i, bad = 0, first, second;

	pmm_set(PMM_AT_EXIT, 0);
	pmm_set_output(count, NULL);
	lent = malloc(3000);
	(free)(lent);
	p = (malloc)(1400);
	other = (malloc)(3000);
	memset(other, 'o', 3000);
	pmm_check();
	free(p);
	for (i = 0; i < 3000; i++)
		bad += other[i] != 'o';
	printf("at the same address: %d, changed: %d\n", p == lent, bad);
	nr_told = 0;
	p = malloc(100);
	p[101] = 'x';
	first = (int)pmm_check();
	second = (int)pmm_check() + (int)pmm_check_block(p);
	free(p);
	p = malloc(100);
	p[101] = 'x';
	free(p);
	printf("found %d, again %d, told %d\n", first, second, nr_told);
	return 0;
}
