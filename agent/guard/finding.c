/* SPDX-License-Identifier: MIT */
/*
 * Findings into the ledger.
 *
 * A key stands for what makes findings identical. Keys are in a private table, where the first
 * thread to enter one makes the finding and others add to its count; those that come before it is
 * made leave theirs in the table, and whichever of them and the maker sees both takes them over. No
 * locks.
 */
#include "agent/guard/finding.h"

#include "agent/agent_arena.h"
#include "agent/guard/alike.h"
#include "agent/guard/ancestor.h"
#include "agent/clock.h"
#include "agent/sys.h"

#define KEYS		(2 * PMM_MAX_FINDINGS)
#define NUMBER_NONE	0		/* else the finding's number + 1 */
#define NUMBER_LOST	UINT32_MAX
#define SIGABRT		6
#define RLIMIT_CORE	4

static struct seen {
	uint64_t key;			/* 0 = free */
	uint32_t number;
	uint32_t waiting;		/* counts not taken over yet */
} seen[KEYS];

static uint32_t reaction;		/* enum pmm_on_error */

void finding_start(uint32_t on_error)
{
	reaction = on_error;
	finding_forked();
}

void finding_forked(void)
{
	memset(seen, 0, sizeof(seen));
	arena_chunk(agent.ledger->finding_dir, 0, PMM_FINDING_SHIFT, sizeof(struct pmm_finding));
}

static uint64_t key_of(const struct pmm_finding *f)
{
	uint64_t h = alike_mixed(f->type | (uint64_t)f->by << 8 | (uint64_t)f->access << 16,
				 f->alloc_site);

	h = alike_mixed(h, f->free_site);
	h = f->by == PMM_BY_ACCESS ? alike_key(f, h) : alike_mixed(h, f->site);
	return h | !h;
}

/* The key's place, entered by us (*ours) or before; NULL: the table is full. */
static struct seen *key_enter(uint64_t key, bool *ours)
{
	for (uint32_t i = 0; i < KEYS; i++) {
		struct seen *s = &seen[(key + i) % KEYS];
		uint64_t is = LOAD(s->key);

		*ours = !is && CAS(s->key, is, key);
		if (*ours || is == key)
			return s;
	}
	return NULL;
}

static struct pmm_finding *finding_at(uint32_t number)
{
	return arena_chunk(agent.ledger->finding_dir, number, PMM_FINDING_SHIFT,
			   sizeof(struct pmm_finding));
}

/* Give counts that wait to their finding. */
static uint32_t count_waiting(struct seen *s)
{
	uint32_t number = LOAD_ACQUIRE(s->number), nr;
	struct pmm_finding *f;

	if (number == NUMBER_NONE)
		return UINT32_MAX;
	nr = __atomic_exchange_n(&s->waiting, 0, __ATOMIC_ACQ_REL);
	f = number == NUMBER_LOST ? NULL : finding_at(number - 1);
	if (!f) {
		ADD(agent.ledger->check.findings_lost, nr);
		return UINT32_MAX;
	}
	ADD(f->count, nr);
	STORE(f->last_tick, clock_now());
	return number - 1;
}

static uint32_t number_new(void)
{
	uint32_t *counter = &agent.ledger->check.nr_findings, nr = LOAD(*counter);

	do
		if (nr >= PMM_MAX_FINDINGS)
			return NUMBER_LOST;
	while (!CAS(*counter, nr, nr + 1));
	return nr;
}

/* A place in the ledger for `f`, complete; what is returned is a seen.number. */
static uint32_t finding_put(const struct pmm_finding *f)
{
	uint32_t nr = number_new();
	struct pmm_finding *to = nr == NUMBER_LOST ? NULL : finding_at(nr);

	if (!to)
		return NUMBER_LOST;
	memcpy((char *)to + sizeof(f->type), (const char *)f + sizeof(f->type),
	       sizeof(*f) - sizeof(f->type));
	STORE_RELEASE(to->type, f->type);
	return nr + 1;
}

void finding_allow_core(void)
{
	struct { uint64_t now, most; } core;

	if (reaction != PMM_ON_ERROR_CORE || sys_failed(sys4(prlimit, 0, RLIMIT_CORE, 0, &core)))
		return;
	core.now = core.most;
	sys4(prlimit, 0, RLIMIT_CORE, &core, 0);
}

