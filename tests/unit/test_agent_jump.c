/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events that a handler interrupts, or leaves by a jump, at each of their instructions: what they
 * were about to change has changed or not, and all that comes later is recorded as ever. Of
 * agent/ctx.c, and of whatever an event goes through. Stacks are made up in an array.
 */
#include "agent/hook.h"

#include "tests/unit/record_host.h"

#include "agent/node.h"
#include "agent/piece.h"
#include "agent/unwind/rule.h"
#include "tests/unit/stepped.h"

#ifdef __x86_64__

#define MODULE		7ull
#define FUNCTIONS	16
#define DEPTH		8		/* frames of a stack: two pieces */
#define STACKS		6
#define WORDS		512
#define OUTSIDE		((uint64_t)&words[WORDS - 1])
#define HANDLER		((uint64_t)&words[WORDS / 2])
#define BLOCK(n)	(HEAP + (n) * 256ull)

static uint64_t words[WORDS];
static uint64_t next_block;
static unsigned nr_wrong, left;		/* the stack of what is interrupted or left */
static bool resizes;			/* ... which is a_resize() */

/* ---- stacks ---------------------------------------------------------------------------------- */

static uint64_t pc_of(unsigned f)
{
	return 0x401000 + f * 0x40ull;
}

static void rules_put(void)
{
	for (unsigned f = 0; f < FUNCTIONS; f++) {
		uint64_t rule = f ? CFI_SP | 16ull << 32 : CFI_END;

		agent.rules->far[pc_of(f) * 0x9e3779b97f4a7c15ull >> (64 - RULE_FAR_BITS)] =
			(struct rule_entry){ rule ^ (pc_of(f) | MODULE << 48), rule };
		*rule_near_entry(rule_mix(pc_of(f))) = 0;
	}
}

/*
 * Function of frame k, from the outermost one. Stacks differ in the middle only, so that what is
 * known of them is in the same places.
 */
static unsigned function_at(unsigned stack, unsigned k)
{
	return k < 4 ? k : k == DEPTH - 1 ? 4 : 8 + 2 * (k % 4) + (stack >> k % 4 & 1);
}

/* The program's stack is this one now. A handler's is further down. */
static struct caller stack_make(unsigned stack, uint64_t top)
{
	uint64_t sp = top - 64;

	for (unsigned k = 1; k < DEPTH; k++) {
		sp -= 16;
		*(uint64_t *)(sp + 8) = pc_of(function_at(stack, k - 1)) + 1;
	}
	return (struct caller){ .ra = pc_of(function_at(stack, DEPTH - 1)) + 1, .sp = sp };
}

static const struct pmm_site *site_of(uint32_t site)
{
	return arena_chunk(agent.ledger->site_dir, site, PMM_SITE_SHIFT, sizeof(struct pmm_site));
}

