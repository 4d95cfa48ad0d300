/* SPDX-License-Identifier: GPL-2.0-or-later
 * A daemon in the classical way: two forks, a session of its own, descriptors closed. The program
 * launched returns at once; the daemon makes 30 blocks of 70 bytes (site in_daemon) 300 ms later
 * and ends 300 ms after that, or as many as the first argument says.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

SITE static void *in_daemon(void) { return malloc(70); }

int main(int argc, char **argv)
{
	unsigned ms = argc > 1 ? (unsigned)atoi(argv[1]) : 300;

	if (fork())
		return 0;
	setsid();
	if (fork())
		_exit(0);
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	usleep(300000);
	for (int i = 0; i < 30; i++)
		hide(in_daemon());
	usleep(ms * 1000);
	return 0;
}