/* The end that was asked for: by SIGABRT as if the program had no handler for it. */
static void react(void)
{
	struct { uint64_t handler, flags, restorer, mask; } fatal = { 0 };
	uint64_t unblock = 1ull << (SIGABRT - 1);
	struct pmm_death *death = &agent.ledger->death;

	if (reaction == PMM_ON_ERROR_CONTINUE)
		return;
	finding_allow_core();
	*death = (struct pmm_death){ .signal = SIGABRT, .by_choice = 1 };
	STORE_RELEASE(death->state, 1);
	sys4(rt_sigaction, SIGABRT, &fatal, 0, sizeof(fatal.mask));
	sys4(rt_sigprocmask, 1 /* SIG_UNBLOCK */, &unblock, 0, sizeof(unblock));
	sys3(tgkill, sys0(getpid), sys0(gettid), SIGABRT);
}

uint32_t finding_note(struct tctx *c, struct pmm_finding *f)
{
	struct seen *s;
	bool ours;

	s = key_enter(key_of(f), &ours);
	if (!s) {
		ADD(agent.ledger->check.findings_lost, 1);
		return UINT32_MAX;
	}
	if (ours) {
		f->count = 1;
		f->first_tick = f->last_tick = clock_now();
		f->thread = c->pub.thread;
		STORE_RELEASE(s->number, finding_put(f));
		if (LOAD(s->number) == NUMBER_LOST)
			ADD(s->waiting, 1);
	} else {
		ADD(s->waiting, 1);
	}
	/*
	 * one thread has stored the number, the other has counted: either sees what the other one
	 * did, and counts for both
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (LOAD(s->waiting))
		count_waiting(s);
	return LOAD(s->number) - 1 < PMM_MAX_FINDINGS ? LOAD(s->number) - 1 : UINT32_MAX;
}

uint32_t finding_add(struct tctx *c, struct pmm_finding *f)
{
	uint32_t number = finding_note(c, f);

	react();
	return number;
}

static inline bool is_ours(uint32_t from)
{
	return !from || (uint16_t)(from - 1) == (uint16_t)LOAD(agent.ledger->check.generation);
}

/* Of processes that this one was forked from the stacks are copied; their threads are not ours. */
static void resolve_forked(struct pmm_finding *f, const struct check_block *b)
{
	if (!is_ours(b->alloc_from)) {
		f->alloc_site = ancestor_site(b->alloc_from - 1, b->alloc_site);
		f->alloc_thread = UINT32_MAX;
	}
	if (!is_ours(b->free_from) && b->free_site) {
		f->free_site = ancestor_site(b->free_from - 1, b->free_site);
		f->free_thread = UINT32_MAX;
	}
}

void finding_block(struct pmm_finding *f, const struct check_block *b)
{
	if (!b)
		return;
	f->block = b->address;
	f->block_bytes = b->size;
	f->kind = b->kind;
	f->guarded = b->guarded;
	f->alloc_site = b->alloc_site;
	f->alloc_tick = b->alloc_tick;
	f->alloc_thread = b->alloc_thread;
	f->free_site = b->free_site;
	f->free_tick = b->free_tick;
	f->free_thread = b->free_thread;
	f->parent_pid = b->parent_pid;
	if (unlikely(b->parent_pid))
		resolve_forked(f, b);
}

void finding_function(struct pmm_finding *f, const char *name)
{
	unsigned i = 0;

	for (; name[i] && i < PMM_FUNCTION_BYTES - 1; i++)
		f->function[i] = name[i];
	memset(f->function + i, 0, PMM_FUNCTION_BYTES - i);
}

void finding_bytes(struct pmm_finding *f, uint64_t at, uint64_t end)
{
	f->nr_bytes = end - at < PMM_FINDING_BYTES ? (uint32_t)(end - at) : PMM_FINDING_BYTES;
	memcpy(f->bytes, (const void *)at, f->nr_bytes);
}

void finding_damaged(struct tctx *c, const struct check_block *b, uint64_t at, uint64_t end,
		     uint32_t how, uint32_t site)
{
	struct pmm_finding f = { .type = at < b->address ? PMM_FINDING_UNDERRUN
							 : PMM_FINDING_OVERRUN,
				 .by = PMM_BY_RELEASE,
				 .access = PMM_ACCESS_WRITE,
				 .site = site,
				 .address = at,
				 .release = how };

	finding_block(&f, b);
	finding_bytes(&f, at, at < b->address ? b->address : end);
	finding_add(c, &f);
}
