/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/kernel/user_stack.c: stacks of this process, through frames of all kinds, each frame against
 * the C library's unwinder and against what the functions themselves have noted.
 */
#include "tests/unit/user_stack_frames.h"

#include <pthread.h>
#include <sys/auxv.h>

extern char _start[];

/* ---- frames of all kinds --------------------------------------------------------------------- */

static void frames_of_all_kinds(void **state)
{
	(void)state;
	with_large();
	expect_all();
	assert_int_equal(nr_noted, 6);
	assert_int_equal(user_stacks_ends(stacks)[USER_STACK_COMPLETE], 1);
	/* the outermost one */
	assert_in_range(at.truth[at.nr_truth - 1], (uint64_t)_start, (uint64_t)_start + 64);
}

/*
 * By hand: what needs all registers. slow_cfa keeps its CFA in rbx, slow_fp the caller's frame
 * pointer in r12.
 */
void slow_cfa(void), slow_fp(void);

__asm__(".text\n"
	"slow_cfa:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbx, 0\n"
	"	mov %rsp, %rbx\n"
	"	.cfi_def_cfa %rbx, 16\n"
	"	and $-64, %rsp\n"
	"	sub $256, %rsp\n"
	"	call slow_fp\n"
	"	mov %rbx, %rsp\n"
	"	.cfi_def_cfa %rsp, 16\n"
	"	pop %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore %rbx\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"slow_fp:\n"
	"	.cfi_startproc\n"
	"	push %r12\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %r12, 0\n"
	"	mov %rbp, %r12\n"
	"	.cfi_register %rbp, %r12\n"
	"	mov $77, %ebp\n"
	"	call with_alloca_or_not\n"
	"	mov %r12, %rbp\n"
	"	.cfi_restore %rbp\n"
	"	pop %r12\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore %r12\n"
	"	ret\n"
	"	.cfi_endproc\n");

void with_alloca_or_not(void);
SITE void with_alloca_or_not(void) { note(); with_alloca(55); HIDE(0); }

SITE static void around_slow(unsigned n)
{
	note();
	HIDE(alloca(n));
	slow_cfa();
	HIDE(0);
}

static void frames_that_need_all_registers(void **state)
{
	(void)state;
	around_slow(123);
	expect_all();
}

/*
 * Interrupted while a frame of 64 KiB is being touched page by page, as gcc does it; and behind a
 * frame of 40 KiB.
 */
void probing(void), behind_large(void);
__asm__(".text\n"
	"probing:\n	.cfi_startproc\n"
	"	lea -65536(%rsp), %r11\n"
	"	.cfi_def_cfa %r11, 65544\n"
	"	sub $4096, %rsp\n"
	"	ud2\n"
	"	add $4096, %rsp\n"
	"	.cfi_def_cfa %rsp, 8\n"
	"	ret\n	.cfi_endproc\n"
	"behind_large:\n	.cfi_startproc\n"
	"	sub $40960, %rsp\n"
	"	.cfi_def_cfa_offset 40968\n"
	"	ud2\n"
	"	add $40960, %rsp\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n	.cfi_endproc\n");

SITE static void around_probing(void) { note(); trap_arm(); probing(); HIDE(0); }
SITE static void around_large(void) { note(); trap_arm(); behind_large(); HIDE(0); }

static void in_a_frame_that_is_being_probed(void **state)
{
	uint64_t end;

	(void)state;
	around_probing();
	end = at.copy.regs.sp + 4096 + 8;
	expect_all();
	assert_int_equal(got.frame_end[0], end);
	assert_int_equal(got.lowest, end - 65544);
	assert_true(got.frame_end[1] > end);
	/* also where nothing of the caller was copied */
	at.copy.nr_bytes = 8;
	walk();
	assert_int_equal(got.nr, 1);
	assert_int_equal(got.frame_end[0], end);
	assert_int_equal(got.lowest, end - 65544);
	nr_noted = 0;
	plain();			/* by rules */
	expect_all();
	assert_int_equal(got.lowest, at.copy.regs.sp);
	assert_int_equal(got.frame_end[0], at.copy.regs.sp + 8);
}

/* What lies between the stack pointer and the first byte of the copy was never touched. */
static void a_copy_that_begins_further_up(void **state)
{
	(void)state;
	around_large();
	at.copy.regs.skipped = 32768;
	at.copy.bytes = at.bytes + 32768;
	at.copy.nr_bytes -= 32768;
	at.copy.missing = 1;
	expect_all();
	assert_int_equal(got.frame_end[0], at.copy.regs.sp + 40968);
	at.copy.missing = 1 << 2;	/* the return address is in the copy's third page */
	walk();
	assert_int_equal(got.nr, 1);
	at.copy.regs.skipped = 49152;	/* behind the return address */
	walk();
	assert_int_equal(got.nr, 1);
}

static int order(const void *a, const void *b)
{
	static bool done;

	if (!done)
		plain();
	done = true;
	return *(const int *)a - *(const int *)b;
}

static void called_back_by_the_c_library(void **state)
{
	int v[] = { 3, 1, 2 };

	(void)state;
	qsort(v, 3, sizeof(v[0]), order);
	expect_all();
}

static void in_a_signal_handler(void **state)
{
	const struct sigaction act = { .sa_handler = handler };

	(void)state;
	sigaction(SIGUSR1, &act, NULL);
	raise(SIGUSR1);
	expect_all();
}

