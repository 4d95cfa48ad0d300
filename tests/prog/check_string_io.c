/* SPDX-License-Identifier: GPL-2.0-or-later
 * Buffers given to system calls and streams: a block of 24 bytes that is filled, emptied; `wrong': by one byte more. The results
 * are as natively.
 */
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check_string.h"

static char other[64] = "other";
static struct iovec part[2] = { { other, 8 }, { NULL, 0 } };
static struct msghdr message = { .msg_iov = part, .msg_iovlen = 2 };

static struct iovec *parts(size_t n) { part[1] = (struct iovec){ block(), n }; return part; }
static struct msghdr *parts_message(size_t n) { parts(n); return &message; }

int main(int argc, char **argv)
{
	FILE *f = tmpfile();
	int s[2], fd = fileno(f);
	size_t n;
	long sum = 0;

	begin(argc, argv);
	n = opaque(SIZE + more);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s))
		return 1;
	sum += write(s[1], block(), n);
	sum += 2 * read(s[0], block(), 1000);
	sum += 3 * send(s[1], block(), n, 0);
	sum += 5 * recv(s[0], block(), 1000, 0);
	sum += 7 * sendto(s[1], block(), n, 0, NULL, 0);
	sum += 11 * recvfrom(s[0], block(), 1000, 0, NULL, NULL);
	sum += 13 * writev(s[1], parts(n), 2);
	sum += 17 * readv(s[0], parts(1000), 2);
	sum += 19 * sendmsg(s[1], parts_message(n), 0);
	sum += 23 * recvmsg(s[0], parts_message(1000), 0);
	sum += 29 * pwrite(fd, block(), n, 0);
	sum += 31 * pread(fd, block(), 1000, 0);
	sum += 37 * (long)fwrite(block(), 1, n, f) + fseek(f, 0, SEEK_SET);
	sum += 41 * (long)fread(block(), 1, 1000, f) + fseek(f, 0, SEEK_SET);
	sum += 43 * fprintf(f, "%.*s\n", (int)(n - 2), "0123456789012345678901234567890") + fseek(f, 0, SEEK_SET);
	sum += 47 * !!fgets(block(), 1000, f) + fseek(f, 0, SEEK_END);
	sum += 53 * !!fputs(text(), f) + symlink("twenty-four-bytes-at-most" + !more, "link");
	sum += 59 * readlink("link", block(), 1000);
	printf("%ld\n", sum), fflush(stdout), unlink("link");
	return !freopen("/dev/null", "w", stdout) || puts(text()) < 0;
}
