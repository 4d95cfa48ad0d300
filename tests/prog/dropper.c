/* SPDX-License-Identifier: GPL-2.0-or-later
 * dropper UID fork|raw: has blocks, forks a child that gives up all rights and looks what it can reach of its parent's ledger, of its monitor and of
 * the board; then allocates. Prints what the child could do, all of which must be 0 but `own`, and "unharmed".
 *
 * The child looks before its first allocation, too: all system calls are its own.
 */
#include <fcntl.h>
#include <grp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

SITE static void *before(void) { return malloc(100); }
SITE static void *after(void) { return malloc(30); }

static char maps[1 << 18];

static void read_maps(void)
{
	int fd = open("/proc/self/maps", O_RDONLY);
	size_t nr = 0;
	ssize_t n;

	while ((n = read(fd, maps + nr, sizeof(maps) - 1 - nr)) > 0)
		nr += (size_t)n;
	maps[nr] = 0;
	close(fd);
}

/* Mappings of that name; how many of them can be made writable (those that are do not count)? */
static int mappings(const char *name, int *openable)
{
	int nr = 0;

	read_maps();
	for (char *line = maps; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		char *end = strchr(line, '\n'), *at = strstr(line, name);
		unsigned long from, to;

		if (!at || (end && at > end) || sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		nr++;
		*openable += !mprotect((void *)from, to - from, PROT_READ | PROT_WRITE);
	}
	return nr;
}

static int opened(int pid, const char *what)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	fd = open(path, O_RDWR);
	if (fd < 0)
		fd = open(path, O_RDONLY);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int any_opened(int pid)
{
	char what[32];
	int nr = opened(pid, "mem") + opened(pid, "maps") + opened(pid, "environ") + opened(pid, "map_files");

	for (int fd = 3; fd < 64; fd++) {
		snprintf(what, sizeof(what), "fd/%d", fd);
		nr += opened(pid, what);
	}
	return nr;
}

static void child(int uid, int monitor)
{
	int writable = 0, openable = 0, foreign, boards, own;

	if (syscall(SYS_setgroups, 0, NULL) || syscall(SYS_setresgid, uid, uid, uid) || syscall(SYS_setresuid, uid, uid, uid))
		_exit(9);
	foreign = mappings("memfd:pmm-ledger", &writable);
	boards = mappings("memfd:pmm-board", &openable);
	after();
	own = mappings("memfd:pmm-ledger", &writable) > 0;
	printf("foreign=%d boards=%d openable=%d opened=%d own=%d\n", foreign, boards, openable,
	       any_opened(getppid()) + any_opened(monitor), own);
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *where = getenv("PMM_LEDGER");
	pid_t pid;

	if (argc < 3)
		return 2;
	setvbuf(stdout, malloc(4096), _IOFBF, 4096);
	for (int i = 0; i < 100; i++)
		before();
	pid = strcmp(argv[2], "raw") ? fork() : (pid_t)syscall(SYS_fork);
	if (!pid)
		child(atoi(argv[1]), where ? atoi(where) : 1);
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 1000; i++)
		free(before());
	puts("unharmed");
	return 5;
}
