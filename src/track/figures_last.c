/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The allocator's last figures of a process that is watched. */
#include "src/track/figures_last.h"

#include "src/base/thread.h"
#include "src/roots/glibc/figures.h"
#include "src/ledger/ledger_heap.h"

/* before the first look, in which there is nothing worth knowing */
#define FIRST_NS	20000000u
#define REST_NS		20000000u	/* between two looks, at least ... */
#define REST		1000		/* ... and times what the look took */
/* of a process whose heap nothing has happened to, as far as the ledger shows; doubles ... */
#define CALM_NS		2000000000u
#define MOST_CALM_NS	(512ull * CALM_NS)
#define MOST_FIRST_NS	1000000000u
/* what the agent takes at exit() is of the end, give or take two ticks of the clock */
#define SAME_NS		20000000u
/* counted: the monitor's clock must not wait for longer than a tick ... */
#define MAX_CHUNKS	4096u
#define MIN_CHUNKS	256u	/* ... and a look must not take more than its share, but these */
#define CHUNK_NS	1000u	/* to count one, as a rule */
/* ... of which there were too many: have most of them gone? */
#define FEW_CHUNKS	32u
#define FEW_REST	2	/* half their time is left for the next look that counts */

/* Does it pay to ask again? */
static bool may_know(int figures)
{
	return figures != HEAP_FIGURES_OTHER && figures != HEAP_FIGURES_DENIED;
}

/* Free chunks that there is time for, after `rest_ns` in which nothing was asked. */
static unsigned chunks_in(uint64_t rest_ns, uint64_t share)
{
	uint64_t nr = rest_ns / (CHUNK_NS * REST * share);

	return nr < MIN_CHUNKS ? MIN_CHUNKS : nr < MAX_CHUNKS ? (unsigned)nr : MAX_CHUNKS;
}

/*
 * How many to count now. Where the last count did not come to the end another one of as many will
 * hardly do so: it is for one of twice as many that time is saved.
 */
static unsigned chunks_now(const struct figures_last *l, uint64_t now_ns, uint64_t share)
{
	unsigned saved;

	if (!l->too_few)
		return chunks_in(now_ns - l->rests_ns, share);
	saved = chunks_in(now_ns - l->counted_ns, share);
	return saved == MAX_CHUNKS || saved >= 2 * l->too_few ? saved : FEW_CHUNKS;
}

static int ask(struct figures_last *l, struct ledger_map *m, pid_t pid, uint64_t now_ns,
	       unsigned max_chunks)
{
	if (!l->asked) {
		l->asked = heap_new();
		if (!l->asked || ledger_read_names(m, l->asked)) {
			heap_free(l->asked);
			l->asked = NULL;
			return HEAP_FIGURES_GONE;
		}
	}
	return figures_read(pid, now_ns, max_chunks, l->asked);
}

static uint64_t lower(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t higher(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Has anything happened to its heap, or enough time passed? */
static bool is_worth_it(struct figures_last *l, struct ledger_map *m, uint64_t now_ns)
{
	struct ledger_totals t = { 0 };
	bool same = !ledger_totals_untimed(m, &t) && l->asked && t.allocs + t.frees == l->events;

	if (same && now_ns - l->asked->allocator.taken_ns < l->calm_ns)
		return false;
	l->calm_ns = same ? lower(2 * l->calm_ns, MOST_CALM_NS) : CALM_NS;
	l->events = t.allocs + t.frees;
	return true;
}

static void note_count(struct figures_last *l, int figures, unsigned chunks, uint64_t now_ns)
{
	if (figures != HEAP_FIGURES_MANY) {
		l->too_few = 0;
	} else if (chunks != FEW_CHUNKS) {
		l->too_few = chunks;
		l->counted_ns = now_ns;
	}
}

void figures_last_tick(struct figures_last *l, struct ledger_map *m, pid_t pid, uint64_t now_ns)
{
	const uint64_t share = l->share ? l->share : 1;
	uint64_t start, rest;
	unsigned chunks;
	int rc;

	if (!l->next_ns) {
		l->rests_ns = now_ns;
		l->next_ns = now_ns + lower(FIRST_NS * share, MOST_FIRST_NS);
	}
	if (now_ns < l->next_ns || pid <= 0)
		return;
	l->next_ns = now_ns + REST_NS;
	if (!is_worth_it(l, m, now_ns))
		return;
	start = thread_cpu_ns();
	chunks = chunks_now(l, now_ns, share);
	rc = ask(l, m, pid, now_ns, chunks);
	l->rests_ns = now_ns;
	rest = (thread_cpu_ns() - start) * share * REST;
	if (chunks == FEW_CHUNKS)
		rest *= FEW_REST;
	note_count(l, rc, chunks, now_ns);
	if (rc == HEAP_FIGURES_SHAPE)
		rest = higher(rest, CALM_NS);		/* it will hardly be found the next time */
	l->next_ns = may_know(rc) ? now_ns + higher(rest, REST_NS) : UINT64_MAX;
}

void figures_last_give(const struct figures_last *l, struct heap *h)
{
	const struct heap_allocator *last = l->asked ? &l->asked->allocator : NULL;
	char *path = h->allocator.path;

	if (!last || !last->valid || h->end == HEAP_REPLACED)
		return;
	if (h->allocator.valid && (h->allocator.taken_ns + SAME_NS >= h->taken_ns ||
				   h->allocator.taken_ns >= last->taken_ns))
		return;
	h->allocator = *last;
	h->allocator.path = path;
}

void figures_last_fini(struct figures_last *l)
{
	heap_free(l->asked);
	l->asked = NULL;
}
