/* SPDX-License-Identifier: GPL-2.0-or-later
 * With mimalloc: three times 100 blocks of 1000 bytes, each time released by mi_heap_destroy(), which no hook sees. The
 * second and the third time they are where the first ones were; of the last ones nothing shows that they are released.
 * Nothing is lost.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "victim.h"

static void *blocks[100];

#define CALL(NAME, RESULT, ...) ((RESULT(*)(__VA_ARGS__))dlsym(RTLD_DEFAULT, #NAME))

SITE static void request(void)
{
	void *heap = CALL(mi_heap_new, void *, void)();
	void *before = CALL(mi_heap_set_default, void *, void *)(heap);

	for (int i = 0; i < 100; i++)
		blocks[i] = memset(hide(malloc(1000)), i, 1000);
	CALL(mi_heap_set_default, void *, void *)(before);
	CALL(mi_heap_destroy, void, void *)(heap);
	memset(blocks, 0, sizeof(blocks));
}

int main(void)
{
	for (int i = 0; i < 3; i++)
		request();
	return 0;
}
