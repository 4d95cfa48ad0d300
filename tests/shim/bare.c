/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Built without an operating system and without threads: output goes where the program says, and nowhere before; no time, no report at exit: bare.table. */
#include "order.h"

int main(void)
{
	char *p = (char *)malloc(10), *q = (char *)malloc(20);

	p[10] = 'x';
	free(p);	/* told to nobody */
	BEGIN();
	q[20] = 'y';
	free(q);
	q = strdup("stays");
	pmm_report(PMM_BLOCKS | PMM_TOTALS);
	pmm_report_fd(1, PMM_ALL);
	printf("signal %d, heap %d, readable %d\n", pmm_report_on(1, PMM_ALL), pmm_get_heap(&(struct pmm_heap){ 0, 0, 0 }), pmm_readable(q, 1));
	return 0;
}
