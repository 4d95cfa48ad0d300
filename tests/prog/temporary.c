/* SPDX-License-Identifier: GPL-2.0-or-later
 * Blocks freed as the thread's next event, and blocks that are not.
 *
 * expect:
 *   total          allocs=4600 frees=4600 live=0 blocks=0 temporary=3000 untracked=0
 *   site at_once   allocs=3000 frees=3000 bytes=192000 temporary=3000
 *   site nested    allocs=1000 frees=1000 bytes=40000 temporary=0
 *   site all_then  allocs=600 frees=600 bytes=28800 temporary=0
 */
#include <stdlib.h>

#include "victim.h"

SITE static void at_once(void)
{
	for (int i = 0; i < 3000; i++)
		free(hide(malloc(64)));
}

SITE static void nested(void)
{
	for (int i = 0; i < 500; i++) {
		void *outer = hide(malloc(40)), *inner = hide(malloc(40));

		free(outer);
		free(inner);
	}
}

SITE static void all_then(void)
{
	void *p[600];

	for (int i = 0; i < 600; i++)
		p[i] = hide(malloc(48));
	for (int i = 0; i < 600; i++)
		free(p[i]);
}

int main(void)
{
	at_once();
	nested();
	all_then();
	return 0;
}
