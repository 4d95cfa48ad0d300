/* SPDX-License-Identifier: GPL-2.0-or-later
 * heir UID MODE: a program to attach to, whose forked child gives up all rights and then does to all that is pmm's in its maps, and in its
 * descriptors, what it can. Says "ready", then obeys:
 *
 *	g	allocates 100 blocks that stay -> "done"
 *	f	releases them -> "freed"
 *	k	forks the child; once that has ended -> "shared=N written=N opened=N": mappings of pmm's that it shares with its parent, pages of
 *		pmm's that it could write over, files of its parent's that it could open
 *	h	forks a child that stays, its own record changed as MODE says -> "harmed"; the child waits for SIGUSR1, at which it
 *		allocates -> "works"
 *	w	two threads fork without end children that look at once, and once more 30 ms later, whether they hold a descriptor of a ledger's file
 *		or share a mapping of one -> "forking"
 *	s	these stop -> "held N of M": children that did, of all
 *
 * MODE: `random` some words at random; `ones`, `zeros` all bytes; `word` one bit at random, `none` nothing.
 * The child makes system calls of its own only: it writes over the code that its calls of the allocator would go through.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "attach.h"

#define PAGE		4096ul
#define MOST_BYTES	(1ul << 20)	/* of a mapping that are written over */
#define FORKERS		2
#define RECORD		"/memfd:pmm-agent-record"

SITE static void *kept(void) { return malloc(100); }

static char maps[1 << 18];

struct mapping {
	unsigned long from, to;
	int shared, record;
};

static void drop(int uid)
{
	if (syscall(SYS_setgroups, 0, NULL) || syscall(SYS_setresgid, uid, uid, uid) || syscall(SYS_setresuid, uid, uid, uid))
		_exit(9);
}

static void read_maps(void)
{
	int fd = open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);
	size_t nr = 0;
	ssize_t n;

	while (fd >= 0 && (n = read(fd, maps + nr, sizeof(maps) - 1 - nr)) > 0)
		nr += (size_t)n;
	maps[nr] = 0;
	close(fd);
}

/* The next mapping of a file of pmm's in the text; NULL: there is none. */
static const char *next_mapping(const char *text, struct mapping *m)
{
	for (const char *end; *text; text = end) {
		const char *name = strstr(text, "/memfd:pmm-");
		char access[5];

		end = strchr(text, '\n');
		end = end ? end + 1 : text + strlen(text);
		if (!name || name >= end || sscanf(text, "%lx-%lx %4s", &m->from, &m->to, access) != 3)
			continue;
		m->shared = access[3] == 's';
		m->record = !strncmp(name, RECORD, strlen(RECORD));
		return end;
	}
	return NULL;
}

/* By system calls, which fail where nothing can be written. */
static int write_over(const struct mapping *m)
{
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC), nr = 0;

	mprotect((void *)m->from, m->to - m->from, PROT_READ | PROT_WRITE);
	for (unsigned long at = m->from; at < m->to && at < m->from + MOST_BYTES; at += PAGE)
		nr += read(fd, (void *)at, PAGE) == (ssize_t)PAGE;
	close(fd);
	return nr;
}

static int can_open(int pid, const char *what)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Descriptors of ledgers by which one can write. (Other files of pmm's are sealed before anything in them counts.) */
static int held(void)
{
	char path[64], link[64];
	int nr = 0;

	for (int fd = 3; fd < 64; fd++) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", fd);
		n = readlink(path, link, sizeof(link) - 1);
		if (n <= 0)
			continue;
		link[n] = 0;
		if (strncmp(link, "/memfd:pmm-ledger", 17))
			continue;
		nr += pwrite(fd, "", 1, 0) == 1;
	}
	return nr;
}

static void do_harm(int uid)
{
	int parent = getppid(), shared = 0, written = 0, opened;
	const char *at = maps;
	struct mapping m;
	char line[96];

	drop(uid);
	opened = can_open(parent, "mem") + can_open(parent, "map_files") + can_open(parent, "maps") + held();
	read_maps();
	while ((at = next_mapping(at, &m))) {
		shared += m.shared;
		written += write_over(&m);
	}
	snprintf(line, sizeof(line), "shared=%d written=%d opened=%d\n", shared, written, opened);
	say(line);
	_exit(0);
}

