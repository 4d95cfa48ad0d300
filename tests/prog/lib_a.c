/* SPDX-License-Identifier: GPL-2.0-or-later */ /* libvictim_a.so: leaves a block of 50 bytes at each call, from a function named after it. */
#include <stdlib.h>

#include "victim.h"

SITE void only_in_a(void) { hide(malloc(50)); }

void enter(void)
{
	only_in_a();
}
