/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Benchmark of the agent's unwinder: ns for each further frame of a warm stack.
 *
 *     unwind LIBPMM      (build/libpmm.so)
 *
 * The program starts itself with and without the agent and times malloc and free in a shallow
 * function and below 40 more frames, of distinct functions without frame pointers. What the agent
 * adds there, less what it adds here, over 40, is what a frame costs. Runs are interleaved, the
 * fastest count. Three ways:
 *   same      again and again from the same place: the stack before is confirmed
 *   next      the whole chain is called anew from the same place: confirmed, what changed is walked
 *   moved     ... from 64 places in turn, so no frame is where one was: walked and interned
 */
#include <alloca.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEEP	40
#define PAIRS	400000
#define WARM	200
#define TURNS	11

static volatile int inner = 1;		/* pairs at the end of a chain */

typedef void (*frame_fn)(int);

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static __attribute__((noipa)) void leaf(int n)
{
	int k;

	for (k = 0; k < inner; k++) {
		void *p = malloc(48);

		__asm__ volatile("" : "+r"(p) : : "memory");
		free(p);
	}
	__asm__ volatile("" : : "r"(n));
}

static frame_fn next[DEEP + 1];

/* Functions of three shapes: plain, with two registers saved, with a larger frame. */
#define PLAIN(k)  static __attribute__((noipa)) void f##k(int n)				\
	{ next[n](n - 1); __asm__ volatile(""); }
#define SAVING(k) static __attribute__((noipa)) void f##k(int n)			\
	{ __asm__ volatile("" : : : "rbx", "rbp"); next[n](n - 1); __asm__ volatile(""); }
#define LARGE(k)  static __attribute__((noipa)) void f##k(int n)				\
	{ char v[200]; __asm__ volatile("" : : "r"(v) : "memory"); next[n](n - 1);	\
	  __asm__ volatile("" : : "r"(v)); }
#define FIVE(a, b, c, d, e) PLAIN(a) SAVING(b) LARGE(c) PLAIN(d) SAVING(e)

FIVE(1, 2, 3, 4, 5) FIVE(6, 7, 8, 9, 10) FIVE(11, 12, 13, 14, 15) FIVE(16, 17, 18, 19, 20)
FIVE(21, 22, 23, 24, 25) FIVE(26, 27, 28, 29, 30) FIVE(31, 32, 33, 34, 35) FIVE(36, 37, 38, 39, 40)

static const frame_fn frames[DEEP] = {
	f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20,
	f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31, f32, f33, f34, f35, f36, f37, f38,
	f39, f40,
};

/* next[0] is the leaf; the chain is entered at next[depth]. */
static void chain_make(int depth)
{
	int k;

	next[0] = leaf;
	for (k = 1; k <= depth; k++)
		next[k] = frames[k - 1];
}

static __attribute__((noipa)) void enter(int depth, size_t shift)
{
	char *v = alloca(shift);

	__asm__ volatile("" : : "r"(v) : "memory");
	next[depth](depth - 1);
	__asm__ volatile("" : : "r"(v));
}

/* ns for a pair of malloc and free below `depth` frames. */
static double run(const char *way, int depth)
{
	int moved = !strcmp(way, "moved"), same = !strcmp(way, "same");
	double start = 0;
	int k;

	chain_make(depth);
	for (k = -WARM; k < (same ? 1 : PAIRS); k++) {
		if (!k) {
			inner = same ? PAIRS : 1;
			start = now_ns();
		}
		enter(depth, moved ? 16 + (size_t)(k & 63) * 1024 : 16);
	}
	return (now_ns() - start) / PAIRS;
}

/* The same in a process of its own, with LD_PRELOAD=preload unless NULL. Negative: failed. */
static double run_apart(const char *self, const char *preload, const char *way, int depth)
{
	char text[64] = "", number[16];
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	snprintf(number, sizeof(number), "%d", depth);
	if (pipe(fds) || (pid = fork()) < 0)
		return -1;
	if (!pid) {
		dup2(fds[1], 1);
		if (preload)
			setenv("LD_PRELOAD", preload, 1);
		unsetenv("PMM_LEDGER");
		execl(self, self, "--run", way, number, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	n = read(fds[0], text, sizeof(text) - 1);
	close(fds[0]);
	waitpid(pid, &status, 0);
	return n > 0 && !status ? atof(text) : -1;
}

/* ns that the agent adds at `depth`, from the fastest runs. Returns 0, or -1 when a run failed. */
static int added(const char *self, const char *lib, const char *way, int depth, double *out)
{
	double ns[2] = { 1e9, 1e9 }, t;
	int k, agent;

	for (k = 0; k < TURNS; k++)
		for (agent = 0; agent < 2; agent++) {
			t = run_apart(self, agent ? lib : NULL, way, depth);
			if (t < 0)
				return -1;
			ns[agent] = t < ns[agent] ? t : ns[agent];
		}
	*out = ns[1] - ns[0];
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const ways[] = { "same", "next", "moved" };
	size_t w;

	if (argc == 4 && !strcmp(argv[1], "--run")) {
		printf("%.3f\n", run(argv[2], atoi(argv[3])));
		return 0;
	}
	if (argc != 2 || access(argv[1], R_OK)) {
		fprintf(stderr, "usage: unwind LIBPMM\n");
		return 2;
	}
	printf("ns added to malloc + free\n");
	printf("%-8s %10s %10s %11s\n", "way", "shallow", "40 deeper", "each frame");
	for (w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
		double here, there;

		if (added(argv[0], argv[1], ways[w], 0, &here) ||
		    added(argv[0], argv[1], ways[w], DEEP, &there)) {
			fprintf(stderr, "unwind: cannot run with '%s'\n", argv[1]);
			return 3;
		}
		printf("%-8s %10.1f %10.1f %11.2f\n", ways[w], here, there, (there - here) / DEEP);
	}
	return 0;
}
