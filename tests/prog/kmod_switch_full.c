/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmm.h's full form, compiled without PMM_KMOD, logs to the kernel module while that is switched on: 4
 * allocations, 2 frees and one of a block that the log does not have; outstanding are 800 bytes
 * (line 27) and 3200 (32). It ends with its input.
 */
#include <pmm.h>
#include <stdio.h>

int main(void)
{
	void *p[7];
	int before;

	pmm_set(PMM_AT_EXIT, 0);
	p[0] = malloc(10);
	before = pmm_kmod_status();
	printf("status %d %d", before, pmm_kmod_enable());
	p[1] = malloc(100);
	p[2] = malloc(200);
	free(p[0]);
	pmm_disable();
	p[3] = malloc(400);
	free(p[1]);
	pmm_enable();
	p[4] = malloc(800);
	pmm_kmod_disable();
	printf(" %d", pmm_kmod_status());
	p[5] = malloc(1600);
	free(p[2]);
	printf(" %d\n", pmm_kmod_enable());
	p[6] = malloc(3200);
	fflush(stdout);
	return getchar() != EOF || !p[3] || !p[4] || !p[5] || !p[6];
}
