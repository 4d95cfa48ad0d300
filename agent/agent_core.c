/* SPDX-License-Identifier: MIT */
/*
 * The agent's life: start at the first call of a hook, off on trouble, and the end of the program.
 */
#include "agent/agent_core.h"

#include "agent/agent_arena.h"
#include "agent/block_words.h"
#include "agent/clock.h"
#include "agent/unwind/module.h"
#include "agent/unwind/rule.h"
#include "agent/segment.h"
#include "agent/unwind/unwind.h"
#include "agent/wait.h"

#define SCRATCH_BYTES	(1u << 20)
#define CHEAP_CHUNKS	50000	/* 2.5 ms */
#define STUCK_TRIES	2000

struct agent agent __attribute__((aligned(64)));
static uint8_t never_single;

/*
 * What part of memory the table of leaves is for: around the program break, where the C library has
 * its heap. With another allocator the first block says.
 */
static uint64_t leaves_begin(void)
{
	bool libc = agent.glibc || !agent.code_end;	/* or injected, or compiled in */

	return libc ? leaves_around((uint64_t)sys1(brk, 0)) : LEAVES_NOWHERE;
}

/* Everything private in one mapping; the part that fork must wipe comes first. */
static bool memory_get(void)
{
	size_t known = ARCH_PAGE + AGENT_CTX_HASH * sizeof(struct ctx_entry);
	size_t wiped = known + LEAVES_BYTES;
	size_t rules = sizeof(struct rules);
	size_t modules = AGENT_MAX_MODULES * sizeof(struct agent_module);
	size_t bytes = wiped + rules + modules + SCRATCH_BYTES + AGENT_PATHS_BYTES;
	char *p = sys_mmap(bytes, SYS_PROT_READ | SYS_PROT_WRITE,
			   SYS_MAP_PRIVATE | SYS_MAP_ANONYMOUS | SYS_MAP_NORESERVE, -1);

	if (!p)
		return false;
	agent.private_start = p;
	agent.private_bytes = bytes;
	sys3(madvise, p, wiped, SYS_MADV_WIPEONFORK);
	agent.alive = (uint32_t *)p;
	agent.ctx_hash = (struct ctx_entry *)(p + ARCH_PAGE);
	agent.leaves = (uint64_t **)(p + known);
	agent.leaves_from = leaves_begin();
	agent.leaves_reach = LEAVES_REACH;
	agent.rules = (struct rules *)(p + wiped);
	agent.modules = (struct agent_module *)(p + wiped + rules);
	agent.scratch = p + wiped + rules + modules;
	agent.paths = agent.scratch + SCRATCH_BYTES;
	return true;
}

static bool followed(void)
{
	uint32_t root = LOAD(agent.tree->root_pid);

	if (agent.tree->flags & (PMM_TREE_FOLLOW | PMM_TREE_ATTACHED))
		return true;
	return root ? root == (uint32_t)agent.pid
		    : (uint32_t)sys0(getppid) == agent.tree->monitor_pid;
}

static bool start(void)
{
	if (segment_closed())
		return false;
	agent.pid = (int)sys0(getpid);
	if (!agent.compiled_in)
		agent.texts_bytes = UINT64_MAX;	/* there is the stack to distinguish them */
	if (!agent.single_threaded)
		agent.single_threaded = &never_single;
	if (!memory_get() || segment_open() || !followed() || segment_claim(true)) {
		if (agent.tree && !agent.ledger && followed())
			segment_lost();
		return false;
	}
	agent.follow = agent.tree->flags & PMM_TREE_FOLLOW;
	agent.sampled = agent.tree->mode == PMM_MODE_SAMPLED;
	agent.min_size = agent.tree->min_size_bytes;
	agent.warn_size = agent.tree->warn_size_bytes;
	agent.sizes = agent.min_size || agent.warn_size;
	agent.max_frames = agent.tree->max_frames;
	agent.code_epoch_seen = LOAD(agent.tree->code_epoch);
	if (agent.own_allocator)
		agent.ledger->off_reason = PMM_OFF_OWN_ALLOCATOR;
	*agent.alive = agent.generation = 1;
	return true;
}

bool agent_start(void)
{
	uint32_t unknown = AGENT_UNKNOWN;

	if (!CAS(agent.state, unknown, AGENT_STARTING))
		return agent_is_on();
	if (!start()) {
		STORE(agent.state, AGENT_OFF);
		return false;
	}
	STORE_RELEASE(agent.state, AGENT_ON);
	return true;
}

void agent_off(uint32_t reason)
{
	STORE(agent.state, AGENT_OFF);
	if (!agent.ledger || !agent_begun())
		return;
	STORE(agent.ledger->off_reason, reason);
	STORE(agent.ledger->state, PMM_STATE_OFF);
}

void agent_note_break(void)
{
	struct pmm_ledger *l = agent.ledger;
	uint64_t now;

	if (agent.no_break)
		return;
	now = (uint64_t)sys1(brk, 0);

	STORE(l->mapping.brk_now, now);
	if (now > LOAD(l->mapping.brk_max))
		STORE(l->mapping.brk_max, now);
}

/* glibc's struct mallinfo2, in its order. */
struct mallinfo2 {
	size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks,
		keepcost;
};

