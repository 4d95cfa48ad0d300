/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Under pmm check (shim_full.bats): a double free, a free inside a block, or an overrun. */
#include <pmm.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	char *volatile p = malloc(16), *volatile q;
	const char *kind = argc > 1 ? argv[1] : "";

	pmm_set(PMM_AT_EXIT, 0);
	if (!strcmp(kind, "double"))
		free(p);
	if (!strcmp(kind, "overrun"))
		p[16] = 1;
	q = !strcmp(kind, "inside") ? p + 8 : p;
	free(q);
	return 0;
}
