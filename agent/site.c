/*
 * Call stacks as numbers: nodes of the call tree are hash-consed, a stack that allocates gets a site number, and each
 * context has a record of counters for each site it touches.
 *
 * Insertion is lock-free: a new node is filled, then put at the head of its hash chain by compare-and-swap; on
 * failure only the nodes that came in between have to be looked at. Nodes and sites are never taken out.
 */
#include "agent/site.h"

#include "agent/agent.h"
#include "agent/arena.h"
#include "agent/ctx.h"
#include "agent/sys.h"

#define NODE_HASH_SIZE	(1u << PMM_NODE_HASH_BITS)
#define NODES_MANY	NODE_HASH_SIZE
#define MORE_BITS	20	/* 4 MiB */

/*
 * A bucket: number of the newest node of its chain, and above that one bit out of eight for each node there is in the chain. So most of
 * what is not there is known not to be without a look at the chain, which is not in the processor's caches where there are many.
 */
#define BUCKET_NUMBER	(PMM_MAX_NODES - 1)
#define BUCKET_BITS_AT	24

_Static_assert(BUCKET_NUMBER >> BUCKET_BITS_AT == 0, "numbers of nodes and eight bits fit");

_Static_assert(PMM_NODE_HASH_OFF >= PMM_TOP_OFF(PMM_NR_TABLES) && PMM_NODE_HASH_OFF + NODE_HASH_SIZE * 4 <= PMM_ARENA_OFF,
	       "the node hash lies between tables and arena");

static inline struct pmm_node *node_at(uint32_t nr)
{
	return (struct pmm_node *)arena_at(A.ledger->node_dir[nr >> PMM_NODE_SHIFT]) +
	       (nr & ((1u << PMM_NODE_SHIFT) - 1));
}

static inline uint64_t node_hash(uint32_t parent, uint64_t frame)
{
	uint64_t h = (frame ^ (uint64_t)parent << 40 ^ parent) * 0x9e3779b97f4a7c15ull;

	h ^= h >> 29;
	return h * 0xbf58476d1ce4e5b9ull;
}

static inline uint32_t *node_bucket(uint64_t hash)
{
	return (uint32_t *)(A.base + PMM_NODE_HASH_OFF) + (hash >> (64 - PMM_NODE_HASH_BITS + A.node_fewer));
}

/* A node's bit in its bucket. */
static inline uint32_t bucket_bit(uint64_t hash)
{
	return 1u << (BUCKET_BITS_AT + (hash >> 32 & 7));
}

/* Search a chain from `nr` up to (not including) `until`. */
static inline uint32_t node_search(uint32_t nr, uint32_t until, uint32_t parent, uint64_t frame)
{
	while (nr != until && nr) {
		const struct pmm_node *n = node_at(nr);

		if (n->frame == frame && n->parent == parent)
			return nr;
		nr = n->next;
	}
	return 0;
}

static uint32_t number_get(uint32_t *counter, uint32_t max)
{
	uint32_t nr = LOAD(*counter);

	do
		if (nr >= max)
			return 0;
	while (!CAS(*counter, nr, nr + 1));
	return nr;
}

/* In a bucket that holds `head`. */
static inline uint32_t bucket_search(uint32_t head, uint64_t hash, uint32_t parent, uint64_t frame)
{
	return head & bucket_bit(hash) ? node_search(head & BUCKET_NUMBER, 0, parent, frame) : 0;
}

static __attribute__((noinline)) uint32_t node_new(uint32_t *bucket, uint32_t head, uint64_t hash, uint32_t parent, uint64_t frame)
{
	uint32_t nr = number_get(&A.ledger->nr_nodes, PMM_MAX_NODES);
	struct pmm_node *n;

	n = nr ? arena_chunk(A.ledger->node_dir, nr, PMM_NODE_SHIFT, sizeof(*n)) : NULL;
	if (!n)
		return 0;
	n->frame = frame;
	n->parent = parent;
	for (;;) {
		uint32_t seen = head & BUCKET_NUMBER, found;

		n->next = seen;
		if (CAS(*bucket, head, nr | (head & ~BUCKET_NUMBER) | bucket_bit(hash)))
			return nr;
		found = node_search(head & BUCKET_NUMBER, seen, parent, frame);
		if (found) {
			n->parent = 0;		/* this number stays unused */
			n->frame = 0;
			return found;
		}
	}
}

