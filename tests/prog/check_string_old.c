/* SPDX-License-Identifier: GPL-2.0-or-later
 * memcpy between ranges that overlap, by the version of it that was a memmove: no error, and the bytes arrive. Bounds are looked
 * at: `wrong' goes one byte too far. By the version of today it is an error: `overlap'.
 */
#include <stdio.h>

#include "check_string.h"

void *old_memcpy(void *to, const void *from, size_t n);
__asm__(".symver old_memcpy, memcpy@GLIBC_2.2.5");

int main(int argc, char **argv)
{
	char *p = malloc(SIZE);

	begin(argc, argv);
	for (int i = 0; i < SIZE; i++)
		p[i] = (char)('a' + i);
	p = hide(p);
	old_memcpy(p + 4, p, 10);
	printf("%.*s\n", SIZE, p);
	old_memcpy(p + 20 - more, "12345", opaque(4 + 2 * more));
	if (argc > 1 && !strcmp(argv[1], "overlap"))
		memcpy(p + 4, p, opaque(10));
	return 0;
}
