/* SPDX-License-Identifier: GPL-2.0-or-later
 * A call site near the end of 32 bits: 2^32 + 2 requests are counted, and 2^32 releases.
 */
#include "../../shim/pmm_static.c"
#include <stdio.h>

int main(void)
{
	void *p[3];
	unsigned i;

	pmm_set(PMM_AT_EXIT, 0);
	pmm_free("a.c", 8, "f", pmm_malloc("a.c", 7, "f", 10));
	for (i = 0; i < SITES; i++) {
		if (monitor.site[i].file) {
			monitor.site[i].nr_new = UINT32_MAX;
			monitor.site[i].nr_freed = UINT32_MAX;
		}
	}
	for (i = 0; i < 3; i++)
		p[i] = pmm_malloc("a.c", 7, "f", 10);
	pmm_free("a.c", 8, "f", p[0]);
	pmm_report(PMM_SITES);
	return 0;
}
