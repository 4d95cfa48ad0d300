/* SPDX-License-Identifier: GPL-2.0-or-later
 * More than a thousand blocks of one call site, then one error, named by the argument: with a block of another call site, or with one of the
 * first. "none": none. "threads": a second thread has done the same before. "fork": a child does. "request": a busy allocator whose 150,000th
 * request writes a byte too far, and whose 160,000th is written to after its release. "short N": N blocks that live shortly; says how many KiB and
 * milliseconds of CPU time the process took. "large": blocks of
 * 2 MiB and of 64 MiB, released.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

#define MANY 1000

static char *volatile block[MANY];
static char here[64];

SITE static char *by_loop(size_t size) { return malloc(size); }
SITE static char *by_late(void) { return malloc(40); }
SITE static void write_behind(char *p, size_t size) { p[size] = 1; }
SITE static void write_freed(char *p) { p[3] = 1; }
SITE static void by_free(void *p) { free(p); }
SITE static char *by_realloc(char *p, size_t size) { return realloc(p, size); }

static void *work(void *arg)
{
	for (unsigned i = 0; i < MANY; i++)
		block[i] = by_loop(33 + i % 200 * (i % 50 ? 1 : 1000));
	for (unsigned i = 0; i < MANY; i += 3)
		memset(block[i] = by_realloc(block[i], 300), 1, 300);
	for (unsigned i = 1; i < MANY; i += 3)
		by_free(block[i]);
	return arg;
}

static void request(unsigned i)
{
	size_t size = 16 + i % 300;
	char *p = hide(by_loop(size));

	memset(p, 1, size);
	if (i == 150000)
		write_behind(p, size);
	by_free(p);
	if (i == 160000)
		write_freed(p);
}

static int requests(void)
{
	for (unsigned i = 0; i < 300000; i++) {
		by_free(block[i % MANY]);
		block[i % MANY] = by_loop(40 + i % 77);
		request(i);
	}
	return 0;
}

static long ms_of(struct timeval t)
{
	return t.tv_sec * 1000 + t.tv_usec / 1000;
}

static int shortly(unsigned long nr)
{
	struct rusage usage;

	for (unsigned long i = 0; i < nr; i++)
		by_free(hide(by_loop(16 + i % 64)));
	getrusage(RUSAGE_SELF, &usage);
	printf("%ld %ld\n", usage.ru_maxrss, ms_of(usage.ru_utime) + ms_of(usage.ru_stime));
	return 0;
}

static int large(void)
{
	for (unsigned i = 0; i < 20; i++) {
		by_free(hide(by_loop(2 << 20)));
		by_free(hide(by_loop(64 << 20)));
	}
	return 0;
}

static int fork_and(void)
{
	pid_t pid = fork();
	int status;

	work(NULL);
	if (!pid)
		_exit(0);
	return waitpid(pid, &status, 0) != pid || status;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "none";
	char *late, *volatile p;
	pthread_t thread;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (!strcmp(what, "request"))
		return requests();
	if (!strcmp(what, "short"))
		return shortly(strtoul(argv[2], NULL, 0));
	if (!strcmp(what, "large"))
		return large();
	if (!strcmp(what, "fork"))
		return fork_and();
	if (!strcmp(what, "threads")) {
		pthread_create(&thread, NULL, work, NULL);
		pthread_join(thread, NULL);
	}
	work(NULL);
	late = by_late();
	p = !strcmp(what, "inside") ? block[2] + 16 : !strcmp(what, "inside-later") ? block[500] + 16 : !strcmp(what, "static") ? here + 16 :
	    !strcmp(what, "twice") ? block[1] : NULL;
	if (!strcmp(what, "late"))
		write_behind(late, 40);
	by_free(p);
	by_free(late);
	puts("done");
	return 0;
}
