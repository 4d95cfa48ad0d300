/* SPDX-License-Identifier: GPL-2.0-or-later
 * What system calls fill or read of a size that they know, in blocks of just that size; `wrong': of one byte less; `released': in released
 * ones, names of files, too. The results are as natively.
 */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "check_string.h"

#define BLOCKS	64

static char *slot[BLOCKS];
static int released, nr;
static long sum;

/* Released, or new and full of zeroes. */
static void *of(size_t n) { return hide(released ? slot[nr++] : calloc(1, n - more)); }

static void *filled(const void *from, size_t n) { return released ? of(n) : memcpy(of(n), from, n - more); }

#define SUM(call) (sum = sum * 3 + ((call) >= 0))

static void files(void)
{
	SUM(stat("/", of(sizeof(struct stat))));
	SUM(lstat("/", of(sizeof(struct stat))));
	SUM(fstat(0, of(sizeof(struct stat))));
	SUM(fstatat(AT_FDCWD, "/", of(sizeof(struct stat)), 0));
	SUM(statx(AT_FDCWD, "/", 0, STATX_ALL, of(sizeof(struct statx))));
	SUM(statfs("/", of(sizeof(struct statfs))));
	SUM(fstatfs(0, of(sizeof(struct statfs))));
	SUM(uname(of(sizeof(struct utsname))));
	SUM(sysinfo(of(sizeof(struct sysinfo))));
	SUM(getrusage(RUSAGE_SELF, of(sizeof(struct rusage))));
	SUM(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, of(sizeof(struct timespec))));
	SUM(getentropy(of(100), 100));
	SUM(getrandom(of(100), 100, 0));
}

static void descriptors(void)
{
	int s[2], ep = epoll_create1(0), one = 1;
	struct epoll_event event = { .events = EPOLLIN };
	struct pollfd fds = { .fd = ep, .events = POLLIN };
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	socklen_t n = 2, four = 4;

	SUM(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	SUM(pipe(of(8)));
	SUM(pipe2(of(8), O_CLOEXEC));
	SUM(socketpair(AF_UNIX, SOCK_STREAM, 0, of(8)));
	SUM(setsockopt(s[0], SOL_SOCKET, SO_PASSCRED, filled(&one, 4), 4));
	SUM(getsockopt(s[0], SOL_SOCKET, SO_TYPE, of(4), &four));
	SUM(getsockname(s[0], of(2), &n));
	SUM(getpeername(s[0], of(2), &n));
	snprintf(name.sun_path + 1, 100, "pmm-%d", getpid());
	SUM(bind(s[0], filled(&name, sizeof(name)), sizeof(name)));
	SUM(ioctl(s[0], FIOASYNC, filled(&one, 4)));
	SUM(epoll_ctl(ep, EPOLL_CTL_ADD, s[0], filled(&event, 12)));
	SUM(send(s[1], "x", 1, 0));
	SUM(epoll_wait(ep, of(12), 1, 0));
	SUM(epoll_ctl(ep, EPOLL_CTL_DEL, s[0], of(12)));
	SUM(poll(filled(&fds, 8), 1, 0));
	SUM(select(8, of(8), NULL, NULL, memset(hide(malloc(16)), 0, 16)));
}

static void names(void)
{
	SUM(open(of(9), O_RDONLY));
	SUM(openat(AT_FDCWD, of(9), O_RDONLY));
	SUM(access(of(9), F_OK));
	SUM(unlink(of(9)));
	SUM(mkdir(of(9), 0777));
	SUM(rename(of(9), "/nowhere/at/all"));
	SUM(stat(of(9), of(sizeof(struct stat))));
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	released = argc > 1 && !strcmp(argv[1], "released");
	setvbuf(stdout, NULL, _IONBF, 0);
	for (int i = 0; released && i < BLOCKS; i++)
		slot[i] = malloc(5000);
	for (int i = 0; released && i < BLOCKS; i++)
		free(slot[i]);
	files();
	descriptors();
	if (released)
		names();
	printf("%ld\n", sum);
	_exit(0);
}
