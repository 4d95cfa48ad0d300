/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory and threads for a search.
 */
#include "src/analyze/reach/reach_space.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "src/base/thread.h"

#define HUGE_PAGE (2 << 20)

void *reach_reserve(size_t bytes)
{
	void *p = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (bytes >= HUGE_PAGE)
		madvise(p, bytes,
			MADV_HUGEPAGE); /* fewer misses of the TLB; without it slower, not wrong */
	return p;
}

void reach_unreserve(void *p, size_t bytes)
{
	if (p)
		munmap(p, bytes ? bytes : 1);
}

void reach_count(struct reach_space *s, int64_t bytes)
{
	uint64_t now = __atomic_add_fetch(&s->now, (uint64_t)bytes, __ATOMIC_RELAXED);
	uint64_t peak = __atomic_load_n(&s->peak, __ATOMIC_RELAXED);

	while (bytes > 0 && now > peak &&
	       !__atomic_compare_exchange_n(&s->peak, &peak, now, true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
}

void *reach_take(struct reach_space *s, size_t bytes)
{
	void *p = reach_reserve(bytes);

	if (p)
		reach_count(s, (int64_t)bytes);
	return p;
}

void reach_give(struct reach_space *s, void *p, size_t bytes)
{
	if (!p)
		return;
	reach_unreserve(p, bytes);
	reach_count(s, -(int64_t)bytes);
}

struct member {
	pthread_t thread;
	void (*work)(void *arg, unsigned who);
	void *arg;
	unsigned who;
};

static void *member_run(void *arg)
{
	struct member *m = arg;

	m->work(m->arg, m->who);
	return NULL;
}

void reach_team(unsigned nr, void (*work)(void *arg, unsigned who), void *arg)
{
	struct member *members = nr > 1 ? calloc(nr, sizeof(*members)) : NULL;
	unsigned started = 1;

	for (; members && started < nr; started++) {
		struct member *m = &members[started];

		*m = (struct member){ .work = work, .arg = arg, .who = started };
		if (thread_start(&m->thread, 0, member_run, m))
			break;
	}
	work(arg, 0);
	for (unsigned i = 1; i < started; i++)
		pthread_join(members[i].thread, NULL);
	free(members);
}