/*
 * Buckets for new nodes once there are so many that chains grow long, as where recursion makes ever new stacks; NULL: not yet, or there is
 * no room. Two threads that add the same node in that moment, each to its own buckets, make two of one stack, no more.
 */
static inline uint32_t *more_buckets(void)
{
	uint32_t *more = LOAD_ACQUIRE(A.node_more), no = 0;

	if (likely(more) || LOAD(A.ledger->nr_nodes) < NODES_MANY >> A.node_fewer / 2 || LOAD(A.node_more_tried) ||
	    !CAS(A.node_more_tried, no, 1))
		return more;
	more = arena_get(sizeof(*more) << MORE_BITS, ARCH_PAGE);
	STORE_RELEASE(A.node_more, more);
	return more;
}

/* The node is not among the first. */
static __attribute__((noinline)) uint32_t node_get_more(uint64_t hash, uint32_t *bucket, uint32_t head, uint32_t parent, uint64_t frame)
{
	uint32_t *more = more_buckets(), found = 0;

	if (more) {
		bucket = &more[hash >> (64 - MORE_BITS)];
		head = LOAD_ACQUIRE(*bucket);
		found = bucket_search(head, hash, parent, frame);
	}
	return found ? found : node_new(bucket, head, hash, parent, frame);
}

uint32_t node_get(uint32_t parent, uint64_t frame)
{
	uint64_t hash = node_hash(parent, frame);
	uint32_t *bucket = node_bucket(hash), head = LOAD_ACQUIRE(*bucket);
	uint32_t found = bucket_search(head, hash, parent, frame);

	return likely(found) ? found : node_get_more(hash, bucket, head, parent, frame);
}

static __attribute__((noinline)) uint32_t site_new(struct pmm_node *n, uint32_t node, uint32_t flags)
{
	uint32_t nr = number_get(&A.ledger->nr_sites, PMM_MAX_SITES), none = 0;
	struct pmm_site *s = nr ? arena_chunk(A.ledger->site_dir, nr, PMM_SITE_SHIFT, sizeof(*s)) : NULL;

	if (!s)
		return 0;
	s->flags = flags;
	s->node = node;
	if (CAS(n->site, none, nr))
		return nr;
	s->node = 0;			/* somebody else was faster */
	return none;
}

uint32_t site_get(uint32_t node, uint32_t flags)
{
	struct pmm_node *n;
	uint32_t site;

	if (unlikely(!node))
		return 0;
	n = node_at(node);
	site = LOAD_ACQUIRE(n->site);
	return likely(site) ? site : site_new(n, node, flags);
}

static __attribute__((noinline)) struct pmm_record *record_new(struct tctx *c, uint32_t site, uint64_t epoch)
{
	pmm_ref *page = &c->site_page[site >> 10];
	struct pmm_record *r;

	if (!*page) {
		void *p = arena_get(1024 * sizeof(pmm_ref), 64);

		if (!p)
			return NULL;
		*page = arena_ref(p);
	}
	r = arena_get(sizeof(*r), 64);
	if (!r)
		return NULL;
	r->site = site;
	r->epoch = epoch;
	r->next = c->pub.records;
	r->first_tick = UINT32_MAX;
	STORE_RELEASE(c->pub.records, arena_ref(r));
	((pmm_ref *)arena_at(*page))[site & 1023] = arena_ref(r);
	return r;
}

struct pmm_record *site_record(struct tctx *c, uint32_t site, uint64_t epoch)
{
	pmm_ref page = c->site_page[site >> 10];
	pmm_ref ref = likely(page) ? ((pmm_ref *)arena_at(page))[site & 1023] : 0;
	struct pmm_record *r;

	if (unlikely(!ref))
		return record_new(c, site, epoch);
	r = arena_at(ref);
	if (r->epoch < epoch) {
		r->at_peak_bytes = (int64_t)(r->bytes_in - r->bytes_out);
		r->at_peak_blocks = (int64_t)(r->allocs - r->frees);
		r->epoch = epoch;
	}
	return r;
}
