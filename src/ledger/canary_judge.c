/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Canaries of blocks, read and judged. */
#include "src/ledger/canary_judge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "include/pmm/ledger.h"

#define PAGE		4096ull
/* blocks read with one call; two pieces each, and IOV_MAX is 1024 */
#define BATCH		256u

/* read at once: dearer where little of it is canary */
#define SPAN_BYTES	(BATCH * 512ull)

_Static_assert(SPAN_BYTES <= BATCH * sizeof(*((struct canary_judge *)NULL)->buffer),
	       "there is room for it");
_Static_assert(BATCH * sizeof(*((struct canary_judge *)NULL)->buffer) % _Alignof(struct iovec) == 0,
	       "pieces are behind it");

/* Canary that should be in [start, end), part of the block's surroundings. */
struct edge {
	uint64_t start, end;
};

/* Where the canaries of a block are; the head of a canaried one is the end of its first edge. */
struct edges {
	struct edge before, behind;
	bool headed;
};

bool canary_judge_guarded(const struct canary_judge *l, const struct heap_block *b)
{
	return b->address >= l->pool_start && b->address < l->pool_end;
}

static struct edges edges_of(const struct canary_judge *l, const struct heap_block *b)
{
	uint64_t end = b->address + b->size_bytes;

	if (canary_judge_guarded(l, b)) {
		uint64_t last = b->size_bytes ? end - 1 : b->address;

		return (struct edges){ { b->address & ~(PAGE - 1), b->address },
				       { end, (last & ~(PAGE - 1)) + PAGE } };
	}
	return (struct edges){ { b->address - PMM_HEAD_BYTES, b->address },
			       { end, pmm_tail_end(b->address, b->size_bytes) },
			       true };
}

static size_t length(struct edge e)
{
	return e.end > e.start && e.end - e.start <= CANARY_SCAN_MOST_EDGE ? e.end - e.start : 0;
}

static void note(struct canary_judge *l, uint64_t block, const struct edge *e, const uint8_t *bytes,
		 size_t at)
{
	struct canary_scan_damage d = { .block = block, .address = e->start + at };
	size_t left = length(*e) - at;

	d.nr_bytes = (uint8_t)(left < HEAP_FINDING_BYTES ? left : HEAP_FINDING_BYTES);
	memcpy(d.bytes, bytes + at, d.nr_bytes);
	/* without memory for it the next canary scan finds it */
	(void)vec_push(&l->damages, d);
}

enum head_state { HEAD_LIVE, HEAD_FREED, HEAD_BAD };

/* The ledger's number of a block's site; 0: not known. */
static uint32_t site_number(const struct canary_judge *l, const struct heap_block *b)
{
	return b->site < l->h->nr_sites ? l->h->sites[b->site].number & (PMM_MAX_SITES - 1) : 0;
}

/* What is on top of the seal, if this is one: the block's facts, spread. */
static uint64_t over_seal(const struct canary_judge *l, const struct heap_block *b,
			  const struct pmm_head *head, uint64_t what)
{
	return head->seal ^ pmm_seal(l->secret, b->address, what);
}

/*
 * Alignment and facts are all that is not known from elsewhere. A sealed one that says freed is of
 * a block that is being released right now. Of facts, which are noted after the block is in the
 * tables, the site has those that were overwritten.
 */
static enum head_state head_state(const struct canary_judge *l, const struct heap_block *b,
				  const uint8_t *bytes, unsigned *align_log2)
{
	uint32_t number = site_number(l, b);
	struct pmm_head head;
	uint64_t over, known = b->size_bytes < PMM_SIZE_MAX ? b->size_bytes : PMM_SIZE_MAX;

	memcpy(&head, bytes, sizeof(head));
	*align_log2 = head.what >> PMM_HEAD_ALIGN_SHIFT & 63;
	over = over_seal(l, b, &head, head.what);
	if (over & PMM_SEAL_SURE)
		over = over_seal(l, b, &head, head.what & ~PMM_HEAD_FREED);
	if (over & PMM_SEAL_SURE)
		return HEAD_BAD;
	if (head.what & PMM_HEAD_FREED)
		return HEAD_FREED;
	if (over && number && (pmm_gather(over) & (PMM_MAX_SITES - 1)) != number)
		return HEAD_BAD;
	return (head.what & PMM_SIZE_MAX) == known ? HEAD_LIVE : HEAD_BAD;
}

