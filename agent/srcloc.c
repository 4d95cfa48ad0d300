/* SPDX-License-Identifier: MIT */
/*
 * Source locations: interned by what they say, since one line of a header has a file name of its
 * own in every object that includes it.
 *
 * As with nodes, insertion is lock-free: filled, then put at the head of its hash chain. Each
 * context remembers the source locations it met last by the addresses of their texts, so the texts
 * are looked at once a thread.
 */
#include "agent/srcloc.h"

#include "agent/agent.h"
#include "agent/agent_arena.h"
#include "agent/node.h"
#include "agent/site.h"

#define HASH_BITS	10

static uint32_t text_hash(uint32_t hash, const char *text, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		hash = (hash ^ (uint8_t)text[i]) * 16777619u;
	return hash;
}

static uint32_t text_length(const char *text)
{
	size_t n = text ? str_length(text) : 0;

	return n < PMM_MAX_SRCLOC_TEXT ? (uint32_t)n : PMM_MAX_SRCLOC_TEXT;
}

static bool text_is(pmm_ref ref, uint32_t length, const char *text, uint32_t n)
{
	const char *known = ref ? arena_at(ref) : "";

	if (length != n)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (known[i] != text[i])
			return false;
	return true;
}

static struct pmm_srcloc *srcloc_at(uint32_t nr)
{
	pmm_ref chunk = LOAD_ACQUIRE(agent.ledger->srcloc_dir[nr >> PMM_SRCLOC_SHIFT]);

	return chunk ? (struct pmm_srcloc *)arena_at(chunk) + (nr & ((1u << PMM_SRCLOC_SHIFT) - 1))
		     : NULL;
}

/*
 * Search a chain from `nr` up to (not including) `until`. No further than there are source
 * locations: two processes that share a ledger for a moment, after a fork, could have made a ring
 * of it.
 */
static uint32_t srcloc_search(uint32_t nr, uint32_t until, const struct pmm_srcloc *key,
			      const struct srcloc *p)
{
	uint32_t left = LOAD(agent.ledger->nr_srclocs);

	for (const struct pmm_srcloc *at; nr != until && nr && left--; nr = at->next) {
		at = srcloc_at(nr);
		if (!at)
			return 0;
		if (at->hash == key->hash && at->line == p->line && at->flags == p->flags &&
		    text_is(at->file, at->file_len, p->file, key->file_len) &&
		    text_is(at->function, at->function_len, p->function, key->function_len))
			return nr;
	}
	return 0;
}

static uint32_t *buckets(void)
{
	uint32_t *table = LOAD_ACQUIRE(agent.srcloc_hash), *none = NULL;

	if (likely(table))
		return table;
	table = arena_get(sizeof(*table) << HASH_BITS, 64);
	if (!table)
		return NULL;
	return CAS(agent.srcloc_hash, none, table) ? table : none;
}

static uint32_t srcloc_new(const struct srcloc *p, const struct pmm_srcloc *key)
{
	uint32_t nr = LOAD(agent.ledger->nr_srclocs);
	struct pmm_srcloc *at;

	do
		if (nr >= PMM_MAX_SRCLOCS)
			return 0;
	while (!CAS(agent.ledger->nr_srclocs, nr, nr + 1));
	at = arena_chunk(agent.ledger->srcloc_dir, nr, PMM_SRCLOC_SHIFT, sizeof(*at));
	if (!at)
		return 0;
	*at = *key;
	at->file = key->file_len ? arena_string(p->file, key->file_len) : 0;
	at->function = key->function_len ? arena_string(p->function, key->function_len) : 0;
	return (!at->file && key->file_len) || (!at->function && key->function_len) ? 0 : nr;
}

