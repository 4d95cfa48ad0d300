/* libvictim_b.so: leaves one block of 70 bytes each time it is called, from a function named after the library. */
#include <stdlib.h>

#include "victim.h"

SITE void only_in_b(void) { hide(malloc(70)); }

void enter(void)
{
	only_in_b();
}
