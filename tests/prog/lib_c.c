/* SPDX-License-Identifier: GPL-2.0-or-later
 * libvictim_c.so: leaves a block of 60 bytes at each call, and is large, so that a small library
 * finds room in the last pages of the place that it left.
 */
#include <stdlib.h>

#include "victim.h"

char filling[1 << 18] = { 1 };

SITE void only_in_c(void) { hide(malloc(60)); }

void enter(void)
{
	only_in_c();
}
