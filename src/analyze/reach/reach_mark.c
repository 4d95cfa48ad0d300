/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the program can still reach.
 *
 * Each thread has a stack of blocks whose pointers are to be followed, taken off by the handful,
 * and two handfuls between stack and following, so that what they need from memory is under way
 * while others are followed. A block enters a stack when its class gets better, which one thread
 * alone brings about. Whether it is reached is one bit, so that what is asked most often, for
 * nearly every pointer in vain, stays in the processor's caches. Pointers into the middle that a
 * guess might accept wait until the thread has nothing else to do: most of their blocks are reached
 * otherwise meanwhile, and need no guess.
 */
#include "src/analyze/reach/reach_mark.h"

#include <errno.h>
#include <string.h>

#include "src/analyze/reach/reach_bag.h"
#include "src/analyze/reach/reach_guess.h"
#include "src/analyze/reach/reach_habit.h"

#define HANDFUL		32
#define MAX_TARGETS	512
#define MAX_DOUBTS	(128 << 10)
#define ROOT_PIECE	REACH_WINDOW

struct target {
	uint32_t block, offset;
	uint32_t from;			/* block, or REACH_NONE: a root */
};

struct marking {
	const struct reach_graph *g;
	const struct memory *memory;
	const struct reach_options *o;
	struct reach *r;
	struct reach_pool pool;
	uint64_t *reached;		/* bit by block; first round's class REACH_REACHED */
	struct reach_habits habits;
	enum { FROM_ROOTS, POSSIBLE, FROM_HABITS, NR_ROUNDS } round;
	pthread_mutex_t lock;		/* for the next two */
	size_t root;			/* where the next piece of a root is to be taken */
	uint64_t root_at;
	uint64_t seeds;			/* second round: blocks looked at; third: habits */
	int rc;
};

/* Blocks on their way from the stack to being followed. */
struct handful {
	unsigned nr;
	uint32_t block[HANDFUL];
	uint32_t first[HANDFUL];	/* as in the graph */
};

struct worker {
	struct marking *w;
	struct reach_scanner s;
	struct reach_stack stack;
	struct reach_guess guess;
	uint32_t from;			/* block whose pointers are looked at */
	bool chunk_lists;
	bool failed;
	/* in turn: just taken, edges on their way, to be followed */
	struct handful handfuls[3];
	unsigned turn;
	unsigned nr_targets;
	uint32_t nr_doubts;
	struct target targets[MAX_TARGETS];
	struct target doubts[MAX_DOUBTS];
};

static uint8_t class_of(const struct worker *k, uint32_t block)
{
	return __atomic_load_n(&k->w->r->class[block], __ATOMIC_RELAXED);
}

static bool is_reached(const struct worker *k, uint32_t block)
{
	return __atomic_load_n(&k->w->reached[block / 64], __ATOMIC_RELAXED) >> (block & 63) & 1;
}

static void set_parent(struct worker *k, const struct target *t)
{
	if (k->w->o->want_parents)
		__atomic_store_n(&k->w->r->parent[t->block], t->from, __ATOMIC_RELAXED);
}

/* Its class got better: follow it, if that leads anywhere. */
static void enter(struct worker *k, const struct target *t)
{
	set_parent(k, t);
	if (!reach_is_bare(k->w->g, t->block) && reach_push(&k->stack, &t->block, 1))
		k->failed = true;
}

static bool set_reached(struct worker *k, uint32_t block)
{
	uint64_t bit = (uint64_t)1 << (block & 63);

	return !(__atomic_fetch_or(&k->w->reached[block / 64], bit, __ATOMIC_RELAXED) & bit);
}

