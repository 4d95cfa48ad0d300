/* SPDX-License-Identifier: GPL-2.0-or-later
 * The kernel is asked whether memory can be read or written, near blocks and beyond the end of the heap: calls that fail with EFAULT,
 * also where the list of buffers is nowhere. No error.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "victim.h"

#define PAGES	2000
#define SUM(call) (errno = 0, (call) < 0 && errno == EFAULT)

int main(void)
{
	int p[2], failed = 0;
	char *end;

	if (pipe(p) || write(p[1], "x", 1) != 1)
		return 1;
	for (int i = 0; i < 100; i++)
		memset(hide(malloc(500)), 1, 500);
	end = (char *)(((size_t)sbrk(0) + 0xffff) & ~0xffffull);
	for (int i = 0; i < PAGES; i++) {
		char *at = hide(end + i * 4096 + i % 64 * 16);
		struct iovec part = { at, 8 };
		struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_name = at, .msg_namelen = 4 };

		failed += SUM(write(p[1], at, 8)) + SUM(read(p[0], at, 8)) + SUM(writev(p[1], &part, 1)) + SUM(readv(p[0], &part, 1));
		failed += SUM(writev(p[1], hide(at), 1)) + SUM(stat(at, hide(&message))) + SUM(stat("/", hide(at)));
		failed += (recvmsg(p[0], hide(at), 0) < 0) + (sendmsg(p[1], &message, 0) < 0);
	}
	printf("%d of %d\n", failed, PAGES * 9);
}
