/* SPDX-License-Identifier: GPL-2.0-or-later
 * Allocates for some 300 ms, as process 1 of a pid namespace of its own: others with that number
 * live at the same time. Each must end with status 0.
 */
#include <stdlib.h>
#include <unistd.h>

#include "victim.h"

SITE static void *nested(size_t bytes, int depth)
{
	return depth ? hide(nested(bytes, depth - 1)) : hide(malloc(bytes));
}

int main(void)
{
	static void *p[1000];

	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 1000; i++) {
			free(p[i]);
			p[i] = nested(10 + (i * 7 + round) % 5000, (i + round) % 30);
		}
		usleep(1000);
	}
	return getpid() != 1;
}