/* In the first round: unless it turns out to be reached. */
static bool possible(struct worker *k, const struct target *t)
{
	uint8_t lost = REACH_DEFINITE;

	return __atomic_compare_exchange_n(&k->w->r->class[t->block], &lost, REACH_POSSIBLE, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void look_at_doubt(struct worker *k, const struct target *t)
{
	if (is_reached(k, t->block))
		return;
	if (reach_guess(&k->guess, t->block, t->offset)) {
		if (set_reached(k, t->block))
			enter(k, t);
	} else if (possible(k, t)) {
		set_parent(k, t);
	}
}

/* Up to `nr` of them, the newest first. */
static void look_at_doubts(struct worker *k, uint32_t nr)
{
	while (nr-- && k->nr_doubts)
		look_at_doubt(k, &k->doubts[--k->nr_doubts]);
}

/* A pointer into the middle of a block, or, in the second round, any. */
static void judge(struct worker *k, const struct target *t)
{
	reach_note(&k->w->habits, t->block, t->offset);
	if (k->w->round == POSSIBLE) {
		if (possible(k, t))
			enter(k, t);
	} else if (reach_guess_worth(&k->guess, t->block, t->offset)) {
		if (k->nr_doubts == MAX_DOUBTS)
			look_at_doubts(k, MAX_DOUBTS);
		k->doubts[k->nr_doubts++] = *t;
	} else if (possible(k, t)) {
		set_parent(k, t);
	}
}

/* The first round. That a block has no pointers is no branch either. */
static void judge_starts(struct worker *k)
{
	uint32_t enter[MAX_TARGETS];
	unsigned nr = 0;

	for (unsigned i = 0; i < k->nr_targets; i++) {
		const struct target *t = &k->targets[i];
		bool better;

		if (t->offset) {
			if (!is_reached(k, t->block))
				judge(k, t);
			continue;
		}
		better = set_reached(k, t->block);
		enter[nr] = t->block;
		nr += better & !reach_is_bare(k->w->g, t->block);
		if (better)
			set_parent(k, t);
	}
	if (reach_push(&k->stack, enter, nr))
		k->failed = true;
}

static void judge_all(struct worker *k)
{
	if (k->w->round != POSSIBLE)
		judge_starts(k);
	else
		for (unsigned i = 0; i < k->nr_targets; i++)
			judge(k, &k->targets[i]);
	k->nr_targets = 0;
}

/*
 * 1 if it is worth a look: most are reached already, but which cannot be foreseen, so no branch
 * depends on it.
 */
static inline unsigned sift(const struct worker *k, struct target *to, uint32_t block,
			    uint32_t offset)
{
	*to = (struct target){ block, offset, k->from };
	return !is_reached(k, block);
}

static void add_target(void *arg, uint32_t block, uint32_t offset)
{
	struct worker *k = arg;

	if (k->nr_targets == MAX_TARGETS)
		judge_all(k);
	k->nr_targets += sift(k, &k->targets[k->nr_targets], block, offset);
}

/* Targets of one block, with their number at hand. */
struct sifting {
	struct worker *k;
	unsigned nr;
};

static inline void add_edge(void *arg, uint32_t block, uint32_t offset)
{
	struct sifting *f = arg;

	if (f->nr == MAX_TARGETS) {
		f->k->nr_targets = f->nr;
		judge_all(f->k);
		f->nr = 0;
	}
	f->nr += sift(f->k, &f->k->targets[f->nr], block, offset);
}

static void follow_handful(struct worker *k, const struct handful *h)
{
	const struct reach_graph *g = k->w->g;

	for (unsigned i = 0; i < h->nr; i++) {
		k->from = h->block[i];
		if (h->first[i] < REACH_MAX_EDGES) {
			struct sifting f = { k, k->nr_targets };

			reach_follow_edges(&g->edges[h->first[i]], add_edge, &f);
			k->nr_targets = f.nr;
		} else if (h->first[i] != REACH_EMPTY) {
			reach_follow_other(g, &k->s, h->block[i], add_target, k);
		}
	}
	judge_all(k);
}

/*
 * Take a handful of blocks off the stack, and follow the one taken two calls ago: meanwhile where
 * its edges are, and then these, were on their way from memory. false: there are no more.
 */
static bool follow(struct worker *k)
{
	const struct reach_graph *g = k->w->g;
	struct handful *taken = &k->handfuls[k->turn % 3], *found = &k->handfuls[(k->turn + 2) % 3],
		       *due = &k->handfuls[(k->turn + 1) % 3];
	bool any;

	k->turn++;
	taken->nr = reach_pop(&k->stack, taken->block, HANDFUL);
	for (unsigned i = 0; i < taken->nr; i++)
		__builtin_prefetch(&g->first[taken->block[i]]);
	for (unsigned i = 0; i < found->nr; i++) {
		found->first[i] = g->first[found->block[i]];
		if (found->first[i] < REACH_MAX_EDGES)
			__builtin_prefetch(&g->edges[found->first[i]]);
	}
	any = taken->nr || found->nr || due->nr;
	follow_handful(k, due);
	due->nr = 0;
	return any;
}

static void root_hits(void *arg, const struct reach_scanner *s)
{
	struct worker *k = arg;

	k->from = REACH_NONE;
	for (unsigned i = s->given; i < s->batch.found; i++) {
		struct reach_hit hit = s->batch.hits[i];

		if (hit.block == REACH_NONE)
			continue;
		if (k->chunk_lists && reach_is_chunk_behind(&s->ix->blocks[hit.block], hit.offset))
			continue;
		add_target(k, hit.block, hit.offset);
	}
	judge_all(k);
}

static bool next_root(struct marking *w, struct memory_range *piece)
{
	const struct memory *m = w->memory;
	bool found;

	pthread_mutex_lock(&w->lock);
	for (; w->root < m->roots.nr; w->root++, w->root_at = 0) {
		*piece = m->roots.v[w->root];
		if (w->root_at > piece->start)
			piece->start = w->root_at;
		if (piece->start >= piece->end)
			continue;
		if (piece->end - piece->start > ROOT_PIECE)
			piece->end = (piece->start + ROOT_PIECE) &
				     ~7ull; /* a word is in one piece */
		w->root_at = piece->end;
		break;
	}
	found = w->root < m->roots.nr;
	pthread_mutex_unlock(&w->lock);
	return found;
}

/* What needs no reading of memory: registers, and what the C library owns. */
static void root_words(struct worker *k)
{
	const struct memory *m = k->w->memory;
	const struct reach_index *ix = k->s.ix;

	k->from = REACH_NONE;
	vec_each(&m->words, word) {
		struct reach_hit hit = reach_find(ix, word->value & ~k->s.tag_mask);

		if (hit.block != REACH_NONE)
			add_target(k, hit.block, hit.offset);
	}
	vec_each(&m->owned, address) {
		struct reach_hit hit = reach_find(ix, *address);

		if (hit.block != REACH_NONE)
			add_target(k, hit.block, 0);
	}
	judge_all(k);
}

static void take_roots(struct worker *k)
{
	struct memory_range piece;

	while (!k->failed && !(k->failed = reach_stopped(&k->s)) && next_root(k->w, &piece)) {
		k->chunk_lists = piece.chunk_lists;
		reach_scan(&k->s, piece.start, piece.end, root_hits, k);
		k->chunk_lists = false;
		reach_pool_share(&k->w->pool, &k->stack);
	}
}

/*
 * Second round: what is possible by now is where it begins. What another thread makes possible
 * meanwhile may be followed twice, which does no harm.
 */
static void take_seeds(struct worker *k)
{
	struct marking *w = k->w;
	const uint64_t step = 1 << 16;
	uint64_t at;

	while ((at = __atomic_fetch_add(&w->seeds, step, __ATOMIC_RELAXED)) < w->r->nr) {
		uint64_t end = w->r->nr - at < step ? w->r->nr : at + step;

		for (; at < end; at++)
			if (class_of(k, (uint32_t)at) == REACH_POSSIBLE && !k->failed)
				k->failed = reach_push(&k->stack, &(uint32_t){ (uint32_t)at }, 1);
	}
}

/* Third round: what a habit explains is reached, and so is what hangs on it. */
static void take_habits(struct worker *k)
{
	struct marking *w = k->w;
	uint64_t at;

	while ((at = __atomic_fetch_add(&w->seeds, 1, __ATOMIC_RELAXED)) < w->r->habits.nr) {
		uint32_t block = w->r->habits.v[at].block;

		if (set_reached(k, block) && !reach_is_bare(w->g, block) && !k->failed)
			k->failed = reach_push(&k->stack, &block, 1);
	}
}

static void work(struct worker *k, unsigned who)
{
	struct marking *w = k->w;

	if (w->round == POSSIBLE) {
		take_seeds(k);
	} else if (w->round == FROM_HABITS) {
		take_habits(k);
	} else {
		if (!who)
			root_words(k);
		take_roots(k);
	}
	while (!k->failed && !(k->failed = reach_stopped(&k->s))) {
		if (follow(k))
			reach_pool_share(&w->pool, &k->stack);
		else if (k->nr_doubts)
			look_at_doubts(k, HANDFUL);
		else if (!reach_pool_wait(&w->pool, &k->stack))
			break;
	}
	if (k->failed)
		reach_pool_stop(&w->pool);
}

static void worker_run(void *arg, unsigned who)
{
	struct marking *w = arg;
	struct reach_space *space = w->g->space;
	struct worker *k = reach_take(space, sizeof(*k));

	if (!k || reach_scanner_init(&k->s, w->g->ix, w->memory, w->o->tag_mask, space)) {
		/* The others can do without, but for what only the first one does. */
		if (!who) {
			__atomic_store_n(&w->rc, -ENOMEM, __ATOMIC_RELAXED);
			reach_pool_stop(&w->pool);
		}
		reach_give(space, k, sizeof(*k));
		return;
	}
	k->w = w;
	k->stack.space = space;
	k->guess = (struct reach_guess){ .ix = w->g->ix,
					 .memory = w->memory,
					 .heuristics = w->o->heuristics };
	if (who)
		reach_pool_enter(&w->pool);
	work(k, who);
	if (k->failed)
		__atomic_store_n(&w->rc, k->s.stopped ? -EINTR : -ENOMEM, __ATOMIC_RELAXED);
	__atomic_fetch_add(&w->r->stats.read_bytes, k->s.read_bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&w->r->stats.unread_bytes, k->s.unread_bytes, __ATOMIC_RELAXED);
	reach_stack_fini(&k->stack);
	reach_scanner_fini(&k->s);
	reach_give(space, k, sizeof(*k));
}

static void set_classes(struct marking *w)
{
	for (uint64_t i = 0; i < w->r->nr; i += 64)
		for (uint64_t left = w->reached[i / 64]; left; left &= left - 1)
			w->r->class[i + (unsigned)__builtin_ctzll(left)] = REACH_REACHED;
}

static void mark_round(struct marking *w, int round, unsigned nr_threads)
{
	w->round = round;
	w->seeds = 0;
	reach_pool_init(&w->pool);
	reach_team(nr_threads, worker_run, w);
	reach_pool_fini(&w->pool, w->g->space);
	if (round != POSSIBLE)
		set_classes(w);
}

int reach_mark(const struct reach_graph *g, const struct memory *m, const struct reach_options *o,
	       unsigned nr_threads, struct reach *r)
{
	struct marking w = { .g = g, .memory = m, .o = o, .r = r };
	size_t bytes = reach_bits_bytes(r->nr);

	w.reached = reach_take(g->space, bytes);
	if (!w.reached)
		return -ENOMEM;
	if (o->heuristics & (REACH_HEADER | REACH_POOL))
		w.rc = reach_habits_init(&w.habits, r->nr, g->space);
	pthread_mutex_init(&w.lock, NULL);
	for (int round = FROM_ROOTS; round < NR_ROUNDS && !w.rc; round++) {
		if (round == FROM_HABITS && w.habits.notes)
			w.rc = reach_habits_judge(&w.habits, g->ix->blocks, o->heuristics, r);
		if (!w.rc && (round != FROM_HABITS || r->habits.nr))
			mark_round(&w, round, nr_threads);
	}
	reach_habits_fini(&w.habits, g->space);
	reach_give(g->space, w.reached, bytes);
	pthread_mutex_destroy(&w.lock);
	return w.rc;
}
