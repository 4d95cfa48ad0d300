/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What glibc's malloc asks of the kernel, by known calls: a block of its own mapping, growth of the
 * first heap, an arena of a second thread with two heaps, calls that are not malloc's. Prints by how
 * much the program break has grown by malloc's hand.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define KIB	1024
#define NR	180

static void *volatile keep[NR];

static void *second(void *arg)
{
	for (int i = 0; i < NR; i++)		/* 70 MiB: more than one heap has */
		keep[i] = malloc(400 * KIB);
	for (int i = 0; i < NR; i++)
		free(keep[i]);
	return arg;
}

int main(void)
{
	pthread_t t;
	char *before, *after, *own;
	char *volatile block;

	mallopt(M_MMAP_THRESHOLD, 512 * KIB);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	block = malloc(1000);
	before = sbrk(0);
	free(block);
	block = malloc(1024 * KIB);
	free(block);
	for (int i = 0; i < 20; i++)
		keep[i] = malloc(100 * KIB);
	after = sbrk(0);
	own = sbrk(3 * 4096);			/* the program's own */
	mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_create(&t, NULL, second, NULL);
	pthread_join(t, NULL);
	printf("grown %ld\n", (long)(after - before));
	return own == (void *)-1;
}
