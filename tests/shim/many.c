/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Ends with as many blocks as its argument says (shim_full.bats): which tables are written then. */
#include <pmm.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int i, nr = argc > 1 ? atoi(argv[1]) : 0;

	for (i = 0; i < nr; i++)
		if (!malloc(10))
			return 1;
	return 0;
}
