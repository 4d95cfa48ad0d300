/* SPDX-License-Identifier: GPL-2.0-or-later
 * Each memory function on a block of 24 bytes: right, or `wrong' by one byte; ranges that overlap, the end of a large block.
 */
#include "check_string.h"

static char other[64];

int main(int argc, char **argv)
{
	char *large = malloc(100000), *p;
	size_t n;

	begin(argc, argv);
	n = opaque(SIZE + more);
	memcpy(block(), other, n);
	memcpy(other, block(), n);
	mempcpy(block(), other, n);
	memmove(block(), other, n);
	memset(block(), 'x', n);
	bcopy(other, block(), n);
	bzero(block(), n);
	explicit_bzero(block(), n);
	memccpy(block(), other, 'z', n);
	CALL(memchr(block(), 'z', n));
	CALL(memrchr(block(), 'x', n));
	p = block();
	memset(other, 'x', sizeof(other));
	CALL(memcmp(p, other, n));
	CALL(memcmp(block(), memset(other, 'y', 1), 100));	/* differs at once */
	CALL(memchr(block(), 'x', 100));			/* is found at once */
	memset(large + 99990, 'x', opaque(10 + more));
	p = block();
	memcpy(p, hide(p), SIZE);
	memcpy(p, p + 10 - more, 10);
	memmove(p, p + 1, 10);
	memcpy(p + SIZE, other, opaque(more));
	return 0;
}
