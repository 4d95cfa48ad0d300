/* SPDX-License-Identifier: MIT */
/*
 * Stacks as this process and those that it was forked from have numbered them, in private memory.
 *
 * Chunked arrays: a directory of chunks that are mapped when they are first needed. An entry is
 * written by the thread that has taken its number, before any thread can refer to it; where there
 * is no memory for its chunk it stays unknown, and so a stack that leads through it.
 */
#include "agent/guard/ancestor.h"

#include "agent/agent.h"
#include "agent/block.h"
#include "agent/unwind/module.h"
#include "agent/node.h"
#include "agent/site.h"
#include "agent/sys.h"

#define COPIED		64		/* sites remembered */
#define COVERED		64		/* parts of the heap, each of 64 MiB */
#define CHUNK_BYTES	(64ull << 10)
#define NODES		(CHUNK_BYTES / sizeof(struct kept_node))	/* in a chunk */
#define SITES		(CHUNK_BYTES / sizeof(uint32_t))
#define MOST_NODES	(1u << 24)	/* later ones are not kept */
#define MOST_SITES	(1u << 22)

struct kept_node {
	uint64_t frame;
	uint32_t parent;
	uint32_t there;			/* 1 = filled in */
};

struct kept {
	struct kept_node *node[MOST_NODES / NODES];
	uint32_t *site[MOST_SITES / SITES];	/* node it ends at, 0 = none */
	uint64_t base[COVERED];
	uint32_t nr_bases;
};

static struct ancestor {
	struct kept *kept;		/* NULL: nothing of its stacks is known */
	uint32_t generation;
	uint32_t pid;			/* 0 = no such process */
} ancestors[PMM_MAX_ANCESTORS]; /* by generation, modulo their number; this process among them */

static struct kept *mine;

static struct copied {
	uint64_t what;			/* generation:32 | site:32; 0 = none */
	uint32_t site;			/* ours */
} copied[COPIED];

static void *memory(uint64_t bytes)
{
	return sys_mmap(bytes, SYS_PROT_READ | SYS_PROT_WRITE,
			SYS_MAP_PRIVATE | SYS_MAP_ANONYMOUS | SYS_MAP_NORESERVE, -1);
}

/* ---- keeping */

/* A chunk for good, whichever thread makes it first. */
static void *chunk_get(void **place)
{
	void *chunk = LOAD_ACQUIRE(*place), *none = NULL;

	if (likely(chunk))
		return chunk;
	if (agent.confined || !(chunk = memory(CHUNK_BYTES)))
		return NULL;
	if (CAS(*place, none, chunk))
		return chunk;
	sys2(munmap, chunk, CHUNK_BYTES);
	return none;
}

static void node_added(uint32_t nr, uint32_t parent, uint64_t frame)
{
	struct kept_node *chunk = nr < MOST_NODES ? chunk_get((void **)&mine->node[nr / NODES])
						  : NULL;

	if (!chunk)
		return;
	chunk[nr % NODES] = (struct kept_node){ .frame = frame, .parent = parent };
	STORE_RELEASE(chunk[nr % NODES].there, 1);
}

static void site_added(uint32_t nr, uint32_t node)
{
	uint32_t *chunk = nr < MOST_SITES ? chunk_get((void **)&mine->site[nr / SITES]) : NULL;

	if (chunk)
		STORE(chunk[nr % SITES], node);
}

static void mid_added(uint64_t base)
{
	uint32_t nr = LOAD(mine->nr_bases);

	do
		if (nr >= COVERED)
			return;
	while (!CAS(mine->nr_bases, nr, nr + 1));
	/* 0 = not filled in yet; no pointer, for a search for leaks looks here, too */
	STORE(mine->base[nr], ~base);
}

static void forget(struct kept *k)
{
	if (!k)
		return;
	for (unsigned i = 0; i < MOST_NODES / NODES; i++)
		if (k->node[i])
			sys2(munmap, k->node[i], CHUNK_BYTES);
	for (unsigned i = 0; i < MOST_SITES / SITES; i++)
		if (k->site[i])
			sys2(munmap, k->site[i], CHUNK_BYTES);
	sys2(munmap, k, sizeof(*k));
}

void ancestor_begin(uint32_t generation, uint32_t pid)
{
	struct ancestor *a = &ancestors[generation % PMM_MAX_ANCESTORS];
	bool can = !agent.confined;

	memset(copied, 0, sizeof(copied));
	if (can)
		forget(a->kept);
	*a = (struct ancestor){ .kept = can ? memory(sizeof(*a->kept)) : NULL,
				.generation = generation,
				.pid = pid };
	mine = a->kept;
	agent.node_added = mine ? node_added : NULL;
	agent.site_added = mine ? site_added : NULL;
	agent.mid_added = mine ? mid_added : NULL;
}

