/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Live guarded blocks: each has a record of its own (struct pmm_guard, include/pmm/check.h) in
 * place of a word in the block tables.
 *
 * The agent sets a record's state last when a block comes and first when it goes, so two copies in
 * a row that agree and say LIVE are of a block that was. Frozen (precopy.h), the records are read
 * from the copy, as the tables are.
 */
#include "src/ledger/ledger_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/vec.h"

#define CHUNK_GUARDS	(1u << PMM_GUARD_SHIFT)
#define CHUNK_BYTES	(CHUNK_GUARDS * sizeof(struct pmm_guard))
#define NR_CHUNKS	(PMM_MAX_GUARDS >> PMM_GUARD_SHIFT)

struct guards {
	struct ledger_reader *r;
	struct pmm_guard *chunk, *again;	/* CHUNK_GUARDS each */
	VEC(struct heap_block) live;
};

/* False: it makes no sense. */
static bool decode(const struct pmm_guard *g, struct heap_block *to)
{
	*to = (struct heap_block){
		.address = g->address,
		.size_bytes = g->size_bytes,
		.birth_ns = g->tick * PMM_TICK_NS,
		.site = g->site,
		.thread = g->thread,
		.kind = (uint8_t)g->kind,
	};
	return g->address && !(g->address >> PMM_ADDRESS_BITS) && g->size_bytes <= PMM_SIZE_MAX &&
	       g->kind > PMM_KIND_NONE && g->kind < PMM_NR_KINDS;
}

/* Blocks of the process that it was forked from are none of its own, as in the tables. */
static int add_chunk(struct guards *s)
{
	struct ledger_reader *r = s->r;

	for (uint32_t i = 0; i < CHUNK_GUARDS; i++) {
		const struct pmm_guard *g = &s->chunk[i];
		struct heap_block b;

		if (g->state != PMM_GUARD_LIVE || g->pid != r->l->pid)
			continue;
		if (!decode(g, &b))
			ledger_reader_odd(r);
		else if (ledger_reader_take(r, 2 * sizeof(b)))	/* here and among all blocks */
			return -EFBIG;
		else if (vec_push(&s->live, b))
			return -ENOMEM;
	}
	return 0;
}

/* Bounded by the arena: more chunks than it can hold are not all different. */
static int collect(struct guards *s, const pmm_ref *dir)
{
	struct ledger_reader *r = s->r;
	uint64_t most = ledger_reader_arena(r) / CHUNK_BYTES + 1, seen = 0;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < NR_CHUNKS; i++) {
		if (!dir[i])
			continue;
		if (seen++ == most) {
			r->damaged++;
			return 0;
		}
		if (ledger_reader_part_settled(r, (uint64_t)dir[i] << PMM_REF_SHIFT, s->chunk,
					       s->again, CHUNK_BYTES))
			r->damaged++;
		else
			rc = add_chunk(s);
	}
	return rc;
}

static int compare(const void *a, const void *b)
{
	const struct heap_block *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Sort the blocks found and drop those whose address is taken, by each other or in the tables. */
static void make_unique(struct guards *s)
{
	const struct heap *h = s->r->h;
	size_t kept = 0;

	vec_sort(&s->live, compare);
	for (size_t i = 0; i < s->live.nr; i++) {
		uint64_t address = s->live.v[i].address;

		if ((kept && s->live.v[kept - 1].address == address) ||
		    (h->nr_blocks &&
		     bsearch(&s->live.v[i], h->blocks, h->nr_blocks, sizeof(*h->blocks), compare)))
			ledger_reader_odd(s->r);
		else
			s->live.v[kept++] = s->live.v[i];
	}
	s->live.nr = kept;
}

/* Into the heap's blocks, from the end: what is below all guarded blocks stays where it is. */
static int merge(struct guards *s)
{
	struct heap *h = s->r->h;
	uint64_t to = h->nr_blocks + s->live.nr, from = h->nr_blocks;
	struct heap_block *blocks = realloc(h->blocks, to * sizeof(*blocks));

	if (!blocks)
		return -ENOMEM;
	h->blocks = blocks;
	h->nr_blocks = to;
	for (size_t left = s->live.nr; left;) {
		if (from && blocks[from - 1].address > s->live.v[left - 1].address)
			blocks[--to] = blocks[--from];
		else
			blocks[--to] = s->live.v[--left];
	}
	return 0;
}

int ledger_read_guards(struct ledger_reader *r)
{
	const struct ledger_frozen *f = r->o->frozen;
	const pmm_ref *dir = f && f->guard_dir ? f->guard_dir : r->l->guard_dir;
	struct guards s = { .r = r };
	int rc = -ENOMEM;

	if (r->h->check.level == PMM_CHECK_NONE)
		return 0;
	s.chunk = calloc(CHUNK_GUARDS, sizeof(*s.chunk));
	s.again = calloc(CHUNK_GUARDS, sizeof(*s.again));
	if (s.chunk && s.again)
		rc = collect(&s, dir);
	if (!rc && s.live.nr) {
		make_unique(&s);
		rc = merge(&s);
	}
	free(s.chunk);
	free(s.again);
	vec_fini(&s.live);
	return rc;
}
