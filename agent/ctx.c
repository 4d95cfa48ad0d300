/* SPDX-License-Identifier: MIT */
/*
 * Contexts: per-thread state without a TLS section, found by hashing the thread pointer.
 *
 * The hash table is in memory that fork wipes, so a forked child misses at its first event and
 * lands here, however it was forked. vfork and posix_spawn children share the parent's memory and
 * thread pointer; they use the parent's context while the parent waits, which is right: it is the
 * parent's heap they change.
 *
 * A thread whose pointer is known but whose id is another is a new thread on an old stack: it takes
 * the context over. Contexts of ended threads are adopted before new ones are made, so their number
 * follows the threads alive at once.
 */
#include "agent/ctx.h"

#include "agent/agent_arena.h"
#include "agent/clock.h"
#include "agent/unwind/module.h"
#include "agent/record.h"
#include "agent/unwind/rule.h"
#include "agent/sample.h"
#include "agent/segment.h"
#include "agent/seqlock.h"
#include "agent/unwind/unwind.h"
#include "agent/wait.h"

#define ADOPT_TRIES	16
/* where there can be no more: of each event of a thread that has none */
#define ADOPT_TRIES_FULL 4
#define PROBES		8
#define START_TRIES	100000
#define SS_ONSTACK	1

/*
 * Where the C library keeps the thread id: found by looking for it, since the layout is its own
 * business.
 */