static bool site_is(uint32_t site, unsigned stack)
{
	uint32_t node = site ? site_of(site)->node : 0;

	for (unsigned k = DEPTH; k--;) {
		const struct pmm_node *n = node ? node_at(node) : NULL;

		if (!n || n->frame != (pc_of(function_at(stack, k)) | MODULE << 48))
			return false;
		node = n->parent;
	}
	return !node;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* As a hook begins: see agent_enter(). */
static struct tctx *enter(uint64_t sp)
{
	return agent_begin(c->busy ? ctx_nested(c, sp) : c, sp, false);
}

/* Nobody is in the middle of an event with it. */
static struct tctx *enter_whole(uint64_t sp)
{
	struct tctx *with = enter(sp);

	nr_wrong += with->pub.seq & 1 || with->busy != TCTX_RECORDING || with->pub.busy_sp != sp;
	return with;
}

static uint32_t comes_from(uint64_t address, uint64_t size, const struct caller *from)
{
	struct tctx *with = enter_whole(from->sp);
	uint32_t site = record_alloc_as(true, with, address, size, PMM_KIND_MALLOC, from);

	agent_leave(with);
	return site;
}

static uint32_t comes(uint64_t address, uint64_t size, unsigned stack, uint64_t top)
{
	struct caller from = stack_make(stack, top);

	return comes_from(address, size, &from);
}

static void goes(uint64_t address, uint64_t top)
{
	struct tctx *with = enter_whole(top - 8);

	hook_free(with, (void *)address);
	agent_leave(with);
}

static void *moved(void *old, size_t size)
{
	(void)size;
	return (char *)old + 128;
}

static void moves_from(uint64_t address, uint64_t size, const struct caller *from)
{
	struct tctx *with = enter_whole(from->sp);

	hook_realloc(with, (struct hook_realloc){ .plain = moved }, (void *)address, size, 1,
		     PMM_KIND_REALLOC, from);
	agent_leave(with);
}

/* ---- what is recorded ------------------------------------------------------------------------ */

struct sums {
	uint64_t allocs, frees, bytes_in, bytes_out, at_once;
};

static void sums_add(struct sums *to, const struct pmm_record *r)
{
	struct pmm_lifetimes *l = r->lifetimes ? arena_at(r->lifetimes) : NULL;

	to->allocs += r->allocs;
	to->frees += r->frees;
	to->bytes_in += r->bytes_in;
	to->bytes_out += r->bytes_out;
	to->at_once += pmm_released_at_once(r, l);
}

/* Of a site in all contexts, each of which has one record for it at most. */
static struct sums sums_of(uint32_t site)
{
	struct sums sums = { 0 };

	for (uint32_t i = 0; i < agent.ledger->nr_ctx; i++) {
		const struct pmm_ctx *ctx = arena_at(agent.ledger->ctx[i]);
		unsigned nr = 0;

		for (pmm_ref ref = ctx->records; ref;) {
			const struct pmm_record *r = arena_at(ref);

			if (r->site == site) {
				sums_add(&sums, r);
				nr++;
			}
			ref = r->next;
		}
		nr_wrong += nr > 1;
	}
	return sums;
}

static struct pmm_sums all_sums(void)
{
	struct pmm_sums all = { 0 };

	for (uint32_t i = 0; i < agent.ledger->nr_ctx; i++) {
		struct pmm_sums s = pmm_ctx_sums(arena_at(agent.ledger->ctx[i]));

		all.allocs += s.allocs;
		all.frees += s.frees;
		all.bytes_in += s.bytes_in;
		all.bytes_out += s.bytes_out;
	}
	return all;
}

/* A block comes and goes within a tick, from this stack: nothing else changes. */
static void probe(unsigned stack, uint64_t size)
{
	uint64_t address = BLOCK(next_block++), total = agent_host_total(), seq = c->pub.seq;
	struct pmm_sums all = all_sums(), all_then;
	struct sums before, is;
	struct block_info b;
	uint32_t site;

	site = comes(address, size, stack, OUTSIDE);
	if (!site_is(site, stack)) {
		nr_wrong++;
		return;
	}
	before = sums_of(site);
	nr_wrong += !block_get(address, &b) || b.size != size || b.site != site ||
		    b.birth != tree()->tick || block_thread(&b) != c->pub.thread;
	nr_wrong += agent_host_total() != total + size;
	nr_wrong += comes(address + 128, size, stack, OUTSIDE) != site;
	goes(address, OUTSIDE);
	goes(address + 128, OUTSIDE);
	is = sums_of(site);
	all_then = all_sums();
	nr_wrong += is.allocs != before.allocs + 1 || is.bytes_in != before.bytes_in + size;
	nr_wrong += is.frees != before.frees + 2 || is.bytes_out != before.bytes_out + 2 * size;
	nr_wrong += is.at_once != before.at_once + 2;
	nr_wrong += all_then.allocs != all.allocs + 2 || all_then.frees != all.frees + 2;
	nr_wrong += all_then.bytes_in - all.bytes_in != 2 * size;
	nr_wrong += all_then.bytes_out - all.bytes_out != 2 * size;
	nr_wrong += agent_host_total() != total;
	nr_wrong += c->pub.seq != seq + 2 * 4;
}

/* A block of what was interrupted or left is there whole or not at all. */
static bool whole(uint64_t address, uint64_t size)
{
	struct block_info b;
	bool there = block_get(address, &b);

	nr_wrong += there && b.size != size;
	return there;
}

/* All that comes later, for which the thread's own context is used again. */
static bool right(void)
{
	bool there = whole(BLOCK(1), 40);

	there |= whole(BLOCK(1) + 128, 170);
	whole(BLOCK(0), 100);
	nr_wrong += resizes && !there && c->pub.move[PMM_MOVE_HEAP].address != BLOCK(1);
	struct tctx *with = enter_whole(OUTSIDE);

	nr_wrong += with != c || c->pub.seq & 1 || c->pub.move[PMM_MOVE_HEAP].address;
	agent_leave(with);
	for (struct tctx *n = c; n; n = n->nested)
		nr_wrong += n->pub.seq & 1 || n->busy;
	probe(left, 40);
	for (unsigned again = 0; again < 2; again++, tree()->tick++)
		for (unsigned s = 0; s < STACKS + 2; s++)
			probe(s, again + s % 2 ? 40 : 100);
	return !nr_wrong;
}

/* ---- what may come --------------------------------------------------------------------------- */

static void leave(void)
{
	stepped_leave();
}

static void handle(void)
{
	nr_wrong += !site_is(comes(BLOCK(1000), 24, STACKS, HANDLER), STACKS);
	comes(BLOCK(1001), 300, 1, HANDLER);
	goes(BLOCK(1000), HANDLER);
}

static void handle_and_leave(void)
{
	handle();
	leave();
}

/* ---- what it comes to ------------------------------------------------------------------------ */

static struct caller caller;

static void an_allocation(void)
{
	comes_from(BLOCK(0), 100, &caller);
}

static void a_release(void)
{
	goes(BLOCK(1), OUTSIDE);
}

static void a_resize(void)
{
	moves_from(BLOCK(1), 170, &caller);
}

/* Stacks 0 to 3 are known, 4 and 5 were met once; blocks have lived for a tick. */
static void start(unsigned stack)
{
	rules_put();
	memset(words, 0, sizeof(words));
	nr_wrong = 0;
	next_block = 2000;
	c->pub.seq = 200000;			/* caches pay */
	c->pub.thread = 3;
	comes(BLOCK(1), 40, 0, OUTSIDE);
	for (unsigned i = 0; i < STACKS + 4 * 2; i++)
		comes(BLOCK(2 + i), 40, i < STACKS ? STACKS - 1 - i : i % 4, OUTSIDE);
	c->pieces->mask = c->pieces->lost = 0;	/* all in one set, with the last one's */
	comes(BLOCK(50), 40, 4, OUTSIDE);
	tree()->tick++;
	caller = stack_make(stack, OUTSIDE);
	left = stack;
	resizes = false;
}

static void if_as(bool (*is_right)(void), void (*call)(void), void (*then)(void))
{
	unsigned steps, wrong = stepped((struct stepped){ call, then, is_right }, &steps);

	assert_in_range(steps, 10, 6000);
	assert_int_equal(wrong, 0);
	assert_int_equal(nr_wrong, 0);
}

/* At each instruction of the call, from this stack. */
static void if_then(void (*call)(void), unsigned stack, void (*then)(void))
{
	start(stack);
	if_as(right, call, then);
}

static void a_new_stack_is_left(void **state)
{
	(void)state;
	if_then(an_allocation, STACKS + 1, leave);
}

static void a_stack_met_again_is_left(void **state)
{
	(void)state;
	if_then(an_allocation, 5, leave);
}

static void a_known_stack_is_interrupted(void **state)
{
	(void)state;
	if_then(an_allocation, 2, handle);
}

static void a_known_stack_is_left_by_a_handler_with_events(void **state)
{
	(void)state;
	if_then(an_allocation, 2, handle_and_leave);
}

/* The block's words are stored in a few instructions then. */
static void an_allocation_in_the_same_tick_is_left(void **state)
{
	(void)state;
	start(2);
	comes(BLOCK(60), 40, 4, OUTSIDE);
	caller = stack_make(2, OUTSIDE);
	if_as(right, an_allocation, leave);
}

static void a_release_is_left(void **state)
{
	(void)state;
	if_then(a_release, 0, leave);
}

static void a_resize_is_left(void **state)
{
	(void)state;
	start(3);
	resizes = true;
	if_as(right, a_resize, leave);
}

static void a_resize_is_interrupted(void **state)
{
	(void)state;
	start(3);
	resizes = true;
	if_as(right, a_resize, handle);
}

/* ---- where hooks begin ----------------------------------------------------------------------- */

static void begin_event(void)
{
	enter(OUTSIDE);
}

/* The context is busy with that, until it ends. */
static bool right_begun(void)
{
	nr_wrong += c->busy != TCTX_RECORDING || c->pub.busy_sp != OUTSIDE;
	agent_leave(c);
	return right();
}

static void a_beginning_is_interrupted(void **state)
{
	(void)state;
	start(0);
	if_as(right_begun, begin_event, handle);
}

static void a_beginning_is_left(void **state)
{
	(void)state;
	start(0);
	if_as(right, begin_event, leave);
}

static void a_beginning_is_left_by_a_handler_with_events(void **state)
{
	(void)state;
	start(0);
	if_as(right, begin_event, handle_and_leave);
}

/* The next hook finds that the last one was left in the middle of an event, and a handler of it. */
static void start_left(void)
{
	start(0);
	c->pieces->bits = 0;			/* fewer steps */
	c->known = NULL;
	enter((uintptr_t)&words[16]);
	seqlock_write_begin(&c->pub.seq);
	seqlock_write_begin(&enter((uintptr_t)&words[8])->pub.seq);
	assert_true(c->nested->busy);
}

static void the_next_hook_is_interrupted(void **state)
{
	(void)state;
	start_left();
	if_as(right_begun, begin_event, handle);
}

static void the_next_hook_is_left(void **state)
{
	(void)state;
	start_left();
	if_as(right, begin_event, leave);
}

static void the_next_hook_is_left_by_a_handler_with_events(void **state)
{
	(void)state;
	start_left();
	if_as(right, begin_event, handle_and_leave);
}

#endif

int main(void)
{
#ifdef __x86_64__
	const struct CMUnitTest tests[] = {
		TEST(a_new_stack_is_left),
		TEST(a_stack_met_again_is_left),
		TEST(a_known_stack_is_interrupted),
		TEST(a_known_stack_is_left_by_a_handler_with_events),
		TEST(an_allocation_in_the_same_tick_is_left),
		TEST(a_release_is_left),
		TEST(a_resize_is_left),
		TEST(a_resize_is_interrupted),
		TEST(a_beginning_is_interrupted),
		TEST(a_beginning_is_left),
		TEST(a_beginning_is_left_by_a_handler_with_events),
		TEST(the_next_hook_is_interrupted),
		TEST(the_next_hook_is_left),
		TEST(the_next_hook_is_left_by_a_handler_with_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
#else
	return 77;
#endif
}