/* ---- looking */

static const struct ancestor *ancestor_find(uint32_t generation)
{
	const struct ancestor *a = &ancestors[generation % PMM_MAX_ANCESTORS];

	return a->pid && (uint16_t)a->generation == (uint16_t)generation ? a : NULL;
}

uint32_t ancestor_pid(uint32_t generation)
{
	const struct ancestor *a = ancestor_find(generation);

	return a ? a->pid : 0;
}

static const struct kept_node *node_of(const struct ancestor *a, uint32_t nr)
{
	const struct kept_node *chunk = nr && nr < MOST_NODES
						? LOAD_ACQUIRE(a->kept->node[nr / NODES])
						: NULL;

	return chunk && LOAD_ACQUIRE(chunk[nr % NODES].there) ? &chunk[nr % NODES] : NULL;
}

/* Caller of a node; 0: it has none, or is not known. */
static uint32_t parent_of(const struct ancestor *a, uint32_t nr)
{
	const struct kept_node *n = node_of(a, nr);

	return n && n->parent < nr ? n->parent : 0;
}

void ancestor_cover(uint32_t generation)
{
	const struct ancestor *a = ancestor_find(generation);

	for (unsigned i = 0; a && a->kept && i < COVERED; i++) {
		uint64_t base = LOAD(a->kept->base[i]);

		if (base)
			block_cover(~base);
	}
}

/* Modules known at the fork have the same numbers here, unless their list had to be made anew. */
static uint64_t frame_here(uint64_t frame)
{
	const struct pmm_module *rec = NULL;
	uint64_t pc = PMM_FRAME_PC(frame);
	uint32_t nr = PMM_FRAME_MODULE(frame);
	struct module_at m;
	pmm_ref chunk;

	if (!nr)
		return frame;
	chunk = nr < LOAD(agent.ledger->nr_modules)
			? LOAD_ACQUIRE(agent.ledger->module_dir[nr >> PMM_MODULE_SHIFT])
			: 0;
	if (chunk)
		rec = (const struct pmm_module *)(agent.base + ((uint64_t)chunk << PMM_REF_SHIFT)) +
		      (nr & ((1u << PMM_MODULE_SHIFT) - 1));
	if (rec && pc >= rec->start && pc < rec->end)
		return frame;
	return pc | (uint64_t)(module_find(pc, &m) ? m.id : 0) << 48;
}

/*
 * The stack that ends at node `nr`, from the outermost frame inwards. In steps that each begin at
 * the innermost frame again: there is no place for a whole stack here, which may be a signal's.
 */
static uint32_t stack_copy(const struct ancestor *a, uint32_t nr)
{
	uint32_t depth = 0, node = 0;

	for (uint32_t at = nr; at && depth <= PMM_MAX_FRAMES; at = parent_of(a, at))
		depth++;
	for (uint32_t left = depth; left; left--) {
		const struct kept_node *n;
		uint32_t at = nr;

		for (uint32_t i = 1; i < left; i++)
			at = parent_of(a, at);
		n = node_of(a, at);
		node = n ? node_get(node, frame_here(n->frame)) : 0;
		if (!node)
			return 0;
	}
	return node;
}

static uint32_t node_of_site(const struct ancestor *a, uint32_t site)
{
	const uint32_t *chunk = site && site < MOST_SITES && a && a->kept
					? LOAD_ACQUIRE(a->kept->site[site / SITES])
					: NULL;

	return chunk ? LOAD(chunk[site % SITES]) : 0;
}

uint32_t ancestor_site(uint32_t generation, uint32_t site)
{
	const struct ancestor *a = ancestor_find(generation);
	uint64_t what = (uint64_t)(generation + 1) << 32 | site;
	struct copied *seen = &copied[(site ^ generation << 3) % COPIED];
	uint32_t nr = node_of_site(a, site);

	if (!nr)
		return 0;
	if (LOAD_ACQUIRE(seen->what) == what) {
		uint32_t known = LOAD_ACQUIRE(seen->site);	/* before the word once more */

		if (known && LOAD_ACQUIRE(seen->what) == what)
			return known;
	}
	nr = stack_copy(a, nr);
	if (!nr)
		return 0;
	nr = site_get(nr, 0);
	STORE_RELEASE(seen->what, 0);
	STORE_RELEASE(seen->site, nr);
	STORE_RELEASE(seen->what, what);
	return nr;
}
