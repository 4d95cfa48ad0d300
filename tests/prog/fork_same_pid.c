/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two children with the same number, one after the other: the first leaves a block of 100 bytes,
 * the second one of 200. Prints the number; exits with 77 where it cannot choose one.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIES 1000	/* other programs fork as well */

static void choose(pid_t pid)
{
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);

	if (fd < 0 || dprintf(fd, "%d", (int)pid - 1) < 0)
		exit(77);
	close(fd);
}

/* The child's number. One that is not to be `pid` ends without a call of malloc. */
static pid_t child(pid_t pid, size_t bytes)
{
	pid_t got = fork();

	if (!got) {
		if (!pid || getpid() == pid)
			*(volatile char *)malloc(bytes) = 1;
		_exit(0);
	}
	waitpid(got, NULL, 0);
	return got;
}

int main(void)
{
	pid_t first = child(0, 100), second = 0;

	usleep(300000);		/* the first one's capture is written */
	for (int i = 0; i < TRIES && second != first; i++) {
		choose(first);
		second = child(first, 200);
	}
	printf("%d\n", (int)first);
	return second == first ? 0 : 77;
}
