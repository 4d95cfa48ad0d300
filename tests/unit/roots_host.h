/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A child process to search for roots in: it says where it has put pointers, and which blocks it
 * holds, and waits.
 */
#ifndef TESTS_UNIT_ROOTS_HOST_H
#define TESTS_UNIT_ROOTS_HOST_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/roots/roots_pages.h"

#define ROOTS_HOST_MAX 4096

/*
 * IS_LIVE, IS_FREED: of a block that nobody was seen to free; after one of these, such blocks are
 * looked for.
 */
enum place_is { IS_ROOT, IS_NONE, IS_OWNED, IS_WORD, IS_LIVE, IS_FREED };

struct roots_place {
	const char *name;		/* a literal: the same in parent and child */
	uint64_t address;
	enum place_is is;
};

/* In memory that parent and child share. */
struct roots_host {
	unsigned nr_places, nr_blocks;
	struct roots_place place[ROOTS_HOST_MAX];
	struct heap_block block[ROOTS_HOST_MAX];
	uint64_t leave_sp;
	bool ready;
};

extern struct roots_host *host;

/* In the child. */
void host_place(const char *name, const volatile void *address, enum place_is is);
void *host_block(void *p, uint64_t bytes);	/* a live block; returns p */
void *host_malloc(uint64_t bytes);		/* a live block */
/* of a thread: is there, and waits for the end; does not return */
void host_stay(pthread_barrier_t *there);
/* from here on it waits for its end; does not return */
void host_ready(void);

/*
 * In the parent: fork, run `child`, search, compare every place. `complete` as roots_find.complete.
 * How many were wrong.
 */
unsigned host_run(void (*child)(void), bool complete, bool with_pages, uint64_t *root_bytes);

#endif
