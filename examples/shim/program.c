/* A program with the monitor in it: the block that is left is listed at exit. */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <pmm.h>

int main(void)
{
	char *lost;

	free(malloc(100));
	lost = strdup("lost");
	pmm_trace("%s\n", lost);
	return 0;
}
