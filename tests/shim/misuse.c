/* SPDX-License-Identifier: GPL-2.0-or-later */ /* One of each error, in this order: misuse.table. */
#include "order.h"

static char buffer[64];

static char *block(size_t size)
{
	return (char *)malloc(size);
}

int main(void)
{
	char local[64], *p, *q;
	size_t i;

	BEGIN();
	p = block(13);
	for (i = 0; i < 3; i++)
		p[13 + i] = 'x';
	free(p);				/* overflow by 3 */
	p = block(24);
	free(p);
	free(p);				/* twice */
	free(local + 16 - (size_t)local % 16);	/* the stack */
	free(buffer + 16 - (size_t)buffer % 16);
	p = block(32);
	free(p + 8);				/* inside */
	free(p + 1);				/* not aligned */
	free(p);
	pmm_set(PMM_CANARY, PMM_BEFORE | PMM_BEHIND);
	p = block(50);
	p[-2] = 'x';
	if (pmm_check() != 1 || pmm_check())	/* underflow by 1, told once */
		return 1;
	q = block(60);
	q[60] = 'y';
	if (pmm_check_block(p) || pmm_check_block(q) != 1)
		return 2;
	free(q);
	p = (char *)realloc(p, 500);
	free(p);
	pmm_set(PMM_CANARY, PMM_BEHIND);
	pmm_set(PMM_KEEP, 1000);
	p = block(100);
	free(p);
	p[0] = p[99] = 'z';
	pmm_check();				/* 2 bytes after free */
	p[7] = 'z';
	pmm_set(PMM_KEEP, 0);			/* 1 more, when it is released */
	pmm_set(PMM_TELL_ZERO, 1);
	free(malloc(0));
	pmm_set(PMM_HUGE_SIZE, 5000);
	free(malloc(5000));
	pmm_set(PMM_MIN_SIZE, 5001);		/* they pass, and are told and counted */
	free(malloc(0));
	free(malloc(5000));
	pmm_set(PMM_MIN_SIZE, 0);
	pmm_set(PMM_LIMIT, 3000);
	if (malloc(3001) || !(p = block(2000)) || block(1001))
		return 3;
	free(p);
	pmm_set(PMM_REACTION, PMM_IGNORE);
	pmm_assert(1 + 1 == 3);
	pmm_verify(1 + 1 == 2);
	p = block(16);
	pmm_mark(buffer);
	pmm_unmark(local);
	pmm_report(PMM_BLOCKS | PMM_TOTALS);
	return 0;
}
