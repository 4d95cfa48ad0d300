/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Built with 4 slots: 3 of 7 blocks pass, which is said once; all can be freed, and slots are used again: full.table. */
#include "order.h"

int main(void)
{
	void *p[7];
	int i, round;

	BEGIN();
	for (round = 0; round < 2; round++) {
		for (i = 0; i < 7; i++)
			p[i] = malloc(100);
		pmm_report(PMM_TOTALS);
		for (i = 0; i < 7; i++)
			free(p[i]);
	}
	pmm_set(PMM_MIN_SIZE, 50);
	p[0] = malloc(49);
	p[1] = malloc(50);
	pmm_disable();
	p[2] = malloc(50);
	pmm_enable();
	pmm_set(PMM_AT_EXIT, 0);
	pmm_report(PMM_BLOCKS | PMM_TOTALS);
	for (i = 0; i < 3; i++)
		free(p[i]);
	return 0;
}
