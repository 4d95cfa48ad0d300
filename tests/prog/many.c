/* SPDX-License-Identifier: GPL-2.0-or-later
 * Makes argv[1] (at most 1000000) blocks of argv[2] bytes (site many), and one of 1 byte (site
 * tiny) with each; keeps all, checks every byte it wrote, prints "unharmed".
 */
#include <stdlib.h>
#include <unistd.h>

#include "victim.h"

static unsigned char *p[1000000], *q[1000000];

SITE static unsigned char *many(size_t bytes) { return malloc(bytes); }
SITE static unsigned char *tiny(void) { return malloc(1); }

static int damaged(const unsigned char *block, size_t bytes, unsigned char fill)
{
	for (size_t i = 0; i < bytes; i++)
		if (block[i] != fill)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	size_t n = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	size_t bytes = n ? strtoul(argv[2], NULL, 10) : 0;

	for (size_t i = 0; i < n; i++) {
		memset(p[i] = many(bytes), (int)i & 255, bytes);
		*(q[i] = tiny()) = (unsigned char)~i;
	}
	for (size_t i = 0; i < n; i++)
		if (damaged(p[i], bytes, i & 255) || damaged(q[i], 1, ~i & 255))
			return 1;
	return write(1, "unharmed\n", 9) != 9;
}