static void view_take(struct pmm_ledger *l)
{
	struct pmm_allocator_view *v = &l->allocator_view;
	struct mallinfo2 m;

	if (!agent.next.mallinfo2)
		return;
	m = ((struct mallinfo2 (*)(void))agent.next.mallinfo2)();
	v->arena_bytes = m.arena;
	v->used_bytes = m.uordblks;
	v->free_bytes = m.fordblks;
	v->free_chunks = m.ordblks;
	v->fast_chunks = m.smblks;
	v->fast_bytes = m.fsmblks;
	v->mmapped_chunks = m.hblks;
	v->mmapped_bytes = m.hblkhd;
	v->top_bytes = m.keepcost;
	v->tick = clock_now();
	STORE_RELEASE(v->valid, PMM_VIEW_TAKEN);
}

/*
 * Does this thread stay in the allocator? Suspended or cancelled there it would keep an arena's
 * lock.
 */
static bool stuck(const struct tctx *c)
{
	uint64_t seq = LOAD(c->pub.seq);

	for (unsigned i = 0; i < STUCK_TRIES; i++) {
		if (LOAD(c->busy) != TCTX_IN_ALLOCATOR || LOAD(c->pub.seq) != seq)
			return false;
		wait_between(i);
	}
	return true;
}

/*
 * May the allocator's locks be waited for at exit()? Not when a signal handler called it, which may
 * have interrupted fork() or malloc_trim() with the locks in their hands, nor when another thread
 * will not come out of the allocator.
 */
static bool view_safe(struct tctx *c, const struct caller *from)
{
	uint32_t nr = LOAD(agent.ledger->nr_ctx);
	bool interrupted;

	if (c->busy)
		return false;
	ctx_busy(c, from->sp);
	interrupted = unwind_interrupted(c, from);
	agent_leave(c);
	for (uint32_t i = 0; i < nr && !interrupted; i++) {
		pmm_ref ref = LOAD_ACQUIRE(agent.ledger->ctx[i]);

		if (ref && stuck(arena_at(ref)))
			return false;
	}
	return !interrupted;
}

/*
 * mallinfo2 walks all free chunks, some 50 ns each: at exit only where they cannot be many. No more
 * than were freed, and no more than fit into the heap beside what is live.
 */
static bool view_is_cheap(const struct pmm_ledger *l)
{
	uint64_t heap_chunks = (l->mapping.brk_now - l->mapping.brk_start) / 32, frees = 0;

	for (uint32_t i = 0; i < l->nr_ctx; i++)
		if (l->ctx[i])
			frees += pmm_ctx_sums(arena_at(l->ctx[i])).frees;
	return (frees < heap_chunks || l->nr_threads > 1 ? frees : heap_chunks) < CHEAP_CHUNKS;
}

/* Figures that were asked for before stay, with their time. */
static void view_pass(struct pmm_ledger *l, uint32_t why)
{
	if (agent.next.mallinfo2 && LOAD(l->allocator_view.valid) != PMM_VIEW_TAKEN)
		STORE_RELEASE(l->allocator_view.valid, why);
}

void agent_finish(const struct caller *from)
{
	struct pmm_ledger *l;
	struct tctx *c;

	if (!agent_is_on() || !LOAD(*agent.alive) || !(c = ctx_find()))
		return;
	l = agent.ledger;
	agent_note_break();
	if (!view_is_cheap(l))
		view_pass(l, PMM_VIEW_LONG);
	else if (!view_safe(c, from))
		view_pass(l, PMM_VIEW_LOCKED);
	else
		view_take(l);
	STORE(l->end_tick, clock_now());
	STORE_RELEASE(l->state, PMM_STATE_EXITED);
}

/* The monitor asked for the allocator's figures. Only from a hook that interrupted nothing. */
static __attribute__((noinline)) void view_answer(struct tctx *c)
{
	uint32_t one = 1;

	if (c->pub.level || !CAS(agent.ledger->want_view, one, 0))
		return;
	agent_note_break();
	view_take(agent.ledger);
}

void agent_look(struct tctx *c, bool locked)
{
	if (agent_check_due(c))
		clock_check();
	if (LOAD(agent.ledger->want_view) && !locked)
		view_answer(c);
}

/* Which context, with `c` busy? The innermost busy one knows whether its function calls. */
__attribute__((noinline)) struct tctx *agent_enter_busy(struct tctx *c, struct caller caller,
							bool locked)
{
	const struct caller *from = &caller;
	struct tctx *inner = c;

	while (inner->nested && inner->nested->busy)
		inner = inner->nested;
	if (inner->busy == TCTX_IN_ALLOCATOR && unwind_inside(inner, from, inner->pub.busy_sp))
		return NULL;
	c = ctx_nested(c, from->sp);
	return c ? agent_begin(c, from->sp, locked) : NULL;
}

struct tctx *agent_enter_outermost(const struct caller *from, bool locked)
{
	struct tctx *c = ctx_find();

	if (unlikely(!c))
		return NULL;
	return likely(!c->busy) ? agent_begin(c, from->sp, locked)
				: agent_enter_busy(c, *from, locked);
}
