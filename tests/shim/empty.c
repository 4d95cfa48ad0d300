/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Blocks of 0 bytes are not kept: no limit on bytes would ever release them (shim_full.bats). Exits with 0. */
#include <pmm.h>

int main(void)
{
	struct pmm_heap heap;
	int i;

	pmm_set(PMM_AT_EXIT, 0);
	pmm_set(PMM_KEEP, 1000);
	for (i = 0; i < 100000; i++)
		free(malloc(0));
	return pmm_get_heap(&heap) || heap.bytes > 1 << 20;
}
