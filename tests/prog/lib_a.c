/* libvictim_a.so: leaves one block of 50 bytes each time it is called, from a function named after the library. */
#include <stdlib.h>

#include "victim.h"

SITE void only_in_a(void) { hide(malloc(50)); }

void enter(void)
{
	only_in_a();
}
