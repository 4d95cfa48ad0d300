/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What system calls cost: "bench_calls KIND TIMES" does it so often, with 16 KiB of stack in use,
 * and prints the CPU time of one in ns. KIND: map (mmap and munmap), getppid, pipe (pipe and two
 * closes). "bench_calls rate TIMES" maps and unmaps 5000 times a second, and prints nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BLOCK		1000u
#define PAGE		4096ul
#define PER_MS		5u

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void map(void)
{
	void *p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || munmap(p, PAGE))
		exit(3);
}

static void call(void)
{
	syscall(SYS_getppid);
}

static void make_pipe(void)
{
	int fd[2];

	if (pipe(fd))
		exit(3);
	close(fd[0]);
	close(fd[1]);
}

static void (*function_of(const char *kind))(void)
{
	return !strcmp(kind, "map") ? map : !strcmp(kind, "pipe") ? make_pipe : call;
}

static double best_of(void (*one)(void), unsigned times)
{
	double best = 1e18, start, ns;

	for (unsigned done = 0; done < times; done += BLOCK) {
		start = now();
		for (unsigned i = 0; i < BLOCK; i++)
			one();
		ns = (now() - start) / BLOCK;
		if (best > ns)
			best = ns;
	}
	return best;
}

static void at_rate(unsigned times)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	for (unsigned done = 0; done < times; done += PER_MS) {
		for (unsigned i = 0; i < PER_MS; i++)
			map();
		t.tv_nsec += 1000000;
		if (t.tv_nsec >= 1000000000) {
			t.tv_nsec -= 1000000000;
			t.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	}
}

int main(int argc, char **argv)
{
	volatile char deep[16384];
	unsigned times = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

	for (size_t i = 0; i < sizeof(deep); i += PAGE)
		deep[i] = 1;
	if (!times)
		return 2;
	if (!strcmp(argv[1], "rate"))
		at_rate(times);
	else
		printf("%.1f\n", best_of(function_of(argv[1]), times));
	return deep[0] != 1;
}
