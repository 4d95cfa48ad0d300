/* SPDX-License-Identifier: GPL-2.0-or-later
 * longjmp out of nested calls, 1000 times, allocating on the way down and after the landing.
 *
 * expect:
 *   total        untracked=0
 *   site deep    allocs=5000 frees=0 bytes=60000 live=60000 blocks=5000
 *   site landed  allocs=1000 frees=1000 bytes=13000 live=0 temporary=1000
 * stack of landed: landed main
 */
#include <setjmp.h>
#include <stdlib.h>

#include "victim.h"

static jmp_buf back;

SITE static void deep(int n)
{
	hide(malloc(12));
	if (n == 4)
		longjmp(back, 1);
	deep(n + 1);
}

SITE static void landed(void)
{
	free(hide(malloc(13)));
}

int main(void)
{
	for (volatile int i = 0; i < 1000; i++) {
		if (!setjmp(back))
			deep(0);
		landed();
	}
	return 0;
}
