/* SPDX-License-Identifier: GPL-2.0-or-later
 * Another thread than the first is told of broken memory that it did not touch, as the kernel does it (SIGBUS, BUS_MCEERR_AO; a thread may
 * say so of itself): dies of it, 3 blocks of 100 bytes being lost. Ends with 1 where it does not.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "victim.h"

SITE static void *lost(void) { return malloc(100); }

/* The first thread waits for the other one: it still has addresses of the blocks in its registers while it starts that. */
static int is_joining(void)
{
	char text[512] = "";
	int fd = open("/proc/self/stat", O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	char *state = n > 0 ? strrchr(text, ')') : NULL;

	close(fd);
	return state && state[2] == 'S';
}

static void *told(void *arg)
{
	siginfo_t info = { .si_signo = SIGBUS, .si_code = BUS_MCEERR_AO };

	while (!is_joining())
		sched_yield();
	syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGBUS, &info);
	return arg;
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		hide(lost());
	pthread_create(&thread, NULL, told, NULL);
	pthread_join(thread, NULL);
	return 1;
}
