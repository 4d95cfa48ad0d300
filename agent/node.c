/* SPDX-License-Identifier: MIT */
/*
 * The call tree, hash-consed: nodes are numbered, and found by caller and frame in a table that
 * grows with them.
 *
 * The table has 4096 parts, by the hash's highest bits. A part is an array of slots (open
 * addressing, next slot on collision) in the arena, and one word that says where it is, how large,
 * and how many slots are used. A slot holds a node's number and 36 bits of its hash, so that a part
 * is copied into a larger array, and nearly all that is not there is known not to be, without a
 * look at nodes.
 *
 * Without locks; any thread may stop for ever at any instruction, handlers of signals come in
 * anywhere:
 *  - A node is filled, then put into the first empty slot of its way by compare-and-swap. The loser
 *    looks at what the winner put there, and continues behind it. Slots are never emptied, so of
 *    two threads that add the same node one finds the other's.
 *  - Who finds a part three quarters full gets an array twice as large (or four times), *closes*
 *    each empty slot of the old one, copies, and puts the new array into the part's word by
 *    compare-and-swap. A closed array takes no more nodes: who wanted to add one there waits a
 *    moment for the new array, and then makes one himself; of several the first one published
 *    counts, the others are lost arena. Readers of a closed array that do not find a node look
 *    again in the new one before they add it.
 *  - So a stack is found by one number, always, but for numbers that are never put into the table
 *    (who loses leaves his node empty).
 *
 * Order on weakly ordered processors: a slot, and a part's word, are published with release and
 * read with acquire, so a thread that sees a number sees its node and the directories that lead
 * there, also through a copy.
 *
 * Nodes are hashed by the frames of their whole stack, not by their caller's number: so the slots
 * of many nodes can be fetched at once, where one after the other would wait for memory each time.
 */
#include "agent/node.h"

#include "agent/sys.h"
#include "agent/wait.h"

#define PARTS_BITS	12
#define NUMBER_MASK	((uint64_t)PMM_MAX_NODES - 1)
#define NUMBER_BITS	28
/* no number: in slots that were empty when their array was closed */
#define CLOSED		((uint64_t)PMM_MAX_NODES)
#define GROW_TRIES	300

/*
 * A part's word: its array's reference:32 | log2 of its slots:6 | growing:1 | used:25. 0: none yet.
 */
#define PART_REF	0xffffffffull
#define PART_BITS_AT	32
#define PART_GROWING	(1ull << 38)
#define PART_USED_AT	39
#define PART_USED	(1ull << PART_USED_AT)
#define FIRST_BITS	3	/* a line of the processor's cache */
#define STEEP_BITS	11	/* arrays below that size grow fourfold */

_Static_assert(NUMBER_MASK >> NUMBER_BITS == 0 && CLOSED >> NUMBER_BITS == 1,
	       "numbers, and one bit more");
_Static_assert(8ull << PARTS_BITS == PMM_NODE_HASH_BYTES && !(PMM_NODE_HASH_BYTES & (PMM_PAGE - 1)),
	       "the parts' words");
_Static_assert(PMM_NODE_HASH_OFF >= PMM_TOP_OFF(PMM_NR_TABLES) &&
		       PMM_NODE_HASH_OFF + PMM_NODE_HASH_BYTES <= PMM_MARKS_OFF,
	       "they lie between tables and marks");

/* ---- numbers --------------------------------------------------------------------------------- */

void *number_get(uint32_t *counter, uint32_t max, void *(*entry)(uint32_t nr), uint32_t *nr)
{
	uint32_t next = LOAD(*counter);
	void *at;

	do
		if (next >= max || !arena_for_stacks() || !(at = entry(next)))
			return NULL;
	while (!CAS(*counter, next, next + 1));
	*nr = next;
	return at;
}

static void *node_entry(uint32_t nr)
{
	pmm_ref *chunk = arena_chunk(agent.ledger->node_dir, nr >> PMM_NODE_SHIFT,
				     PMM_NODE_DIR_SHIFT, sizeof(*chunk));

	return chunk ? arena_chunk(chunk, nr & ((1u << PMM_NODE_SHIFT) - 1), PMM_NODE_SHIFT,
				   sizeof(struct pmm_node))
		     : NULL;
}

static uint32_t node_new(uint32_t parent, uint64_t frame)
{
	uint32_t nr;
	struct pmm_node *n = number_get(&agent.ledger->nr_nodes, PMM_MAX_NODES, node_entry, &nr);

	if (!n)
		return 0;
	n->frame = frame;
	n->parent = parent;
	if (unlikely(agent.node_added))
		agent.node_added(nr, parent, frame);
	return nr;
}

