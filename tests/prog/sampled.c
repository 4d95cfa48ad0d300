/* SPDX-License-Identifier: GPL-2.0-or-later
 * A known amount from three sites, for the sampled mode: small 400000 x 100 bytes (40 MB, half of
 * it freed), medium 5000 x 8000 (40 MB, kept), large 40 x 1000000 (40 MB, kept).
 */
#include <stdlib.h>

#include "victim.h"

static void *block[400000];

SITE static void *small(void) { return malloc(100); }
SITE static void *medium(void) { return malloc(8000); }
SITE static void *large(void) { return malloc(1000000); }

int main(void)
{
	for (int i = 0; i < 400000; i++)
		block[i] = hide(small());
	for (int i = 0; i < 400000; i += 2)
		free(block[i]);
	for (int i = 0; i < 5000; i++)
		hide(medium());
	for (int i = 0; i < 40; i++)
		hide(large());
	return 0;
}
