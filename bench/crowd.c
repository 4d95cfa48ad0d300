/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A large process for `bench/run --only attach`, to be attached to and left again and again: many
 * threads, a large heap.
 *
 *     bench_crowd THREADS BUSY MIB
 *
 * BUSY of the threads compute, every second of them with malloc and free; the others sleep, wait
 * for a lock or for input, in turn. MIB of blocks of 16 KiB were touched when it says "ready". It
 * ends with its input.
 */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES	16384
#define MAX_THREADS	1000

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static int silent[2];		/* a pipe into which nobody writes */

static void *compute(void *arg)
{
	volatile uint64_t n = (uintptr_t)arg;

	for (;;)
		n = n * 6364136223846793005ull + 1;
	return NULL;
}

static void *allocate(void *arg)
{
	void *slots[64] = { arg };
	unsigned k;

	slots[0] = NULL;
	for (k = 0;; k = (k + 1) % 64) {
		free(slots[k]);
		slots[k] = malloc(16 + k * 8);
	}
	return NULL;
}

static void *sleep_on(void *arg)
{
	struct timespec second = { .tv_sec = 1 };

	for (;;)
		nanosleep(&second, NULL);
	return arg;
}

static void *wait_lock(void *arg)
{
	pthread_mutex_lock(&held);
	return arg;
}

static void *wait_input(void *arg)
{
	struct pollfd p = { .fd = silent[0], .events = POLLIN };

	for (;;)
		poll(&p, 1, -1);
	return arg;
}

static void start_threads(unsigned nr, unsigned busy)
{
	static void *(*const idle[])(void *) = { sleep_on, wait_lock, wait_input };
	pthread_t thread;
	unsigned k;

	for (k = 0; k < nr; k++) {
		void *(*run)(void *) = k >= busy ? idle[k % 3] : k % 2 ? allocate : compute;

		if (pthread_create(&thread, NULL, run, (void *)(uintptr_t)k))
			abort();
	}
}

static void fill_heap(unsigned long mib)
{
	unsigned long n, k;

	for (n = 0; n < mib << 20; n += BLOCK_BYTES) {
		char *p = malloc(BLOCK_BYTES);

		if (!p)
			abort();
		for (k = 0; k < BLOCK_BYTES; k += 4096)
			p[k] = 1;
	}
}

static unsigned long number(const char *text, unsigned long max)
{
	unsigned long n = strtoul(text, NULL, 10);

	if (n > max) {
		fprintf(stderr, "bench_crowd: '%s' is more than %lu\n", text, max);
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	char c;

	if (argc != 4) {
		fputs("usage: bench_crowd THREADS BUSY MIB\n", stderr);
		return 2;
	}
	if (pipe(silent))
		return 1;
	pthread_mutex_lock(&held);
	fill_heap(number(argv[3], 1ul << 16));
	start_threads((unsigned)number(argv[1], MAX_THREADS),
		      (unsigned)number(argv[2], MAX_THREADS));
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	_exit(0);
}
