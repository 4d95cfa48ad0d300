/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Roots by thread: the live part of its stack, its record and thread-local storage, its registers.
 *
 * A thread's record (glibc: struct pthread) is at its thread pointer and begins with its own
 * address; it holds the place of the stack that the C library mapped for it, which the record
 * itself ends. Where in the record is found out, not known. glibc keeps the stacks of ended threads
 * for new ones: its three lists of stacks, whose heads are side by side in the loader's data (2.34
 * and later), tell which these are. All of that is checked; a thread that is made otherwise has its
 * whole mappings as roots.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/roots/roots_priv.h"

#define RECORD_BYTES	0x900u		/* looked at; glibc 2.36's is 0x900 long */
#define RECORD_WORDS	(RECORD_BYTES / 8)
#define MAX_STACK	(1ull << 40)
#define MAX_LIST	65536
#define LIST_FIRST	0x80u		/* where the list's node may be in a record */

struct record {
	uint64_t at;			/* the thread pointer */
	uint64_t start, end;		/* the stack's block, without its guard; 0 = not known */
	uint64_t dtv;			/* glibc's, 0 = none */
	uint64_t block_bytes;		/* as the record says it: with the guard */
	uint64_t word[RECORD_WORDS];
};

struct threads {
	struct roots_find *f;
	struct roots_ranges marks;
	VEC(uint64_t) records;		/* of living threads, by address */
	struct record r;
};

/* ---- a record -------------------------------------------------------------------------------- */

/*
 * Is all of [start, end) private anonymous memory that may be used, but for a guard at its
 * beginning? Where does that end?
 */
static bool is_stack(const struct roots_find *f, uint64_t start, uint64_t end, uint64_t *usable)
{
	const struct roots_ranges *r = &f->ranges;
	size_t i = roots_range_at(r, start);
	uint64_t at;

	if (i >= r->nr || r->v[i].start >= end)
		return false;
	*usable = at = r->v[i].start > start ? r->v[i].start : start;
	for (; i < r->nr && at < end && r->v[i].start <= at; i++) {
		if (r->v[i].kind != MEMORY_ANONYMOUS)
			return false;
		at = r->v[i].end;
	}
	return at >= end;
}

/* No blocks of the heap in it? */
static bool is_free_of_blocks(const struct heap *h, uint64_t start, uint64_t end)
{
	uint64_t i = roots_block_from(h, start);

	return (i == h->nr_blocks || h->blocks[i].address >= end) && !roots_in_block(h, start);
}

/*
 * Three words in a row: beginning, length, and the guard's length (glibc), or an address within
 * (musl: the stack's end).
 */
static void block_find(const struct roots_find *f, struct record *r, size_t nr)
{
	for (size_t i = 2; i + 2 < nr; i++) {
		uint64_t start = r->word[i], bytes = r->word[i + 1], third = r->word[i + 2], usable;

		if (start & (ROOTS_PAGE - 1) || !start || bytes & (ROOTS_PAGE - 1) ||
		    bytes < 2 * ROOTS_PAGE || bytes > MAX_STACK || start > r->at ||
		    r->at - start >= bytes)
			continue;
		if (!(third < bytes && !(third & (ROOTS_PAGE - 1))) &&
		    !(third > start && third <= start + bytes))
			continue;
		if (!is_stack(f, start, start + bytes, &usable) ||
		    !is_free_of_blocks(f->heap, start, start + bytes) ||
		    (third < bytes && usable < start + third))
			continue;
		r->start = usable;
		r->end = start + bytes;
		r->block_bytes = bytes;
		return;
	}
}

/* False: there is no such record. */
static bool record_read(const struct roots_find *f, uint64_t at, struct record *r)
{
	size_t nr;

	memset(r, 0, sizeof(*r));
	r->at = at;
	if (!at || at & 7)
		return false;
	nr = roots_read(f, at, r->word, sizeof(r->word)) / 8;
	if (nr < 4 || r->word[0] != at)
		return false;
	if (r->word[2] == at)
		r->dtv = r->word[1];
	block_find(f, r, nr);
	return true;
}

/* ---- living threads -------------------------------------------------------------------------- */

static uint64_t stack_pointer(const struct roots_find *f, const struct process_copy_thread *t)
{
	uint64_t sp;

	if (f->leave_sp && t->tid == f->leave_tid)
		return f->leave_sp;
	sp = arch_sp(&t->regs);
	return (sp > ARCH_RED_ZONE ? sp - ARCH_RED_ZONE : 0) & ~7ull;
}

static int mark(struct threads *t, uint64_t start, uint64_t end, unsigned kind, pid_t tid)
{
	struct memory_range m = {
		.start = start, .end = end, .thread = (uint32_t)tid, .kind = (uint8_t)kind
	};

	return start < end ? vec_push(&t->marks, m) : 0;
}

