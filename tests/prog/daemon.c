/* SPDX-License-Identifier: GPL-2.0-or-later
 * A daemon in the classical way: two forks, a session of its own, descriptors closed. The program
 * launched returns at once; the daemon makes 30 blocks of 70 bytes (site in_daemon) 300 ms later
 * and ends after 600 ms.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

SITE static void *in_daemon(void) { return malloc(70); }

int main(void)
{
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
	usleep(300000);
	return 0;
}