static uint32_t tid_offset_find(uint64_t tp, uint32_t tid)
{
	static const uint16_t usual[] = { 0x2d0, 0x30, 0x38 };	/* glibc, musl */

	for (unsigned i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		/* another library's thread block may end before that, and its memory with it */
		if (sys_readable(tp + usual[i]) && *(volatile uint32_t *)(tp + usual[i]) == tid)
			return usual[i];
	return 0;
}

static void thread_name(char *name)
{
	enum { PR_GET_NAME = 16 };

	if (!agent.confined)
		sys2(prctl, PR_GET_NAME, name);
}

/*
 * Close the record of the thread that had the context. The last record is of all threads that are
 * beyond it, one after the other and at once: it is never closed, and their sums add up.
 */
static void thread_retire(struct tctx *c)
{
	struct pmm_thread *t = arena_chunk(agent.ledger->thread_dir, c->pub.thread,
					   PMM_THREAD_SHIFT, sizeof(*t));
	struct pmm_sums sums = pmm_ctx_sums(&c->pub);

	if (!t || !t->current || c->pub.level)
		return;
	ADD(t->sums.allocs, sums.allocs - c->pub.base.allocs);
	ADD(t->sums.frees, sums.frees - c->pub.base.frees);
	ADD(t->sums.bytes_in, sums.bytes_in - c->pub.base.bytes_in);
	ADD(t->sums.bytes_out, sums.bytes_out - c->pub.base.bytes_out);
	if (c->pub.thread == PMM_MAX_THREADS - 1)
		c->pub.base = sums;	/* what is added is the context's no more */
	else
		STORE_RELEASE(t->current, 0);	/* who reads 0 finds the sums complete */
}

/* A number and a record for the calling thread. */
static void thread_new(struct tctx *c, uint32_t tid)
{
	struct pmm_ledger *l = agent.ledger;
	uint32_t nr = LOAD(l->nr_threads);
	struct pmm_thread *t;

	do
		if (nr >= PMM_MAX_THREADS)
			break;
	while (!CAS(l->nr_threads, nr, nr + 1));
	if (nr >= PMM_MAX_THREADS)
		nr = PMM_MAX_THREADS - 1;
	c->pub.base = pmm_ctx_sums(&c->pub);
	c->pub.thread = nr;
	t = arena_chunk(l->thread_dir, nr, PMM_THREAD_SHIFT, sizeof(*t));
	if (!t)
		return;
	t->tid = tid;
	t->start_tick = clock_now();
	t->ctx = c->pub.number;
	thread_name(t->name);
	STORE_RELEASE(t->current, 1);
}

/* The event that the context was in will not be completed, if it was in one. */
static void event_abandon(struct tctx *c)
{
	if (c->pub.seq & 1)
		STORE(agent.ledger->cut, 1);
	seqlock_write_abandon(&c->pub.seq);
}

/* Start afresh what belongs to a thread and not to the context. */
static void ctx_reset(struct tctx *c, uint64_t tp, uint32_t tid)
{
	STORE(c->tp, tp);
	if (c->busy == TCTX_RECORDING) {	/* its thread ended in the middle of an event */
		unwind_recover(c);
		site_recover(c);
	}
	c->busy = TCTX_IDLE;
	event_abandon(c);
	c->last_address = 0;
	c->stamp = (struct block_stamp){ .now = BLOCK_NEVER };
	unwind_forget(c);
	c->random = clock_ns(SYS_CLOCK_MONOTONIC) * 0x9e3779b97f4a7c15ull ^ (uint64_t)tid << 32 ^
		    tp;
	c->sampling = false;
	c->bytes_left = 0;
	c->pub.pool_sp = 0;
	for (unsigned i = 0; i < PMM_NR_MOVES; i++)
		STORE(c->pub.move[i].address, 0);
	c->throwing = false;
	c->countdown = ctx_countdown(c);
	if (c->nested)
		ctx_reset(c->nested, 0, tid);
	STORE_RELEASE(c->tid, tid);
}

static struct tctx *ctx_new(void)
{
	struct pmm_ledger *l = agent.ledger;
	size_t bytes = (sizeof(struct tctx) + 63) & ~63ul;
	uint32_t nr = LOAD(l->nr_ctx);
	struct tctx *c = nr < PMM_MAX_CTX ? arena_get(bytes + unwind_bytes(), 64) : NULL;

	if (!c)
		return NULL;
	unwind_init(c, (char *)c + bytes);
	do
		if (nr >= PMM_MAX_CTX)
			return NULL;
	while (!CAS(l->nr_ctx, nr, nr + 1));
	c->pub.number = nr;
	STORE_RELEASE(l->ctx[nr], arena_ref(c));
	return c;
}

/* The entry of a thread pointer's neighbourhood that holds it, else a free one, else the first. */
static struct ctx_entry *entry_near(uint64_t tp)
{
	uint32_t at = ctx_hash_of(tp);
	struct ctx_entry *free = NULL;

	for (uint32_t i = 0; i < PROBES; i++) {
		struct ctx_entry *e = &agent.ctx_hash[(at + i) % AGENT_CTX_HASH];

		if (LOAD(e->tp) == tp)
			return e;
		if (!LOAD(e->tp) && !free)
			free = e;
	}
	return free ? free : &agent.ctx_hash[at];
}

/*
 * Take a context from the thread `owner`, which has ended. False when another thread is doing
 * so.
 */
static bool ctx_seize(struct tctx *c, uint32_t owner)
{
	return owner && CAS(c->tid, owner, 0);
}

/*
 * Take over the context of a thread that has ended. Those that are looked at are spread evenly, by
 * the golden ratio, and not neighbours: threads that stay have neighbouring ones, and each time
 * that nobody among them has ended there would be one context more.
 */
static struct tctx *ctx_adopt(void)
{
	static uint32_t turn;
	uint32_t nr = LOAD(agent.ledger->nr_ctx);
	uint32_t tries = nr < PMM_MAX_CTX ? ADOPT_TRIES : ADOPT_TRIES_FULL;

	for (uint32_t i = 0; i < tries && i < 3 * nr && !agent.confined; i++) {
		uint64_t at = (uint64_t)(ADD(turn, 1) * 0x9e3779b9u) * nr >> 32;
		pmm_ref ref = LOAD_ACQUIRE(agent.ledger->ctx[at]);
		struct tctx *c = ref ? arena_at(ref) : NULL;
		uint32_t tid = c ? LOAD(c->tid) : 0;

		if (tid && !c->pub.level && sys3(tgkill, agent.pid, tid, 0) == -SYS_ESRCH &&
		    ctx_seize(c, tid)) {
			struct ctx_entry *e = entry_near(c->tp);

			if (LOAD(e->ctx) == c)
				STORE(e->tp, 0);
			return c;
		}
	}
	return NULL;
}

/*
 * The context of this thread pointer when its hash entry is taken by another thread's: a list by
 * context number.
 */
static struct tctx *ctx_search(uint64_t tp)
{
	uint32_t nr = LOAD(agent.ledger->nr_ctx);

	for (uint32_t i = 0; i < nr; i++) {
		pmm_ref ref = LOAD_ACQUIRE(agent.ledger->ctx[i]);
		struct tctx *c = ref ? arena_at(ref) : NULL;

		if (c && LOAD(c->tp) == tp && !c->pub.level)
			return c;
	}
	return NULL;
}

/* A ledger for this process, where there is one to be had. */
static bool child_claim(void)
{
	if (!agent.follow)
		return false;
	if (!segment_claim(false))
		return true;
	segment_lost();
	return false;
}

static bool child_begin(void)
{
	agent.pid = agent.confined ? (int)ctx_tid(arch_thread_pointer()) : (int)sys0(getpid);
	/* another thread of the parent was changing the list */
	if (LOAD(agent.module_lock)) {
		agent.nr_modules = 0;
		rule_flush();
		agent.module_reading = false;
		agent.module_lock = 0;
	}
	if (!child_claim()) {
		STORE(agent.state, AGENT_OFF);
		agent.file = agent.base = NULL;		/* the parent's */
		agent.ledger = NULL;
		agent.slot = NULL;
		return false;
	}
	agent.ledger->forked = 1;
	if (agent.own_allocator)
		agent.ledger->off_reason = PMM_OFF_OWN_ALLOCATOR;
	memset(agent.ctx_hash, 0, AGENT_CTX_HASH * sizeof(*agent.ctx_hash));
	if (agent.sampled)
		memset(sample_pages, 0, sizeof(sample_pages));
	module_record_all();
	agent.generation += agent.generation == UINT32_MAX ? 2 : 1;
	STORE_RELEASE(*agent.alive, agent.generation);
	return true;
}

/*
 * The process forked: what we have is the parent's. Threads may be here at once, as the first calls
 * of a child may be theirs; and, where signals could not be blocked, a handler that interrupted the
 * one that is at it, which is not waited for.
 */
static bool child_start(void)
{
	uint32_t tid = agent.confined ? ctx_tid(arch_thread_pointer()) : (uint32_t)sys0(gettid),
		 starter = 0;

	if (CAS(agent.alive[1], starter, tid))
		return child_begin();
	for (unsigned tries = 0; starter != tid && tries < START_TRIES &&
				 !LOAD_ACQUIRE(*agent.alive) && agent_is_on();
	     tries++)
		wait_between(tries);
	return LOAD_ACQUIRE(*agent.alive) && agent_is_on();
}

/*
 * A signal handler that comes while its thread gets a context would get another one, and in a
 * forked child that has no ledger yet none: it comes afterwards. Not those signals that an
 * instruction causes, which kills where they are blocked, or a filter of system calls, which the
 * program may answer in its handler.
 */
#define SIGNAL(number)	(1ull << ((number) - 1))
#define ALL_SIGNALS	(~(SIGNAL(4) | SIGNAL(5) | SIGNAL(7) | SIGNAL(8) | SIGNAL(11) | SIGNAL(31)))

/* Returns whether *before is to be set again. */
static bool signals_block(uint64_t *before)
{
	const uint64_t all = ALL_SIGNALS;

	return !LOAD(agent.confined) &&
	       !sys_failed(sys4(rt_sigprocmask, SYS_SIG_BLOCK, &all, before, sizeof(all)));
}

static void signals_restore(const uint64_t *before)
{
	sys4(rt_sigprocmask, SYS_SIG_SETMASK, before, 0, sizeof(*before));
}

/* What has a thread pointer, and whose it is: of an ended thread if not the calling one's. */
struct ctx_owned {
	struct tctx *ctx;
	uint32_t tid;
};

/* The calling thread's context, if it has one. *was: whatever has its thread pointer. */
static struct tctx *ctx_own(uint64_t tp, struct ctx_owned *was)
{
	struct ctx_entry *e = entry_near(tp);
	struct tctx *c = LOAD(e->tp) == tp ? LOAD(e->ctx) : NULL;
	uint32_t tid = ctx_tid(tp);

	if (!agent.tid_offset)
		agent.tid_offset = tid_offset_find(tp, tid);
	/* an entry may mix what two threads wrote at once */
	if (!c || LOAD(c->tp) != tp)
		c = ctx_search(tp);
	*was = (struct ctx_owned){ c, c ? LOAD(c->tid) : 0 };
	if (!c || was->tid != tid)
		return NULL;
	/* back in the hash; its neighbour will do the same */
	STORE(e->ctx, c);
	STORE_RELEASE(e->tp, tp);
	return c;
}

/* Take over that of the thread that was on this stack before, adopt or make one. */
static struct tctx *ctx_get(uint64_t tp, const struct ctx_owned *was)
{
	struct tctx *c = was->ctx;
	struct ctx_entry *e = entry_near(tp);
	uint32_t tid = ctx_tid(tp);

	if (c && ctx_seize(c, was->tid))
		thread_retire(c);
	else if ((c = ctx_adopt()))
		thread_retire(c);
	else if (!(c = ctx_new())) {
		ADD(agent.ledger->dropped[PMM_DROP_CTX_FULL], 1);
		return NULL;
	}
	ctx_reset(c, tp, tid);
	thread_new(c, tid);
	STORE(e->tp, 0);
	STORE(e->ctx, c);
	STORE_RELEASE(e->tp, tp);
	if (agent.taken)
		agent.taken(c);
	clock_check();
	return c;
}

struct tctx *ctx_find_slow(uint64_t tp)
{
	struct tctx *c = NULL;
	struct ctx_owned was;
	uint64_t before;
	bool blocked;

	if (LOAD(*agent.alive) && (c = ctx_own(tp, &was)))
		return c;
	blocked = signals_block(&before);
	if (LOAD(*agent.alive) || child_start()) {
		c = ctx_own(tp, &was);
		if (!c)
			c = ctx_get(tp, &was);
	}
	if (blocked)
		signals_restore(&before);
	return c;
}

/*
 * Can the hook that `c` is busy with not be running any more, as a hook at `sp` is? It is below the
 * other on the same stack, or just there; or it is on the thread's alternate signal stack, which is
 * in use no more. One on the alternate stack may have interrupted one elsewhere.
 */
static bool is_left(const struct tctx *c, uintptr_t sp)
{
	struct { uintptr_t sp; int flags; size_t size; } ss = { 0 };
	bool known = !sys_failed(sys2(sigaltstack, 0, &ss)), on = known && ss.flags & SS_ONSTACK,
	     there = known && c->pub.busy_sp - ss.sp <= ss.size && ss.size;

	if (on != there)
		return there;
	return sp >= c->pub.busy_sp && sp - c->pub.busy_sp < (8ul << 20);
}

/*
 * The program jumped out of the hook that `c` was in, if it was in one, and of those of handlers
 * that had interrupted it: the events were cut short. `sp`: of the hook that has found out, in
 * whose name the context is busy meanwhile. So a handler that comes now has another one, and if it
 * jumps out, all is done again.
 */
static void ctx_left(struct tctx *c, uintptr_t sp)
{
	bool recording = c->busy == TCTX_RECORDING, throwing = c->throwing;

	if (c->nested)
		ctx_left(c->nested, sp);
	if (!c->busy)
		return;
	STORE(c->pub.busy_sp, sp);
	STORE(c->busy, TCTX_RECORDING);
	if (recording) {
		unwind_recover(c);
		site_recover(c);
	}
	c->memo_nr = 0;
	c->stamp = (struct block_stamp){ .now = BLOCK_NEVER };	/* it may be half written */
	event_abandon(c);
	STORE(c->pub.move[PMM_MOVE_HEAP].address, 0);
	STORE(c->throwing, false);
	if (throwing)
		record_failed_at(c, c->throwing_size, c->throwing_site);
	STORE(c->busy, TCTX_IDLE);
	STORE(c->pub.busy_sp, 0);
}

struct tctx *ctx_nested(struct tctx *c, uintptr_t sp)
{
	if (is_left(c, sp)) {
		ctx_left(c, sp);
		return c;
	}
	if (!LOAD(c->busy))
		return c;		/* a handler that came here first has found that out */
	if (c->pub.level >= AGENT_MAX_LEVEL) {
		ADD(agent.ledger->dropped[PMM_DROP_NESTED], 1);
		return NULL;
	}
	if (!c->nested) {
		struct tctx *n = ctx_new();

		if (!n) {
			ADD(agent.ledger->dropped[PMM_DROP_CTX_FULL], 1);
			return NULL;
		}
		ctx_reset(n, 0, c->tid);
		n->pub.level = c->pub.level + 1;
		c->nested = n;
	}
	c->nested->pub.thread = c->pub.thread;
	return LOAD(c->nested->busy) ? ctx_nested(c->nested, sp) : c->nested;
}
