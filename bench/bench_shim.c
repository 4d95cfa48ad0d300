/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What pmm.h costs: ns of CPU a malloc+free pair, native and monitored in turn, the best of many
 * short rounds each.
 *
 *     bench_shim [ROUNDS]  lines "NAME NATIVE MONITORED". hot: one block over and over; random: one
 *                          of 256 blocks; threaded: hot, while another thread waits; crowded: hot,
 *                          while another thread does the same
 */
#include <pmm.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { PAIRS = 50000, ROUNDS = 60, BLOCKS = 256 };

static void *volatile blocks[BLOCKS];
static __thread void *volatile own;

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Each loop twice, as text: a call through a pointer would cost about what is measured. */
#define LOOPS(name, free_it, get_it)							\
static void name##_hot(void)								\
{											\
	for (int i = 0; i < PAIRS; i++) {						\
		free_it(own);								\
		own = get_it(40);							\
	}										\
}											\
static void name##_random(void)								\
{											\
	uint32_t random = 1;								\
											\
	for (int i = 0; i < PAIRS; i++) {						\
		random = random * 1664525 + 1013904223;					\
		free_it(blocks[random >> 24]);						\
		blocks[random >> 24] = get_it(16 + (random >> 8 & 127));		\
	}										\
}											\
static void name##_end(void)								\
{											\
	free_it(own);									\
	own = NULL;									\
	for (int i = 0; i < BLOCKS; i++) {						\
		free_it(blocks[i]);							\
		blocks[i] = NULL;							\
	}										\
}

LOOPS(native, (free), (malloc))
LOOPS(monitored, free, malloc)

static double round_ns(void (*loop)(void), void (*end)(void))
{
	double start = cpu_ns(), ns;

	loop();
	ns = (cpu_ns() - start) / PAIRS;
	end();
	return ns;
}

static void least(double *ns, double now)
{
	if (!*ns || now < *ns)
		*ns = now;
}

static void measure(const char *name, int rounds, void (*plain)(void), void (*with)(void))
{
	double native = 0, monitored = 0;

	for (int i = 0; i < rounds; i++) {
		least(&native, round_ns(plain, native_end));
		least(&monitored, round_ns(with, monitored_end));
	}
	printf("%s %.1f %.1f\n", name, native, monitored);
}


static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static volatile int crowd = 1;

static void *wait_at_gate(void *none)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return none;
}

static void *run_along(void *loop)
{
	void (*run)(void) = *(void (**)(void))loop;

	while (crowd)
		run();
	return NULL;
}

static void crowded(int rounds)
{
	static void (*loops[])(void) = { native_hot, monitored_hot };
	static void (*ends[])(void) = { native_end, monitored_end };
	double ns[2] = { 0, 0 };
	pthread_t thread;

	for (int i = 0; i < 2; i++) {
		crowd = 1;
		pthread_create(&thread, NULL, run_along, &loops[i]);
		for (int round = 0; round < rounds; round++)
			least(&ns[i], round_ns(loops[i], ends[i]));
		crowd = 0;
		pthread_join(thread, NULL);
	}
	printf("crowded %.1f %.1f\n", ns[0], ns[1]);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;

	measure("hot", rounds, native_hot, monitored_hot);
	measure("random", rounds, native_random, monitored_random);
	pthread_mutex_lock(&gate);
	pthread_create(&thread, NULL, wait_at_gate, NULL);
	measure("threaded", rounds, native_hot, monitored_hot);
	pthread_mutex_unlock(&gate);
	pthread_join(thread, NULL);
	crowded(rounds);
	pmm_set(PMM_AT_EXIT, 0);
	return 0;
}
