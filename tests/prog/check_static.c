/* SPDX-License-Identifier: GPL-2.0-or-later
 * Frees variables, wherever they lie: `pmm check` says of each that it is a variable of the program or a library (place "static"). Those of .bss beyond
 * the last page of the file have an anonymous mapping.
 */
#include <stdlib.h>

#include "victim.h"

static char filled[64] = "filled";
static const char constant[64] = "constant";
static char empty[64];
static char large[1 << 20];

SITE static void free_filled(void) { free(hide(filled + 16)); }
SITE static void free_constant(void) { free(hide((char *)constant + 16)); }
SITE static void free_empty(void) { free(hide(empty + 16)); }
SITE static void free_large(void) { free(hide(large + 4096)); }
SITE static void free_last(void) { free(hide(large + sizeof(large) - 64)); }

int main(void)
{
	free_filled();
	free_constant();
	free_empty();
	free_large();
	free_last();
	return 0;
}
