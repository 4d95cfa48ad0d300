/* SPDX-License-Identifier: GPL-2.0-or-later
 * Functions far into large blocks: a released one, with others between its start and what the block tables know, and a live one that they leave.
 * Right: before its release, and up to its end.
 */
#include <stdio.h>

#include "check_string.h"

#define LARGE 65000
#define VAST 200000

static char other[VAST];

int main(int argc, char **argv)
{
	char *freed = hide(malloc(LARGE)), *live = hide(malloc(VAST));
	FILE *null = fopen("/dev/null", "w");

	begin(argc, argv);
	memset(freed, 'x', LARGE);
	memset(live, 'x', VAST);
	if (more)
		free(freed);
	memcpy(other, freed + 5000, opaque(100));
	memcpy(other, freed + 20011, opaque(300));
	CALL(fwrite(freed + 60000, 1, opaque(4000), null));
	memcpy(other, live + 30000, opaque(VAST - 30000 + more));
	memmove(other, live + 100000, opaque(VAST - 100000 + more));
	if (!more)
		free(freed);
	free(live);
	return 0;
}