/*
 * Two threads with one record (clone() without a record of its own): which of them the stack
 * belongs to is not known.
 */
static bool is_shared(const struct threads *t, uint64_t at)
{
	size_t i = vec_while(&t->records, p, *p < at);

	return i + 1 < t->records.nr && t->records.v[i + 1] == at;
}

/*
 * The stack from its pointer up, or all of it when the thread is on another one: signal
 * handlers, coroutines.
 */
static int stack_mark(struct threads *t, const struct process_copy_thread *thread)
{
	const struct record *r = &t->r;
	uint64_t sp = stack_pointer(t->f, thread);
	uint64_t live = sp >= r->start && sp <= r->at && !is_shared(t, r->at) ? sp : r->start;
	int rc;

	if (!r->end)
		return 0;
	rc = mark(t, r->start, live, ROOTS_NONE, 0);
	if (!rc)
		rc = mark(t, live, r->at, MEMORY_STACK, thread->tid);
	return rc ? rc : mark(t, r->at, r->end, MEMORY_TLS, thread->tid);
}

static int word_add(struct memory *m, uint64_t value, pid_t tid)
{
	return value ? vec_push(&m->words,
				(struct memory_word){ .value = value, .thread = (uint32_t)tid })
		     : 0;
}

/*
 * Of a thread that leaves only the registers count that belong to its callers: what it does itself
 * is pmm's and the C library's.
 */
static int registers_add(struct roots_find *f, const struct process_copy_thread *t)
{
	bool leaves = f->leave_sp && t->tid == f->leave_tid;
	uint64_t kept[ARCH_NR_CALLEE_SAVED];
	const uint64_t *word = leaves ? kept : t->words;
	size_t nr = leaves ? ARCH_NR_CALLEE_SAVED : t->nr_words;
	int rc = 0;

	arch_callee_saved(&t->regs, kept);
	for (size_t i = 0; !rc && i < nr; i++)
		rc = word_add(f->memory, word[i], t->tid);
	return rc;
}

/*
 * A stack in a block (of a coroutine, or given to pthread_create) is in use whatever points to it;
 * so is a record.
 */
static int owned_add(struct roots_find *f, uint64_t address)
{
	return roots_in_block(f->heap, address) ? vec_push(&f->memory->owned, address) : 0;
}

static int thread_add(struct threads *t, const struct process_copy_thread *thread)
{
	uint64_t at = arch_tp(&thread->regs);
	int rc = registers_add(t->f, thread);

	if (!rc)
		rc = owned_add(t->f, arch_sp(&thread->regs));
	if (!rc)
		rc = owned_add(t->f, at);
	if (rc || !record_read(t->f, at, &t->r))
		return rc;
	if (t->r.dtv)
		rc = owned_add(t->f, t->r.dtv - 16);
	return rc ? rc : stack_mark(t, thread);
}

/* The first thread's stack, as the kernel has made it. */
static int first_stack(struct threads *t, const struct memory_range *stack)
{
	uint64_t low = stack->end;
	pid_t tid = 0;

	for (size_t i = 0; i < t->f->nr_threads; i++) {
		uint64_t sp = stack_pointer(t->f, &t->f->threads[i]);

		if (sp >= stack->start && sp < low) {
			low = sp;
			tid = t->f->threads[i].tid;
		}
	}
	if (!tid)
		return 0;
	return mark(t, stack->start, low, ROOTS_NONE, 0)
		       ?: mark(t, low, stack->end, MEMORY_STACK, tid);
}

/* ---- glibc's lists of stacks ----------------------------------------------------------------- */

struct list {
	uint64_t head;
	uint64_t node;			/* offset of the node in a record */
	VEC(uint64_t) records;
};

/*
 * Follow a list from `from` around to it again: every node is in a record but one, the head. 1
 * found, 0 no such list, -ENOMEM.
 */
static int list_follow(const struct roots_find *f, uint64_t from, uint64_t node, struct list *l)
{
	uint64_t at = from;

	*l = (struct list){ .node = node };
	for (unsigned n = 0; n < MAX_LIST; n++) {
		uint64_t link[2], back, first[3];

		if (roots_read(f, at, link, sizeof(link)) != sizeof(link) ||
		    !roots_word(f, link[0] + 8, &back) || back != at)
			return 0;
		if (roots_read(f, at - node, first, sizeof(first)) == sizeof(first) &&
		    first[0] == at - node && first[2] == at - node) {
			if (vec_push(&l->records, at - node))
				return -ENOMEM;
		} else if (!l->head) {
			l->head = at;
		} else {
			return 0;
		}
		at = link[0];
		if (at == from)
			return l->head != 0;
	}
	return 0;
}

