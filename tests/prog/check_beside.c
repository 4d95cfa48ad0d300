/* SPDX-License-Identifier: GPL-2.0-or-later
 * check_beside FUNCTION DISTANCE BYTES: three blocks of 4000, 100 and 50 bytes; FUNCTION writes BYTES bytes from DISTANCE before the second on. How many zeros
 * the second got is printed. An underrun of that one, of 100 bytes, where it begins at a page's start, whatever lies between.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "victim.h"

SITE static char *block(size_t bytes)
{
	return memset(malloc(bytes), 1, bytes);
}

int main(int argc, char **argv)
{
	static char from[5000];
	char *before = block(4000), *middle = block(100), *behind = block(50);
	unsigned zeros = 0;
	size_t distance = argc > 3 ? strtoul(argv[2], NULL, 0) : 0, bytes = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
	char *volatile to = middle - distance;

	if (argc > 1 && !strcmp(argv[1], "memcpy"))
		memcpy(to, from, bytes);
	else if (argc > 1 && !strcmp(argv[1], "memmove"))
		memmove(to, from, bytes);
	else if (argc > 1 && !strcmp(argv[1], "strncpy"))
		strncpy(to, from, bytes);
	else if (argc > 1 && !strcmp(argv[1], "memset"))
		memset(to, 0, bytes);
	else if (bytes)
		*(volatile char *)to = 3;
	for (unsigned i = 0; i < 100; i++)
		zeros += !middle[i];
	printf("%u\n", zeros);
	free(before);
	free(middle);
	free(behind);
	return 0;
}
