/* SPDX-License-Identifier: GPL-2.0-or-later
 * Behind a byte of input: a thread calls exit(3), another one launches argv[1] in place of all this a third of a second later, in case that the
 * process still is there.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *leave(void *arg)
{
	exit(3);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char c;

	if (argc < 2 || read(0, &c, 1) != 1)
		return 2;
	free(malloc(100));
	pthread_create(&thread, NULL, leave, NULL);
	usleep(300000);
	execv(argv[1], argv + 1);
	return 1;
}
