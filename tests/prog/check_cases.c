/* SPDX-License-Identifier: GPL-2.0-or-later
 * What `pmm check` as a command is tried on: does what its arguments say, one after the other, and ends with status 5.
 *
 * clean: nothing; behind: writes 1 byte behind a block of 48; after: reads 4 bytes at 8 of a freed block of 32; twice: frees a block of 24 twice;
 * slack: writes byte 33 of a block of 33 that is never freed; hold, hurt, let: the same in
 * steps, and it is freed; zero: malloc(0);
 * vast: a request that fails; new: shows byte 0 of a block of 64, or that there was none;
 * fill: memset of 49 bytes of a block of 48; blank: decides by byte 3 of a new block of 16; thread: `blank`
 * in another thread; fork: `after` in a child; wait: says so, and goes on when a line comes; kill: SIGKILL to itself.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile char *volatile kept, *held;

__attribute__((noinline)) static volatile char *make(size_t n) { return kept = malloc(n); }
__attribute__((noinline)) static void drop(volatile char *p) { kept = p; free((void *)p); }
__attribute__((noinline)) static void behind(void) { volatile char *p = make(48); p[48] = 1; drop(p); }
__attribute__((noinline)) static void after(void) { volatile char *p = make(32); drop(p); (void)*(volatile int *)(p + 8); }
__attribute__((noinline)) static void twice(void) { volatile char *p = make(24); drop(p); drop(p); }
__attribute__((noinline)) static void slack(void) { make(33)[33] = 'S'; }

__attribute__((noinline)) static void blank(void) { if (make(16)[3] == 7) puts("seven"); }

__attribute__((noinline)) static void fill(void) { drop(memset((void *)make(48), 'f', 49)); }

static void *work(void *arg) { blank(); return arg; }

static void thread(void)
{
	pthread_t t;

	if (!pthread_create(&t, NULL, work, NULL))
		pthread_join(t, NULL);
}

static void show(void)
{
	volatile unsigned char *p = (volatile unsigned char *)make(64);

	printf(p ? "new %02x\n" : "none\n", p ? *p : 0u);
}

static void do_case(const char *what)
{
	char line[8];

	if (!strcmp(what, "behind")) behind();
	else if (!strcmp(what, "after")) after();
	else if (!strcmp(what, "twice")) twice();
	else if (!strcmp(what, "slack")) slack();
	else if (!strcmp(what, "hold")) held = make(33);
	else if (!strcmp(what, "hurt")) held[33] = 'S';
	else if (!strcmp(what, "let")) drop(held);
	else if (!strcmp(what, "zero")) drop(make(0));
	else if (!strcmp(what, "fill")) fill();
	else if (!strcmp(what, "vast")) drop(make(PTRDIFF_MAX / 2));
	else if (!strcmp(what, "blank")) blank();
	else if (!strcmp(what, "thread")) thread();
	else if (!strcmp(what, "new")) show();
	else if (!strcmp(what, "fork") && !fork()) after(), exit(7);
	else if (!strcmp(what, "fork")) wait(NULL);
	else if (!strcmp(what, "wait")) printf("waiting %d\n", getpid()), (void)!read(0, line, sizeof(line));
	else if (!strcmp(what, "kill")) kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	for (int i = 1; i < argc; i++)
		do_case(argv[i]);
	puts("done");
	return 5;
}