static bool is_data(const struct roots_find *f, uint64_t address)
{
	size_t i = roots_range_at(&f->ranges, address);

	return i < f->ranges.nr && f->ranges.v[i].start <= address &&
	       f->ranges.v[i].kind == MEMORY_DATA;
}

/*
 * The list of cached stacks begins at `head`, and behind the heads stands how many bytes these are:
 * is it so?
 */
static int cache_read(const struct roots_find *f, uint64_t head, uint64_t node, struct list *cache)
{
	struct record *r = malloc(sizeof(*r));
	uint64_t said, sum = 0;
	int rc = r ? list_follow(f, head, node, cache) : -ENOMEM;

	if (rc > 0 && (cache->head != head || !roots_word(f, head + 16, &said)))
		rc = 0;
	for (size_t i = 0; rc > 0 && i < cache->records.nr; i++) {
		rc = record_read(f, cache->records.v[i], r) && r->end;
		sum += r->block_bytes;
	}
	free(r);
	return rc > 0 ? sum == said : rc;
}

/*
 * Stacks of ended threads: nothing in them counts. Of those not joined yet the record does, it has
 * what the thread returned.
 */
static int ended_add(struct threads *t, const struct list *l, bool cached)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < l->records.nr; i++) {
		uint64_t at = l->records.v[i];
		bool lives = false;

		vec_each(&t->records, r)
			lives |= *r == at;
		if (lives || !record_read(t->f, at, &t->r) || !t->r.end)
			continue;
		if (t->r.dtv)
			rc = owned_add(t->f, t->r.dtv - 16);
		if (!rc)
			rc = mark(t, t->r.start, cached ? t->r.end : at, ROOTS_NONE, 0);
		if (!rc && !cached)
			rc = mark(t, at, t->r.end, MEMORY_TLS, 0);
	}
	return rc;
}

/*
 * `l` is the list of stacks that glibc made, or of those it was given (the first thread's among
 * them), found through a living thread's record: used, user and cache follow one another
 * (sysdeps/generic/ldsodefs.h: _dl_stack_used ...). 1 it is so, 0 not.
 */
static int lists_read(struct threads *t, const struct list *l)
{
	/* from the head found: it is the user list, or the used one before it */
	static const unsigned user_at[] = { 0, 16 };
	int rc = 0;

	for (unsigned i = 0; !rc && i < 2; i++) {
		uint64_t user = l->head + user_at[i];
		struct list used = { 0 }, cache = { 0 }, given = { 0 };

		rc = cache_read(t->f, user + 16, l->node, &cache);
		if (rc > 0)
			rc = list_follow(t->f, user, l->node, &given);
		if (rc > 0)
			rc = list_follow(t->f, user - 16, l->node, &used);
		if (rc > 0)
			rc = ended_add(t, &cache, true) ?: ended_add(t, &used, false) ?: 1;
		vec_fini(&used.records);
		vec_fini(&cache.records);
		vec_fini(&given.records);
	}
	return rc;
}

/* Try what may be a node in a living thread's record. 1 done, 0 it is none. */
static int lists_through(struct threads *t, uint64_t at)
{
	uint64_t word[RECORD_WORDS];
	size_t nr = roots_read(t->f, at, word, sizeof(word)) / 8;
	int rc = 0;

	for (size_t i = LIST_FIRST / 8; !rc && i + 1 < nr; i++) {
		struct list l = { 0 };

		if (!word[i] || !word[i + 1] || word[i] & 7 || word[i + 1] & 7)
			continue;
		rc = list_follow(t->f, at + i * 8, i * 8, &l);
		if (rc > 0)
			rc = is_data(t->f, l.head) ? lists_read(t, &l) : 0;
		vec_fini(&l.records);
	}
	return rc;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int roots_threads_find(struct roots_find *f)
{
	struct threads t = { .f = f };
	int rc = 0;

	for (size_t i = 0; !rc && i < f->nr_threads; i++)
		rc = vec_push(&t.records, arch_tp(&f->threads[i].regs));
	vec_sort(&t.records, by_value);
	for (size_t i = 0; !rc && i < f->nr_threads; i++)
		rc = thread_add(&t, &f->threads[i]);
	for (size_t i = 0; !rc && i < f->ranges.nr; i++)
		if (f->ranges.v[i].kind == MEMORY_STACK)
			rc = first_stack(&t, &f->ranges.v[i]);
	for (size_t i = 0; !rc && i < t.records.nr && i < 4; i++)
		rc = lists_through(&t, t.records.v[i]);
	if (rc >= 0)
		rc = roots_paint(&f->ranges, &t.marks);
	vec_fini(&t.marks);
	vec_fini(&t.records);
	return rc;
}
