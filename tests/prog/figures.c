/* SPDX-License-Identifier: GPL-2.0-or-later
 * Says what its allocator says of itself (mallinfo2), as pmm's JSON has it, and obeys: g: allocate and free at random in four threads, and say it
 * again; m: the same with 60,000 free chunks; o: write over a chunk that is free; k: be killed; x: _exit(). At the end of its input it returns.
 */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "victim.h"

#define MANY 60000

static pthread_barrier_t there, on;
static void *many[MANY];

/* Not by dprintf(), which allocates. */
static void put(const char *line) { write(1, line, strlen(line)); }

static void say(void)
{
#ifdef __GLIBC__
	struct mallinfo2 m = mallinfo2();
	char line[400];

	snprintf(line, sizeof(line), "{\"arena_bytes\":%zu,\"fast_bytes\":%zu,\"fast_chunks\":%zu,\"free_bytes\":%zu,\"free_chunks\":%zu,\"mmapped_bytes\":%zu,"
		"\"mmapped_chunks\":%zu,\"top_bytes\":%zu,\"used_bytes\":%zu}\n", m.arena, m.fsmblks, m.smblks, m.fordblks, m.ordblks, m.hblkhd, m.hblks,
		m.keepcost, m.uordblks);
	put(line);
#else
	put("done\n");
#endif
}

static void churn(unsigned seed)
{
	void *p[300] = { 0 };

	for (unsigned n = 0; n < 10000; n++) {
		seed = seed * 1103515245u + 12345u;
		free(p[seed / 256 % 300]);
		p[seed / 256 % 300] = hide(malloc(n % 1000 ? seed / 1024 % 5000 : 200000));
	}
	for (unsigned n = 0; n < 40; n++)
		p[n] = hide((free(p[n]), malloc(100)));
	for (unsigned n = 0; n < 40; n++)
		free(p[n]);
}

static void *churner(void *seed)
{
	for (;;) {
		pthread_barrier_wait(&on);
		churn((unsigned)(uintptr_t)seed);
		pthread_barrier_wait(&there);
	}
	return NULL;
}

static void free_many(void)
{
	for (int i = 0; i < MANY; i++) {
		many[i] = hide(malloc(1100));
		hide(malloc(24));
	}
	for (int i = 0; i < MANY; i++)
		free(many[i]);
}

int main(void)
{
	pthread_t thread;
	char c;

	hide(malloc(1 << 20));
	pthread_barrier_init(&on, NULL, 4);
	pthread_barrier_init(&there, NULL, 4);
	for (uintptr_t i = 1; i < 4; i++)
		pthread_create(&thread, NULL, churner, (void *)i);
	put("ready\n");
	while (read(0, &c, 1) > 0) {
		uint64_t *p;

		if (c == 'g') {
			pthread_barrier_wait(&on);
			churn(99);
			pthread_barrier_wait(&there);
			say();
		} else if (c == 'm') {
			free_many();
			say();
		} else if (c == 'o') {
			p = hide(malloc(3000));
			hide(malloc(24));
			free(p);
			p = hide(p);
			p[0] = p[1] = 0x4141414141414140;
			put("done\n");
		} else if (c == 'k') {
			raise(SIGKILL);
		} else if (c == 'x') {
			_exit(0);
		}
	}
	return 0;
}