/* Two threads that add one source location at once make two of it, of which one stays unused. */
static uint32_t srcloc_get(const struct srcloc *p)
{
	struct pmm_srcloc key = { .file_len = text_length(p->file),
				  .function_len = text_length(p->function),
				  .line = p->line,
				  .flags = p->flags };
	uint32_t *table = buckets(), *bucket, head, nr, found;

	if (!table)
		return 0;
	/* of a place, whatever the flags: srcloc_first() finds all of one in its chain */
	key.hash = text_hash(text_hash(p->line, p->file, key.file_len), p->function,
			     key.function_len) *
		   2654435761u;
	bucket = &table[key.hash >> (32 - HASH_BITS)];
	head = LOAD_ACQUIRE(*bucket);
	nr = srcloc_search(head, 0, &key, p);
	if (nr)
		return nr;
	nr = srcloc_new(p, &key);
	if (!nr)
		return 0;
	for (;;) {
		uint32_t seen = head;

		srcloc_at(nr)->next = seen;
		if (CAS(*bucket, head, nr))
			return nr;
		found = srcloc_search(head, seen, &key, p);
		if (found)
			return found;
	}
}

static const struct pmm_node *node_of(uint32_t site)
{
	const struct pmm_site *s = srcloc_site_at(site);

	return s && s->node ? node_at(s->node) : NULL;
}

uint32_t srcloc_under(uint32_t site)
{
	const struct pmm_node *n = node_of(site);

	return n ? n->parent : 0;
}

uint32_t srcloc_nr(uint32_t site)
{
	const struct pmm_node *n = node_of(site);

	return n && PMM_FRAME_MODULE(n->frame) == PMM_SRCLOC_MODULE
		       ? (uint32_t)PMM_FRAME_PC(n->frame)
		       : 0;
}

const struct pmm_srcloc *srcloc_number(uint32_t nr)
{
	return nr && nr < PMM_MAX_SRCLOCS ? srcloc_at(nr) : NULL;
}

static bool ref_same(pmm_ref a, pmm_ref b)
{
	return a == b || (a && b && str_equal(arena_at(a), arena_at(b)));
}

uint32_t srcloc_first(uint32_t nr)
{
	const struct pmm_srcloc *s = srcloc_number(nr), *at;
	uint32_t first = nr, left = LOAD(agent.ledger->nr_srclocs);

	for (uint32_t older = s ? s->next : 0; older && left--; older = at->next) {
		at = srcloc_at(older);
		if (!at)
			break;
		if (at->hash == s->hash && at->line == s->line && ref_same(at->file, s->file) &&
		    ref_same(at->function, s->function))
			first = older;
	}
	return first;
}

/* The site that is remembered for these addresses, if the same texts are there still; 0 = none. */
static uint32_t srcloc_remembered(struct tctx *c, const struct srcloc *p, uint32_t under)
{
	uint64_t what = (uint64_t)p->flags << 32 | p->line;
	const struct srcloc_known *k = srcloc_known_at(c->srclocs, p->file, what, under);
	const struct pmm_srcloc *at = srcloc_is(k, p->file, p->function, what, under)
					      ? srcloc_number(srcloc_nr(k->site))
					      : NULL;

	return at && text_is(at->file, at->file_len, p->file, text_length(p->file)) &&
			       text_is(at->function, at->function_len, p->function,
				       text_length(p->function))
		       ? k->site
		       : 0;
}

static uint32_t srcloc_make(struct tctx *c, const struct srcloc *p, uint32_t under)
{
	uint32_t nr = srcloc_get(p), site = nr ? site_get(node_get(under, PMM_FRAME_SRCLOC(nr)),
							  PMM_SITE_SRCLOC | p->flags)
					       : 0;

	if (!c->srclocs)
		c->srclocs = arena_get(sizeof(*c->srclocs), 64);
	if (c->srclocs && site)
		*srcloc_known_at(c->srclocs, p->file, (uint64_t)p->flags << 32 | p->line, under) =
			(struct srcloc_known){ p->file, p->function,
					       (uint64_t)p->flags << 32 | p->line, under, site };
	return site;
}

uint32_t srcloc_site_slow(struct tctx *c, const struct srcloc *p, uint32_t under)
{
	uint32_t site = c->srclocs ? srcloc_remembered(c, p, under) : 0;

	return site ? site : srcloc_make(c, p, under);
}
