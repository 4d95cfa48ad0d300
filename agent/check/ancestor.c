/*
 * Ledgers of the processes that this one was forked from.
 *
 * Nothing in them is trusted: a slot may be emptied and given to another process at any moment. Only what is mapped for certain is read, and
 * what was read counts only if the slot is still in the same use afterwards. Pages of an emptied slot read as zeroes.
 */
#include "agent/check/ancestor.h"

#include "agent/agent.h"
#include "agent/block.h"
#include "agent/module.h"
#include "agent/site.h"
#include "agent/sys.h"

#define COPIED	64		/* sites remembered */
#define COVERED	64		/* parts of its tables, each for 64 MiB; 32 KiB of ours */

static struct ancestor {
	const char *base;		/* its slot; NULL: nothing of it can be read */
	uint64_t limit;			/* bytes of the slot that can be */
	uint32_t generation;
	struct ancestor_slot of;
} ancestors[PMM_MAX_ANCESTORS];		/* by generation, modulo their number */

static struct copied {
	uint64_t what;			/* generation:32 | site:32; 0 = none */
	uint32_t site;			/* ours */
} copied[COPIED];

static inline bool in_use(const struct ancestor *a)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return a->base && LOAD(a->of.slot->use) == a->of.use;
}

void ancestor_add(struct pmm_ledger *l, uint32_t generation, const struct ancestor_slot *of)
{
	struct ancestor *a = &ancestors[generation % PMM_MAX_ANCESTORS];
	uint64_t ready = LOAD(l->arena_ready);

	memset(copied, 0, sizeof(copied));
	*a = (struct ancestor){ .generation = generation, .of = *of, .limit = ready };
	if (!of->slot || LOAD(l->magic) != PMM_LEDGER_MAGIC || ready < PMM_ARENA_OFF || ready > A.tree->slot_bytes)
		return;
	/* it may have grown since the fork: what it has now can be read, too */
	if (sys_failed(sys3(mprotect, l, ready, SYS_PROT_READ | SYS_PROT_WRITE)))
		return;
	a->base = (const char *)l;
}

static const struct ancestor *ancestor_find(uint32_t generation)
{
	const struct ancestor *a = &ancestors[generation % PMM_MAX_ANCESTORS];

	return a->of.pid && (uint16_t)a->generation == (uint16_t)generation ? a : NULL;
}

uint32_t ancestor_pid(uint32_t generation)
{
	const struct ancestor *a = ancestor_find(generation);

	return a ? a->of.pid : 0;
}

/* Entry `nr` of a chunked array there; NULL: none that could be read. */
static const void *entry_at(const struct ancestor *a, const pmm_ref *dir, uint32_t nr, uint32_t shift, size_t bytes)
{
	uint64_t off = (uint64_t)LOAD_ACQUIRE(dir[nr >> shift]) << PMM_REF_SHIFT;

	if (off < PMM_ARENA_OFF || off >= a->limit || a->limit - off < bytes << shift)
		return NULL;
	return a->base + off + (nr & ((1u << shift) - 1)) * bytes;
}

static const struct pmm_ledger *ledger_of(const struct ancestor *a)
{
	return (const struct pmm_ledger *)a->base;
}

static const struct pmm_node *node_of(const struct ancestor *a, uint32_t nr)
{
	return nr && nr < PMM_MAX_NODES ? entry_at(a, ledger_of(a)->node_dir, nr, PMM_NODE_SHIFT, sizeof(struct pmm_node)) : NULL;
}

/* Caller of a node; 0: it has none, or makes no sense. */
static uint32_t parent_of(const struct ancestor *a, uint32_t nr)
{
	const struct pmm_node *n = node_of(a, nr);
	uint32_t parent = n ? LOAD(n->parent) : 0;

	return parent < nr ? parent : 0;
}

void ancestor_cover(uint32_t generation)
{
	const struct ancestor *a = ancestor_find(generation);
	pmm_ref ref = a && in_use(a) ? LOAD_ACQUIRE(ledger_of(a)->table[PMM_TABLE_HEAP].mids) : 0;

	for (unsigned i = 0; ref && i < COVERED; i++) {
		uint64_t off = (uint64_t)ref << PMM_REF_SHIFT, base;
		const struct pmm_mid *mid = (const struct pmm_mid *)(a->base + off);

		if (off < PMM_ARENA_OFF || off >= a->limit || a->limit - off < sizeof(*mid))
			return;
		base = LOAD(mid->base);
		ref = LOAD(mid->next);
		if (!in_use(a))
			return;
		block_cover(base);
	}
}

/* Modules known at the fork have the same numbers here, unless their list had to be made anew. */
static uint64_t frame_here(uint64_t frame)
{
	const struct pmm_module *rec = NULL;
	uint64_t pc = PMM_FRAME_PC(frame);
	uint32_t nr = PMM_FRAME_MODULE(frame);
	struct agent_module m;
	pmm_ref chunk;

	if (!nr)
		return frame;
	chunk = nr < LOAD(A.ledger->nr_modules) ? LOAD_ACQUIRE(A.ledger->module_dir[nr >> PMM_MODULE_SHIFT]) : 0;
	if (chunk)
		rec = (const struct pmm_module *)(A.base + ((uint64_t)chunk << PMM_REF_SHIFT)) + (nr & ((1u << PMM_MODULE_SHIFT) - 1));
	if (rec && pc >= rec->start && pc < rec->end)
		return frame;
	return pc | (uint64_t)(module_find(pc, &m) ? m.id : 0) << 48;
}

/*
 * The stack that ends at node `nr`, from the outermost frame inwards. In steps that each begin at the innermost frame again: there is no
 * place for a whole stack here, which may be a signal's.
 */
static uint32_t stack_copy(const struct ancestor *a, uint32_t nr)
{
	uint32_t depth = 0, node = 0;

	for (uint32_t at = nr; at && depth <= PMM_MAX_FRAMES; at = parent_of(a, at))
		depth++;
	for (uint32_t left = depth; left; left--) {
		const struct pmm_node *n;
		uint32_t at = nr;

		for (uint32_t i = 1; i < left; i++)
			at = parent_of(a, at);
		n = node_of(a, at);
		node = n ? node_get(node, frame_here(LOAD(n->frame))) : 0;
		if (!node)
			return 0;
	}
	return node;
}

uint32_t ancestor_site(uint32_t generation, uint32_t site)
{
	const struct ancestor *a = ancestor_find(generation);
	uint64_t what = (uint64_t)(generation + 1) << 32 | site;
	struct copied *seen = &copied[(site ^ generation << 3) % COPIED];
	const struct pmm_site *s;
	uint32_t nr;

	if (!site || site >= PMM_MAX_SITES || !a || !in_use(a))
		return 0;
	if (LOAD_ACQUIRE(seen->what) == what && (nr = LOAD(seen->site)) && LOAD_ACQUIRE(seen->what) == what)
		return nr;
	s = entry_at(a, ledger_of(a)->site_dir, site, PMM_SITE_SHIFT, sizeof(*s));
	nr = s ? stack_copy(a, LOAD(s->node)) : 0;
	if (!nr || !in_use(a))
		return 0;
	nr = site_get(nr, 0);
	STORE_RELEASE(seen->what, 0);
	STORE_RELEASE(seen->site, nr);
	STORE_RELEASE(seen->what, what);
	return nr;
}
