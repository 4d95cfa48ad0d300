/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program to attach to. Allocates 30 blocks of 700 bytes, says "ready", then obeys:
 *   g  a round: leaks at known places, temporary blocks, a cache that stays, all checked -> "done"
 *   f  frees 10 of the blocks from before -> "freed"
 *   r  makes one of the blocks from before larger -> "moved"
 *   c  checks everything it has -> "good"
 *   k  forks; the child obeys from then on -> "forked"; the parent waits for it and ends with its status
 *   x  runs itself anew by exec -> "ready"
 *   e  as at the end of input: prints "sum N", ends with the status given as argument (42)
 *
 * expect:
 *   site leak_a      allocs=100 frees=0 bytes=4800 live=4800 blocks=100
 *   site leak_b      allocs=7 frees=0 bytes=21000 live=21000 blocks=7
 *   site leak_c      allocs=3 frees=0 bytes=15000 live=15000 blocks=3
 *   site leak_d      allocs=2 frees=0 bytes=600 live=600 blocks=2
 *   site passing     allocs=1000 frees=1000 bytes=33000 live=0 blocks=0
 *   site growing     allocs=22 frees=22 bytes=21220 live=0 blocks=0
 *   site cached      allocs=300 frees=236 bytes=76800 live=16384 blocks=64
 *   total            allocs=1434 frees=1258 blocks=176 live=57784 untracked=0 failed=0 dropped=0
 */
#include <sys/wait.h>

#include "attach.h"

#define NR_OLD 30

static struct { void *p; size_t bytes; } kept[100000], cache[64];
static void *old[NR_OLD];
static unsigned long nr_kept, nr_old = NR_OLD;

static void keep(void *p, size_t bytes)
{
	kept[nr_kept].p = fill(hide(p), bytes);
	kept[nr_kept++].bytes = bytes;
}

SITE static void *leak_a(void) { return malloc(48); }
SITE static void *leak_b(void) { return calloc(3, 1000); }
SITE static void *leak_c(void) { return realloc(NULL, 5000); }
SITE static void *leak_d(void) { void *p; return posix_memalign(&p, 4096, 300) ? NULL : p; }
SITE static void passing(void) { free(hide(malloc(33))); }
SITE static void *cached(void) { return malloc(256); }

SITE static void growing(void)
{
	char *p = hide(malloc(10));

	for (size_t n = 20; n <= 2020; n += 100)
		if ((p = hide(realloc(p, n - 10))))
			p[n - 11] = 1;
	free(p);
}

static int good(void)
{
	for (unsigned long i = 0; i < nr_kept; i++)
		if (!filled(kept[i].p, kept[i].bytes))
			return 0;
	for (int i = 0; i < 64; i++)
		if (cache[i].p && !filled(cache[i].p, 256))
			return 0;
	for (unsigned long i = 0; i < nr_old; i++)
		if (!filled(old[i], 700))
			return 0;
	return 1;
}

SITE static void go(void)
{
	for (int i = 0; i < 100; i++)
		keep(leak_a(), 48);
	for (int i = 0; i < 7; i++)
		keep(leak_b(), 3000);
	for (int i = 0; i < 3; i++)
		keep(leak_c(), 5000);
	for (int i = 0; i < 2; i++)
		keep(leak_d(), 300);
	for (int i = 0; i < 1000; i++)
		passing();
	growing();
	for (int i = 0; i < 300; i++) {
		free(cache[i % 64].p);
		cache[i % 64].p = fill(hide(cached()), 256);
	}
}

/* In the child: 0; in the parent, once the child has ended: its status. */
static int fork_off(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		return 0;
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 97;
}

int main(int argc, char **argv)
{
	int status = argc > 1 ? atoi(argv[1]) : 42, child;
	unsigned long sum = 0;
	char c;

	for (int i = 0; i < NR_OLD; i++)
		old[i] = fill(hide(malloc(700)), 700);
	say("ready\n");
	while ((c = order()) && c != 'e') {
		if (c == 'g')
			go();
		for (int i = 0; c == 'f' && i < 10; i++)
			free(old[--nr_old]);
		if (c == 'r')
			old[nr_old - 1] = fill(hide(realloc(old[nr_old - 1], 7000)), 700);
		if (c == 'x')
			execv(argv[0], argv);
		if (c == 'k' && (child = fork_off()))
			return child;
		say(!good() ? "WRONG\n" : c == 'g' ? "done\n" : c == 'f' ? "freed\n" : c == 'r' ? "moved\n" :
		    c == 'k' ? "forked\n" : "good\n");
	}
	for (unsigned long i = 0; i < nr_kept; i++)
		sum += kept[i].bytes;
	say_number("sum ", sum);
	return good() ? status : 98;
}
