/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arch/x86_64/agent_signal.h: frames of handlers are where the kernel puts them, and instructions
 * are what they are taken for.
 */
#include "tests/unit/unit.h"

#include <signal.h>

#include "arch/agent_signal.h"

static uint64_t top, is, should_be, fp_is, fp_should_be;

static void look(int signal, siginfo_t *info, void *context)
{
	const struct arch_ucontext *uc = context;
	uint64_t below = top ? top : uc->sp - ARCH_RED_ZONE;

	(void)signal;
	is = (uint64_t)context - 8;
	should_be = arch_sigframe_below(below, arch_fpstate_bytes(uc->fpstate), &fp_should_be);
	fp_is = uc->fpstate;
	assert_ptr_equal(info, (const char *)context + sizeof(*uc));
}

/* A fault with the stack pointer at any distance from a multiple of 64. */
static void frames_below_the_stack_pointer(void **state)
{
	struct sigaction sa = { .sa_sigaction = look, .sa_flags = SA_SIGINFO };

	(void)state;
	top = 0;
	assert_int_equal(sigaction(SIGTRAP, &sa, NULL), 0);
	for (long by = 0; by < 256; by += 8) {
		__asm__ volatile(
			"mov %%rsp, %%rbx; sub %0, %%rsp; sub $128, %%rsp; int3; mov %%rbx, %%rsp"
			:
			: "r"(by)
			: "rbx", "memory");
		assert_int_equal(is, should_be);
		assert_int_equal(fp_is, fp_should_be);
	}
}

static void frames_on_an_alternate_stack(void **state)
{
	struct sigaction sa = { .sa_sigaction = look, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	static char room[1 << 17];

	(void)state;
	assert_int_equal(sigaction(SIGTRAP, &sa, NULL), 0);
	for (size_t cut = 0; cut < 200; cut += 7) {
		stack_t ss = { .ss_sp = room, .ss_size = sizeof(room) - cut };

		assert_int_equal(sigaltstack(&ss, NULL), 0);
		top = (uint64_t)room + ss.ss_size;
		__asm__ volatile("int3");
		assert_int_equal(is, should_be);
		assert_int_equal(fp_is, fp_should_be);
	}
	assert_int_equal(sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL), 0);
}

static struct arch_insn insn(const char *bytes)
{
	return arch_insn_at((uint64_t)bytes);
}

static void flags(void **state)
{
	(void)state;
	assert_true(insn("\x9c").pushes_flags);
	assert_true(insn("\x66\x9c").pushes_flags);
	assert_true(insn("\x48\x9d").pops_flags);
	assert_true(insn("\x48\xcf").pops_flags);
	assert_false(insn("\x0f\x9c\xc0").pushes_flags);	/* setl */
	assert_false(insn("\x88\x9c\x24\x9c\x9c\x9c\x9c").pushes_flags);
	assert_false(insn("\x55").pushes_flags);
}

/* Number and length of the copy of each instruction that has one. */
static void copies(void **state)
{
	static const struct { const char *bytes; int stub; unsigned length;
	} all[] = {
		{ "\xf3\xa4", 0, 2 },
		{ "\xf2\xa4", 0, 2 },
		{ "\x66\xf3\xa5", 1, 3 },
		{ "\xf3\x66\xa5", 1, 3 },
		{ "\xf3\xa5", 2, 2 },
		{ "\xf3\x48\xa5", 3, 3 },
		{ "\xf3\x4f\xa4", 0, 3 },
		{ "\xf3\x42\xa5", 2, 3 },
		{ "\x66\xf3\x48\xa5", 3, 4 },
		{ "\xf3\xaa", 4, 2 },
		{ "\x66\xf3\xab", 5, 3 },
		{ "\xf3\xab", 6, 2 },
		{ "\xf3\x48\xab", 7, 3 },
		{ "\xf3\xf3\xaa", 4, 3 },
		{ "\xa4", -1, 0 },
		{ "\xf3\xa6", -1, 0 },
		{ "\xf2\xae", -1, 0 },
		{ "\xf3\xac", -1, 0 },
		{ "\x67\xf3\xa4", -1, 0 },
		{ "\x64\xf3\xa4", -1, 0 },
		{ "\xf3\x90", -1, 0 },
		{ "\xf3\x0f\x10\x00", -1, 0 },
		{ "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66", -1, 0 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_int_equal(insn(all[i].bytes).rep_stub, all[i].stub);
		assert_int_equal(insn(all[i].bytes).bytes, all[i].length);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_below_the_stack_pointer),
		cmocka_unit_test(frames_on_an_alternate_stack),
		cmocka_unit_test(flags),
		cmocka_unit_test(copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
