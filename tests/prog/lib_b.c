/* SPDX-License-Identifier: GPL-2.0-or-later */ /* libvictim_b.so: leaves a block of 70 bytes at each call, from a function named after it. */
#include <stdlib.h>

#include "victim.h"

SITE void only_in_b(void) { hide(malloc(70)); }

void enter(void)
{
	only_in_b();
}