/* First byte of an edge that is no canary; SIZE_MAX: all are. */
static size_t first_wrong(const struct canary_judge *l, const struct heap_block *b,
			  const struct edge *e, const uint8_t *bytes)
{
	for (size_t i = 0; i < length(*e); i++)
		if (bytes[i] != pmm_canary_byte(l->secret, b->address, e->start + i))
			return i;
	return SIZE_MAX;
}

/* What should be over the seal, spread. */
static uint64_t facts_of(const struct canary_judge *l, const struct heap_block *b)
{
	uint32_t generation = l->generation < PMM_GENERATION_MOST ? l->generation
								  : PMM_GENERATION_MOST;

	return pmm_spread(pmm_facts(site_number(l, b), b->kind, generation));
}

/*
 * First byte of a bad head that differs from what it was, as far as is known: the alignment that
 * explains most of it, with its facts or before they were noted, is taken for true.
 */
static size_t first_wrong_of_head(const struct canary_judge *l, const struct heap_block *b,
				  const uint8_t *bytes)
{
	unsigned fewest = PMM_HEAD_BYTES + 1;
	uint64_t facts = facts_of(l, b);
	size_t first = 0;

	for (unsigned i = 0; i < 2 * 64; i++) {
		struct pmm_head head = { .what = (b->size_bytes < PMM_SIZE_MAX ? b->size_bytes
									       : PMM_SIZE_MAX) |
						 (uint64_t)(i / 2) << PMM_HEAD_ALIGN_SHIFT };
		uint8_t good[PMM_HEAD_BYTES];
		unsigned nr = 0;
		size_t at = 0;

		head.seal = pmm_seal(l->secret, b->address, head.what) ^ (i & 1 ? 0 : facts);
		memcpy(good, &head, sizeof(good));
		for (size_t k = sizeof(good); k-- > 0;) {
			nr += bytes[k] != good[k];
			at = bytes[k] != good[k] ? k : at;
		}
		if (nr < fewest) {
			fewest = nr;
			first = at;
		}
	}
	return first;
}

/*
 * What alignment leaves before the head is known from the head only; few blocks have it. True:
 * there is damage.
 */
static bool judge_gap(struct canary_judge *l, uint64_t index, unsigned align_log2)
{
	const struct heap_block *b = &l->h->blocks[index];
	uint64_t end = b->address - PMM_HEAD_BYTES, bytes = pmm_gap_bytes(1ull << align_log2);
	const struct edge gap = { end - bytes, end };
	uint8_t copy[CANARY_SCAN_MOST_EDGE];
	struct iovec here = { copy, bytes }, there = { (void *)(uintptr_t)gap.start, bytes };
	size_t wrong;

	if (process_vm_readv(l->pid, &here, 1, &there, 1, 0) != (ssize_t)bytes)
		return false;
	wrong = first_wrong(l, b, &gap, copy);
	if (wrong != SIZE_MAX)
		note(l, index, &gap, copy, wrong);
	return wrong != SIZE_MAX;
}

/* By what is in its edges. */
static void judge(struct canary_judge *l, uint64_t index, const struct edges *e,
		  const uint8_t *before, const uint8_t *behind)
{
	const struct heap_block *b = &l->h->blocks[index];
	unsigned align_log2 = 0;
	enum head_state head = e->headed ? head_state(l, b, before, &align_log2) : HEAD_LIVE;
	size_t wrong;

	if (head != HEAD_LIVE) {
		if (head == HEAD_BAD)
			note(l, index, &e->before, before, first_wrong_of_head(l, b, before));
		return;
	}
	if (pmm_gap_bytes(1ull << align_log2) && judge_gap(l, index, align_log2))
		return;
	wrong = e->headed ? SIZE_MAX : first_wrong(l, b, &e->before, before);
	if (wrong != SIZE_MAX) {
		note(l, index, &e->before, before, wrong);
		return;
	}
	wrong = first_wrong(l, b, &e->behind, behind);
	if (wrong != SIZE_MAX)
		note(l, index, &e->behind, behind, wrong);
}

/*
 * Small blocks are close together: one piece of memory with all of them is read faster than two
 * pieces of each. False: it was not read.
 */
