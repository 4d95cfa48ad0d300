/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/unwind/rule.c: a rule comes out of the near cache as it went in, and for its own pc only.
 */
#include "tests/unit/agent_host.h"

#include <ucontext.h>

#include "tests/unit/unit.h"

#include "agent/unwind/module.h"
#include "agent/unwind/rule.h"

#define SCRATCH_BYTES	(1u << 20)

static void far_put(uint64_t pc, uint64_t module, struct cfi_rule r)
{
	uint64_t packed = r.kind | (uint64_t)(uint16_t)r.fp_off << 16 |
			  (uint64_t)(uint32_t)r.cfa_off << 32;

	agent.rules->far[pc * 0x9e3779b97f4a7c15ull >> (64 - RULE_FAR_BITS)] =
		(struct rule_entry){ packed ^ (pc | module << 48), packed };
}

static void start(void)
{
	agent_host_init(1 << 20);
	agent.rules = calloc(1, sizeof(*agent.rules));
}

static void stop(void)
{
	free(agent.rules);
	agent_host_fini();
}

/* Once out of the far cache, then out of the near one if it fits there. */
static void check(struct cfi_rule r, uint64_t module, bool fits)
{
	const uint64_t pc = 0x7ffff7d4a123;

	start();
	far_put(pc, module, r);
	for (int turn = 0; turn < 2; turn++) {
		uint64_t id;
		struct cfi_rule got = rule_get(pc, &id);

		assert_true(id == (pc | module << 48));
		assert_int_equal(got.kind, r.kind);
		assert_int_equal(got.fp_off, r.fp_off);
		assert_int_equal(got.cfa_off, r.cfa_off);
		assert_int_equal(rule_near(pc) != 0, fits);
	}
	stop();
}

static void test_what_fits(void **state)
{
	(void)state;
	check((struct cfi_rule){ CFI_SP, 0, 8 }, 1, true);
	check((struct cfi_rule){ CFI_SP, -2, 16 }, 1023, true);
	check((struct cfi_rule){ CFI_SP, -31, 16383 * 8 }, 1, true);
	check((struct cfi_rule){ CFI_FP, -2, 16 }, 1, true);
	check((struct cfi_rule){ CFI_SP, -2, 16 }, 1024, false);
	check((struct cfi_rule){ CFI_SP, -32, 16 }, 1, false);
	check((struct cfi_rule){ CFI_SP, 1, 16 }, 1, false);
	check((struct cfi_rule){ CFI_SP, 0, 16384 * 8 }, 1, false);
	check((struct cfi_rule){ CFI_SP, 0, 12 }, 1, false);
	check((struct cfi_rule){ CFI_SP, 0, -8 }, 1, false);
	check((struct cfi_rule){ CFI_FP_DEREF, 0, -8 }, 1, false);
	check((struct cfi_rule){ .kind = CFI_END }, 1, false);
	check((struct cfi_rule){ .kind = CFI_SIGFRAME }, 1, false);
	check((struct cfi_rule){ .kind = CFI_SLOW }, 1, false);
	check((struct cfi_rule){ .kind = CFI_NONE }, 1, false);
}

/* No other pc finds it: not one that differs in one bit, not one that is no address at all. */
static void test_its_own_pc_only(void **state)
{
	const uint64_t pc = 0x555555554321;
	uint64_t id;

	(void)state;
	start();
	far_put(pc, 3, (struct cfi_rule){ CFI_SP, -2, 48 });
	rule_get(pc, &id);
	assert_int_not_equal(rule_near(pc), 0);
	for (unsigned bit = 0; bit < 64; bit++)
		assert_int_equal(rule_near(pc ^ 1ull << bit), 0);
	for (uint64_t other = 1; other < 1000000; other++)
		assert_int_equal(rule_near(pc + other) | rule_near(pc - other), 0);
	rule_flush();
	assert_int_equal(rule_near(pc), 0);
	stop();
}

/* Bytes that end with the padding compilers and assemblers make, and with calls. */
static void test_gaps(void **state)
{
	static const struct {
		uint8_t code[ARCH_GAP_BYTES];
		bool gap;
	} cases[] = {
		{ { 0x5d, 0xc3, 0x0f, 0x1f, 0x44, 0x00, 0x00 }, true },
		{ { 0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00 }, true },
		{ { 0x84, 0x00, 0x00, 0x00, 0x00, 0x00, 0x90 }, true },
		{ { 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc }, true },
		{ { 0xff, 0x31, 0x00, 0x00, 0x00, 0x00, 0x00 }, true },	/* push */
		{ { 0x90, 0xff, 0x35, 0x00, 0x00, 0x00, 0x00 }, true },
		/* call *disp(%r11), call *disp(%rip) */
		{ { 0x41, 0xff, 0x93, 0x08, 0x01, 0x00, 0x00 }, false },
		{ { 0x90, 0xff, 0x15, 0x08, 0x01, 0x00, 0x00 }, false },
		{ { 0xff, 0x94, 0xc3, 0x08, 0x01, 0x00, 0x00 }, false },	/* with an index */
		{ { 0x90, 0x90, 0xe8, 0x08, 0x01, 0x00, 0x00 }, false },	/* call */
		{ { 0x90, 0x90, 0xe8, 0x08, 0xff, 0xff, 0xff }, false },
		{ { 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0 }, false },
		{ { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3 }, false },	/* ret */
	};

	(void)state;
	for (unsigned k = 0; k < sizeof(cases) / sizeof(*cases); k++)
		assert_int_equal(arch_fills_gap(cases[k].code), cases[k].gap);
}

static ucontext_t outside, inside;
static uint64_t returns_to;

static void coroutine(void)
{
	returns_to = (uint64_t)__builtin_return_address(0);
	swapcontext(&inside, &outside);
}

/* A coroutine's first frame returns to where nobody called it from: its stack is whole. */
static void test_coroutine(void **state)
{
	static char stack[1 << 16];
	uint64_t id;

	(void)state;
	start();
	agent.scratch = calloc(1, SCRATCH_BYTES + AGENT_PATHS_BYTES);
	agent.paths = agent.scratch + SCRATCH_BYTES;
	agent.modules = calloc(AGENT_MAX_MODULES, sizeof(*agent.modules));
	getcontext(&inside);
	inside.uc_stack = (stack_t){ .ss_sp = stack, .ss_size = sizeof(stack) };
	makecontext(&inside, coroutine, 0);
	swapcontext(&outside, &inside);
	assert_int_equal(rule_get(returns_to - 1, &id).kind, CFI_END);
	assert_int_equal(rule_get((uint64_t)__builtin_return_address(0) - 1, &id).kind, CFI_SP);
	rule_flush();
	agent.confined = true;
	assert_int_equal(rule_get(returns_to - 1, &id).kind, CFI_NONE);
	agent.confined = false;
	free(agent.modules);
	free(agent.scratch);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_fits),
		cmocka_unit_test(test_its_own_pc_only),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_coroutine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
