/*
 * What pmm.h's static form costs: ns of CPU a malloc+free pair, native and monitored, best of 5 rounds each.
 *
 *     bench_shim    two lines: one block over and over; one of 256 blocks at random
 */
#include <pmm.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { PAIRS = 1000000, ROUNDS = 5, BLOCKS = 256 };

static void *volatile blocks[BLOCKS];

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void native(uint32_t i, size_t size)
{
	(free)(blocks[i]);
	blocks[i] = (malloc)(size);
}

static void monitored(uint32_t i, size_t size)
{
	free(blocks[i]);
	blocks[i] = malloc(size);
}

static double pair_ns(void (*pair)(uint32_t i, size_t size), unsigned at_random)
{
	double best = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		uint32_t random = 1;
		double start = cpu_ns(), ns;

		for (int i = 0; i < PAIRS; i++) {
			random = random * 1664525 + 1013904223;
			pair(at_random ? random >> 24 : 0, at_random ? 16 + (random >> 8 & 127) : 40);
		}
		ns = (cpu_ns() - start) / PAIRS;
		best = ns < best ? ns : best;
	}
	for (int i = 0; i < BLOCKS; i++) {
		pair(i, 1);
		pair == native ? (free)(blocks[i]) : free(blocks[i]);
		blocks[i] = NULL;
	}
	return best;
}

int main(void)
{
	for (unsigned at_random = 0; at_random < 2; at_random++) {
		double plain = pair_ns(native, at_random), with = pair_ns(monitored, at_random);

		printf("%-24s native %5.1f ns, monitored %5.1f ns, difference %5.1f ns\n", at_random ? "256 blocks at random" : "one block", plain,
			with, with - plain);
	}
	pmm_set(PMM_AT_EXIT, 0);
	return 0;
}