/* The number stays unused. */
static void node_waste(uint32_t nr)
{
	struct pmm_node *n = node_at(nr);

	n->frame = 0;
	n->parent = 0;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static inline uint64_t *part_of(uint64_t hash)
{
	return (uint64_t *)(agent.base + PMM_NODE_HASH_OFF) + (hash >> (64 - PARTS_BITS));
}

/* What a slot has beside the number. */
static inline uint64_t key_of(uint64_t hash)
{
	return hash << PARTS_BITS & ~NUMBER_MASK;
}

static inline uint64_t *part_slots(uint64_t word)
{
	return arena_at((pmm_ref)(word & PART_REF));
}

static inline unsigned part_bits(uint64_t word)
{
	return word >> PART_BITS_AT & 63;
}

static inline bool part_is_full(uint64_t word)
{
	return (word >> PART_USED_AT) * 4 >= 3ull << part_bits(word);
}

/*
 * The node's number; else 0, and *end is the slot where its way ends, which holds no number: NULL
 * where there is none such.
 */
static inline uint32_t part_find(uint64_t word, uint64_t key, uint32_t parent, uint64_t frame,
				 uint64_t **end)
{
	unsigned bits = part_bits(word);
	uint64_t mask = (1ull << bits) - 1, i = key >> (64 - bits), *slots = part_slots(word);

	for (uint64_t left = mask + 1; left; left--, i = (i + 1) & mask) {
		uint64_t slot = LOAD_ACQUIRE(slots[i]);
		const struct pmm_node *n;

		if (!(slot & NUMBER_MASK)) {
			*end = &slots[i];
			return 0;
		}
		if (likely((slot ^ key) & ~NUMBER_MASK))
			continue;
		n = node_at(slot & NUMBER_MASK);
		if (likely(n->frame == frame && n->parent == parent))
			return slot & NUMBER_MASK;
	}
	*end = NULL;
	return 0;
}

/*
 * Close the array of `word` and put all there is in it into `to`, which no other thread sees yet.
 * Returns how many that are.
 */
static uint64_t part_copy(uint64_t word, uint64_t *to, unsigned bits)
{
	uint64_t *from = part_slots(word), mask = (1ull << bits) - 1, used = 0;

	for (uint64_t i = 0; i < 1ull << part_bits(word); i++) {
		uint64_t slot = LOAD_ACQUIRE(from[i]), at;

		if ((!slot && CAS(from[i], slot, CLOSED)) || slot == CLOSED)
			continue;
		for (at = slot >> (64 - bits); to[at]; at = (at + 1) & mask)
			;
		to[at] = slot;
		used++;
	}
	return used;
}

/*
 * Another thread is at it, and mostly done at once; but it may be the code that this signal handler
 * interrupted.
 */
static void part_wait(const uint64_t *part, uint64_t word)
{
	for (unsigned tries = 0; tries < GROW_TRIES && !((LOAD(*part) ^ word) & PART_REF); tries++)
		wait_between(tries);
}

/* A larger array for the part, whose word was `word`. False: there is no room for one. */
static __attribute__((noinline)) bool part_grow(uint64_t *part, uint64_t word)
{
	unsigned bits = !word ? FIRST_BITS
			      : part_bits(word) + (part_bits(word) < STEEP_BITS ? 2 : 1);
	uint64_t seen = word, *slots, now;

	if (word & PART_GROWING)
		part_wait(part, word);
	else
		CAS(*part, seen, word | PART_GROWING);
	seen = LOAD_ACQUIRE(*part);
	if ((seen ^ word) & PART_REF)
		return true;
	slots = arena_for_stacks() ? arena_get(sizeof(*slots) << bits, 64) : NULL;
	now = slots ? arena_ref(slots) | (uint64_t)bits << PART_BITS_AT : word & PART_REF;
	if (slots && word & PART_REF)
		now |= part_copy(word, slots, bits) << PART_USED_AT;
	do
		if ((seen ^ word) & PART_REF)
			return true;		/* another thread was faster; the array is lost */
	while (!CAS(*part, seen, slots ? now : seen & ~PART_GROWING));
	return slots;
}

static __attribute__((noinline)) uint32_t node_add(uint64_t *part, uint64_t key, uint32_t parent,
						   uint64_t frame)
{
	uint32_t nr = 0, found;

	for (;;) {
		uint64_t word = LOAD_ACQUIRE(*part), *end = NULL, empty = 0;

		found = word & PART_REF ? part_find(word, key, parent, frame, &end) : 0;
		if (found)
			break;
		if (!end || LOAD(*end) || (part_is_full(word) && !(word & PART_GROWING))) {
			if (part_grow(part, word))
				continue;
			if (!end || LOAD(*end))
				break;
		}
		if (!nr && !(nr = node_new(parent, frame)))
			return 0;
		if (CAS(*end, empty, key | nr)) {
			ADD(*part, PART_USED);
			return nr;
		}
	}
	if (nr)
		node_waste(nr);
	return found;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static inline uint64_t scramble(uint64_t hash)
{
	hash ^= hash >> 29;
	hash *= 0xbf58476d1ce4e5b9ull;
	return hash ^ hash >> 32;
}

static inline uint32_t node_get_hashed(uint64_t hash, uint32_t parent, uint64_t frame)
{
	uint64_t *part = part_of(hash), word = LOAD_ACQUIRE(*part), *end;
	uint32_t found = likely(word & PART_REF)
				 ? part_find(word, key_of(hash), parent, frame, &end)
				 : 0;

	return likely(found) ? found : node_add(part, key_of(hash), parent, frame);
}

static inline void slot_fetch(uint64_t hash)
{
	uint64_t word = LOAD(*part_of(hash));

	if (likely(word & PART_REF))
		arch_prefetch(&part_slots(word)[key_of(hash) >> (64 - part_bits(word))]);
}

void node_fetch_slot(uint64_t stack)
{
	slot_fetch(scramble(stack));
}

void node_fetch(uint64_t stack)
{
	uint64_t hash = scramble(stack), key = key_of(hash), word = LOAD_ACQUIRE(*part_of(hash)),
		 slot;

	if (unlikely(!(word & PART_REF)))
		return;
	slot = LOAD_ACQUIRE(part_slots(word)[key >> (64 - part_bits(word))]);
	if (likely(slot & NUMBER_MASK) && !((slot ^ key) & ~NUMBER_MASK))
		arch_prefetch(node_at(slot & NUMBER_MASK));
}

/* Is the node the innermost of these frames below `parent`? */
static inline bool run_is(uint32_t nr, uint32_t parent, const uint64_t *frame, uint32_t n)
{
	while (n--) {
		const struct pmm_node *node = node_at(nr);

		if (unlikely(node->frame != frame[n]))
			return false;
		nr = node->parent;
	}
	return nr == parent;
}

/*
 * The innermost node of a run whose nodes are all there: one look-up, and those nodes mostly are in
 * one or two lines.
 */
static inline uint32_t run_find(uint64_t hash, uint32_t parent, const uint64_t *frame, uint32_t n)
{
	uint64_t word = LOAD_ACQUIRE(*part_of(hash)), key = key_of(hash), *slots = part_slots(word);
	uint64_t mask = (1ull << part_bits(word)) - 1, i = key >> ((64 - part_bits(word)) & 63);

	for (uint64_t left = likely(word & PART_REF) ? mask + 1 : 0; left;
	     left--, i = (i + 1) & mask) {
		uint64_t slot = LOAD_ACQUIRE(slots[i]);

		if (!(slot & NUMBER_MASK))
			return 0;
		if (!((slot ^ key) & ~NUMBER_MASK) &&
		    likely(run_is(slot & NUMBER_MASK, parent, frame, n)))
			return slot & NUMBER_MASK;
	}
	return 0;
}

uint32_t node_get_run(uint32_t parent, const uint64_t *stack, const uint64_t *frame, uint32_t n)
{
	uint32_t found = run_find(scramble(stack[n]), parent, frame, n);

	if (likely(found))
		return found;
	for (uint32_t i = 1; i < n; i++)
		slot_fetch(scramble(stack[i]));
	for (uint32_t i = 0; i < n; i++) {
		parent = node_get_hashed(scramble(stack[i + 1]), parent, frame[i]);
		if (!parent)
			return 0;
	}
	return parent;
}

/* From the innermost frame outwards: node_hash() of all from the outermost inwards. */
static uint64_t stack_of(uint32_t nr)
{
	uint64_t stack = 0, factor = 1;

	while (nr) {
		const struct pmm_node *n = node_at(nr);

		stack += node_hash(0, n->frame) * factor;
		factor *= NODE_HASH_FACTOR;
		nr = n->parent < nr ? n->parent : 0;
	}
	return stack;
}

uint32_t node_get(uint32_t parent, uint64_t frame)
{
	uint64_t stack[2] = { stack_of(parent) };

	stack[1] = node_hash(stack[0], frame);
	return node_get_run(parent, stack, &frame, 1);
}
