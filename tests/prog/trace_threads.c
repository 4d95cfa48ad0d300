/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_threads N PAGES: N threads wait for a line on standard input; then each touches its own PAGES,
 * N threads more do so, and N children. Says where: "START END" of 3 * N * PAGES pages.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static char *memory;
static size_t pages;
static pthread_barrier_t go;

static void touch(size_t part)
{
	for (size_t i = 0; i < pages; i++)
		*(volatile char *)(memory + (part * pages + i) * 4096) = 1;
}

static void *waits(void *part)
{
	pthread_barrier_wait(&go);
	touch((size_t)part);
	return NULL;
}

static void *at_once(void *part)
{
	touch((size_t)part);
	return NULL;
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1, bytes;
	pthread_t thread[64], more[64];

	if (n > 64)
		return 2;
	pages = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	bytes = 3 * n * pages * 4096;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	pthread_barrier_init(&go, NULL, n + 1);
	for (size_t i = 0; i < n; i++)
		pthread_create(&thread[i], NULL, waits, (void *)i);
	printf("%lu %lu\n", (unsigned long)(uintptr_t)memory, (unsigned long)(uintptr_t)(memory + bytes));
	fflush(stdout);
	getchar();
	pthread_barrier_wait(&go);
	for (size_t i = 0; i < n; i++)
		pthread_create(&more[i], NULL, at_once, (void *)(n + i));
	for (size_t i = 0; i < n; i++)
		pthread_join(thread[i], NULL), pthread_join(more[i], NULL);
	for (size_t i = 0; i < n; i++)
		if (!fork()) {
			touch(2 * n + i);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	return 0;
}
