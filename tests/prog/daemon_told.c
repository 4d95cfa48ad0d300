/* SPDX-License-Identifier: GPL-2.0-or-later
 * A daemon that executes commands: the program returns 4 at once, its child has a session of its own and no descriptors. It reads words from the
 * FIFO that the first argument names: "over" writes a byte behind a block of 20 (site over), "lose" loses five blocks of 1000 (site lose), "end." ends it.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "victim.h"

SITE static void *make(void) { return malloc(20); }
SITE static void over(void) { char *p = hide(make()); p[opaque(20)] = 1; free(p); }
SITE static void *lost(void) { return malloc(1000); }
SITE static void lose(void) { for (int i = 0; i < 5; i++) hide(memset(lost(), 0, 1000)); }

int main(int argc, char **argv)
{
	char word[6] = "";
	int fd;

	if (argc < 2 || fork())
		return 4;
	setsid();
	for (fd = 0; fd < 1024; fd++)
		close(fd);
	fd = open(argv[1], O_RDONLY);
	free(hide(malloc(10)));
	while (read(fd, word, 5) == 5 && strcmp(word, "end.\n")) {
		if (!strcmp(word, "over\n"))
			over();
		else if (!strcmp(word, "lose\n"))
			lose();
	}
	return 0;
}