/* Interrupted at its first instruction, behind a function of another frame size. */
void faulting(void);
__asm__(".text\n"
	"before_faulting:\n	.cfi_startproc\n	.cfi_def_cfa_offset 4096\n	nop\n"
	"	.cfi_endproc\n"
	"faulting:\n	.cfi_startproc\n	hlt\n	ret\n	.cfi_endproc\n");

static void fault_handler(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	plain();
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP]++;
}

static void interrupted_at_a_first_instruction(void **state)
{
	const struct sigaction act = { .sa_sigaction = fault_handler, .sa_flags = SA_SIGINFO };
	struct sigaction former;

	(void)state;
	sigaction(SIGSEGV, &act, &former);
	faulting();
	sigaction(SIGSEGV, &former, NULL);
	expect_all();
	assert_int_equal(at.truth[5], (uint64_t)faulting);
}

static void *thread(void *arg)
{
	const stack_t *alternate = arg;
	stack_t former;

	sigaltstack(alternate, &former);
	with_alloca(10);
	sigaltstack(&former, NULL);	/* AddressSanitizer's, which takes it away */
	return NULL;
}

static void of_a_thread(void **state)
{
	static uint8_t memory[64 * 1024];
	stack_t alternate = { .ss_sp = memory, .ss_size = sizeof(memory) };
	pthread_t t;

	(void)state;
	assert_int_equal(pthread_create(&t, NULL, thread, &alternate), 0);
	pthread_join(t, NULL);
	expect_all();
}

/* ---- where they begin ------------------------------------------------------------------------ */

/* The instruction of a call is its function's last one, and another frame size is behind it. */
extern char last_call[], behind_last_call[];
__asm__(".text\n"
	"last_call:\n	.cfi_startproc\n	syscall\n	.cfi_endproc\n"
	"behind_last_call:\n	.cfi_startproc\n	.cfi_def_cfa_offset 4096\n	nop\n"
	"	.cfi_endproc\n");

static void after_a_system_call(void **state)
{
	(void)state;
	leaf();
	at.copy.regs.ip = (uint64_t)behind_last_call;
	at.copy.at = USER_STACK_AFTER_CALL;
	at.truth[0] = (uint64_t)behind_last_call - 1;
	walk();
	assert_int_equal(got.end, USER_STACK_COMPLETE);
	expect_first(at.nr_truth);

	at.copy.at = USER_STACK_AT_FAULT;
	walk();
	expect_frame(got.frame[0], (uint64_t)behind_last_call);
	assert_true(got.nr < 2 || got.frame[1] != stack_frame(1, at.truth[1]));
	assert_true(got.nr != at.nr_truth);
}

extern void _init(void) __attribute__((visibility("hidden")));

/* Code without unwind information at its first instruction. */
static void at_the_begin_of_init(void **state)
{
	(void)state;
	leaf();
	at.copy.regs.ip = at.truth[0] = (uint64_t)_init;
	walk();
	assert_int_equal(got.end, USER_STACK_COMPLETE);
	expect_first(at.nr_truth);
	at.copy.regs.ip = (uint64_t)_init + 4;
	walk();
	assert_int_equal(got.end, USER_STACK_NO_RULE);
	assert_int_equal(got.nr, 1);
}

/* The loader's start has none either, and nothing is outside it. */
static void at_the_loader_s_start(void **state)
{
	const Elf64_Ehdr *loader = (const void *)getauxval(AT_BASE);

	(void)state;
	leaf();
	at.copy.regs.ip = (uint64_t)loader + loader->e_entry + 8;
	walk();
	assert_int_equal(got.end, USER_STACK_COMPLETE);
	assert_int_equal(got.nr, 1);
	at.truth[0] = at.copy.regs.ip;
	expect_first(1);
}

/* Words that are nothing: it ends, and says so. */
static void nonsense(void **state)
{
	uint64_t random = 88172645463325252ull;

	(void)state;
	with_realigned();
	for (int k = 0; k < 3000; k++) {
		for (size_t i = 0; i + 8 <= 4096; i += 8) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			if (random % 16 == 0)
				memcpy(at.bytes + i, &random, 8);
		}
		at.copy.regs.saved[0] = random;
		at.copy.nr_bytes = 4096;
		walk();
		assert_in_range(got.nr, 1, USER_STACK_MAX_FRAMES);
		assert_in_range(got.end, 0, USER_STACK_NR_ENDS - 1);
		expect_frame(got.frame[0], at.truth[0]);
	}
}

static void each_end_has_words(void **state)
{
	(void)state;
	for (int i = 0; i < USER_STACK_NR_ENDS; i++) {
		assert_non_null(user_stack_end_name((enum user_stack_end)i));
		assert_non_null(user_stack_end_text((enum user_stack_end)i));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(frames_of_all_kinds),
		TEST(frames_that_need_all_registers),
		TEST(in_a_frame_that_is_being_probed),
		TEST(a_copy_that_begins_further_up),
		TEST(called_back_by_the_c_library),
		TEST(in_a_signal_handler),
		TEST(interrupted_at_a_first_instruction),
		TEST(of_a_thread),
		TEST(after_a_system_call),
		TEST(at_the_begin_of_init),
		TEST(at_the_loader_s_start),
		TEST(nonsense),
		cmocka_unit_test(each_end_has_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
