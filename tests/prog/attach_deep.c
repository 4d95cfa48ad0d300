/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits for orders on the last page of its stack, half a MiB down, where it has never gone deeper:
 * a: allocate 10 blocks of 100 bytes and keep them.
 */
#include <alloca.h>
#include <stdint.h>

#include "attach.h"

static void *kept[10];

static void obey(void)
{
	while (order() == 'a') {
		for (size_t i = 0; i < 10; i++)
			kept[i] = malloc(100);
		say("done\n");
	}
}

int main(void)
{
	volatile char *deep;

	/* functions are bound here, not down there: that takes kilobytes */
	free(malloc(1));
	say("");
	if (read(0, kept, 0))
		return 98;
	deep = alloca(512 << 10);
	deep = alloca((uintptr_t)deep % 4096 + 4096 - 1024);
	*deep = 1;
	say("ready\n");
	obey();
	return *deep == 1 ? 42 : 97;
}