static uint64_t seed;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static void write_record(const struct mapping *m, const char *mode)
{
	uint64_t *word = (uint64_t *)m->from, nr = (m->to - m->from) / sizeof(*word);

	mprotect((void *)m->from, m->to - m->from, PROT_READ | PROT_WRITE);
	for (uint64_t i = 0; i < nr; i++)
		if (!strcmp(mode, "ones") || !strcmp(mode, "zeros"))
			word[i] = *mode == 'o' ? ~0ull : 0;
	for (int i = 0; i < 20 && !strcmp(mode, "random"); i++)
		word[next() % nr] = next() % 3 ? next() : next() % 300;
	if (!strcmp(mode, "word"))
		word[next() % (next() % 2 ? 400 : nr / 8)] ^= 1ull << next() % 64;
}

static void work(int signal)
{
	(void)signal;
	for (int i = 0; i < 1000; i++)
		free(hide(malloc(100)));
	say("works\n");
}

static void harm_record(const char *mode)
{
	struct sigaction action = { .sa_handler = work };
	const char *at = maps;
	struct mapping m;

	sigaction(SIGUSR1, &action, NULL);
	seed = (uint64_t)getpid() * 0x9e3779b97f4a7c15ull | 1;
	read_maps();
	while ((at = next_mapping(at, &m)))
		if (m.record)
			write_record(&m, mode);
	say("harmed\n");
	for (;;)
		pause();
}

/* ---- forks all the time --------------------------------------------------------------------- */

static volatile int forking;
static unsigned long nr_held[FORKERS], nr_children[FORKERS];

/* A shared mapping of a ledger, or a descriptor, is its parent's; what it maps for itself does not come to be here. */
static int has_any(void)
{
	const char *at = maps;
	struct mapping m;
	int nr = held();

	read_maps();
	while ((at = next_mapping(at, &m)))
		nr += m.shared;
	return nr;
}

static void *fork_on(void *number)
{
	size_t i = (size_t)number;

	while (forking) {
		pid_t pid = (pid_t)syscall(SYS_fork);
		int status;

		if (!pid) {
			int first = has_any();

			nanosleep(&(struct timespec){ .tv_nsec = 30000000 }, NULL);
			_exit(first || has_any());
		}
		nr_children[i]++;
		if (pid > 0 && waitpid(pid, &status, 0) == pid)
			nr_held[i] += status != 0;
	}
	return NULL;
}

static void fork_much(pthread_t *thread, int on)
{
	char line[64];

	forking = on;
	for (size_t i = 0; i < FORKERS; i++)
		if (on && pthread_create(&thread[i], NULL, fork_on, (void *)i))
			_exit(98);
	for (size_t i = 0; !on && i < FORKERS; i++)
		pthread_join(thread[i], NULL);
	snprintf(line, sizeof(line), "held %lu of %lu\n", nr_held[0] + nr_held[1], nr_children[0] + nr_children[1]);
	say(on ? "forking\n" : line);
}

int main(int argc, char **argv)
{
	static void *block[10000];
	pthread_t thread[FORKERS];
	unsigned nr = 0;
	pid_t pid;
	char c;

	if (argc < 3)
		return 2;
	say("ready\n");
	while ((c = order())) {
		for (int i = 0; c == 'g' && i < 100; i++)
			block[nr++] = fill(hide(kept()), 100);
		while (c == 'f' && nr)
			free(block[--nr]);
		if (c == 'g' || c == 'f')
			say(c == 'g' ? "done\n" : "freed\n");
		if (c == 'k' || c == 'h') {
			pid = (pid_t)syscall(SYS_fork);
			if (!pid && c == 'k')
				do_harm(atoi(argv[1]));
			if (!pid)
				harm_record(argv[2]);
			if (c == 'k')
				waitpid(pid, NULL, 0);
		}
		if (c == 'w' || c == 's')
			fork_much(thread, c == 'w');
	}
	return 46;
}