static bool look_at_span(struct canary_judge *l, const uint64_t *index, unsigned nr)
{
	uint8_t *copy = (uint8_t *)l->buffer;
	struct edges first = edges_of(l, &l->h->blocks[index[0]]),
		     last = edges_of(l, &l->h->blocks[index[nr - 1]]);
	uint64_t start = first.before.start, bytes = last.behind.end - start;
	struct iovec here = { copy, bytes }, there = { (void *)(uintptr_t)start, bytes };

	if (last.behind.end <= start || bytes > SPAN_BYTES ||
	    process_vm_readv(l->pid, &here, 1, &there, 1, 0) != (ssize_t)bytes)
		return false;
	for (unsigned i = 0; i < nr; i++) {
		struct edges e = edges_of(l, &l->h->blocks[index[i]]);

		if (e.before.start < start || e.behind.end > start + bytes)
			continue;	/* overlapping blocks make no sense */
		judge(l, index[i], &e, copy + (e.before.start - start),
		      copy + (e.behind.start - start));
	}
	return true;
}

/* Read the edges of blocks and judge those that could be read whole; how many blocks, or -errno. */
static int look_at(struct canary_judge *l, const uint64_t *index, unsigned nr)
{
	struct iovec *here = (struct iovec *)(void *)(l->buffer + BATCH), *there = here + 2 * BATCH;
	unsigned pieces = 0, done = 0;
	ssize_t got;

	if (!nr)
		return 0;
	if (look_at_span(l, index, nr))
		return (int)nr;
	for (unsigned i = 0; i < nr; i++) {
		struct edges edges = edges_of(l, &l->h->blocks[index[i]]);
		const struct edge *side[2] = { &edges.before, &edges.behind };

		for (int k = 0; k < 2; k++, pieces++) {
			here[pieces] = (struct iovec){ l->buffer[i][k], length(*side[k]) };
			there[pieces] = (struct iovec){ (void *)(uintptr_t)side[k]->start,
							length(*side[k]) };
		}
	}
	got = process_vm_readv(l->pid, here, pieces, there, pieces, 0);
	if (got < 0)
		return errno == EFAULT ? 1 : -errno;	/* the first is not there any more */
	for (; done < nr; done++) {
		struct edges edges = edges_of(l, &l->h->blocks[index[done]]);
		size_t want = length(edges.before) + length(edges.behind);

		if ((size_t)got < want)
			break;
		got -= (ssize_t)want;
		judge(l, index[done], &edges, l->buffer[done][0], l->buffer[done][1]);
	}
	return (int)(done < nr ? done + 1 : done);	/* one that is not there is skipped */
}

static bool to_be_looked_at(const struct canary_judge *l, const struct heap_block *b)
{
	return b->kind != PMM_KIND_OTHER && (!l->sampled || canary_judge_guarded(l, b));
}

int canary_judge_all(struct canary_judge *l)
{
	uint64_t index[BATCH];
	unsigned nr = 0;

	for (uint64_t i = 0; i < l->h->nr_blocks || nr;) {
		int done;

		while (nr < BATCH && i < l->h->nr_blocks) {
			if (to_be_looked_at(l, &l->h->blocks[i]))
				index[nr++] = i;
			i++;
		}
		done = look_at(l, index, nr);
		if (done < 0)
			return done;
		nr -= (unsigned)done;
		memmove(index, index + done, nr * sizeof(*index));
	}
	return 0;
}

bool canary_judge_damaged(struct canary_judge *l, uint64_t index)
{
	l->damages.nr = 0;
	return look_at(l, &index, 1) == 1 && l->damages.nr;
}

void *canary_judge_buffer(void)
{
	return malloc(BATCH * sizeof(*((struct canary_judge *)NULL)->buffer) +
		      4 * BATCH * sizeof(struct iovec));
}

struct pmm_reported *canary_judge_reported(const struct canary_judge *l)
{
	const size_t bytes = PMM_REPORTED * sizeof(struct pmm_reported);
	struct pmm_reported *all = l->reported_at ? malloc(bytes) : NULL;
	struct iovec here = { all, bytes }, there = { (void *)(uintptr_t)l->reported_at, bytes };

	if (all && process_vm_readv(l->pid, &here, 1, &there, 1, 0) == (ssize_t)bytes)
		return all;
	free(all);
	return NULL;
}
