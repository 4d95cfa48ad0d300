/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/kernel/user_stack.c: stacks of this process, through frames of all kinds, each frame against
 * the C library's unwinder and against what the functions themselves have noted.
 */
#include "tests/unit/symbol_fixture.h"
#include "tests/unit/trap_copy.h"

#include <alloca.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SITE	__attribute__((noinline, noclone))
#define HIDE(x)	__asm__ volatile("" : : "g"(x) : "memory")

extern char _start[];

static struct images images;
static struct user_stacks *stacks;
static struct trap_copy at;
static struct user_stack got;

/* Return addresses that the functions of a chain note themselves, the outermost first. */
static uint64_t noted[16];
static unsigned nr_noted;

static inline __attribute__((always_inline)) void note(void)
{
	noted[nr_noted++] = (uint64_t)__builtin_return_address(0) - 1;
}

static int begin(void **state)
{
	(void)state;
	nr_noted = 0;
	trap_begin(&at);
	stacks = user_stacks_new(&images);
	return stacks ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	user_stacks_free(stacks);
	images_fini(&images);
	return 0;
}

static void walk(void)
{
	user_stack_walk(stacks, getpid(), at.time_ns, &at.copy, &got);
}

/* A frame is at this address of this process. */
static void expect_frame(uint64_t frame, uint64_t pc)
{
	struct stat mine, its;
	const char *path;
	uint64_t address;

	path = trap_place(pc, &address);
	assert_non_null(path);
	assert_int_equal(stack_frame_address(frame), address);
	assert_return_code(stat(path, &mine), errno);
	assert_return_code(stat(modules_at(&images.modules, stack_frame_module(frame))->path, &its),
			   errno);
	assert_int_equal(mine.st_ino, its.st_ino);
	assert_int_equal(mine.st_dev, its.st_dev);
}

/* The first `nr` frames are those of the C library's unwinder. */
static void expect_first(unsigned nr)
{
	assert_in_range(nr, 1, at.nr_truth);
	assert_int_equal(got.nr, nr);
	for (unsigned i = 0; i < nr; i++)
		expect_frame(got.frame[i], at.truth[i]);
}

/* All of them, and what the chain has noted is among them in this order. */
static void expect_all(void)
{
	unsigned i = 0, left = nr_noted;

	walk();
	assert_int_equal(got.end, USER_STACK_COMPLETE);
	expect_first(at.nr_truth);
	for (; i < at.nr_truth && left; i++)
		left -= at.truth[i] == noted[left - 1];
	assert_int_equal(left, 0);
}

/* ---- frames of all kinds --------------------------------------------------------------------- */

SITE static void leaf(void) { note(); trap_arm(); trap(); HIDE(0); }
SITE static void plain(void) { note(); leaf(); HIDE(0); }

SITE static void with_alloca(unsigned n)
{
	note();
	HIDE(alloca(n));
	plain();
	HIDE(0);
}

SITE static void with_realigned(void)
{
	char v[64] __attribute__((aligned(128)));

	note();
	HIDE(v);
	with_alloca(333);
	HIDE(v);
}

SITE static void with_realigned_alloca(unsigned n)
{
	char v[64] __attribute__((aligned(64)));

	note();
	HIDE(v);
	HIDE(alloca(n));
	with_realigned();
	HIDE(v);
}

SITE static void with_large(void)
{
	char v[20000];

	note();
	HIDE(v);
	with_realigned_alloca(77);
	HIDE(v);
}

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

static void handler(int number)
{
	(void)number;
	with_alloca(99);
	HIDE(0);
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

/* ---- where stacks end ------------------------------------------------------------------------ */

/* A handler on a stack of its own: what it interrupted is elsewhere. */
static void on_another_stack(void **state)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	(void)state;
	sigaction(SIGUSR1, &act, NULL);
	raise(SIGUSR1);
	walk();
	assert_int_equal(got.end, USER_STACK_ELSEWHERE);
	/* trap, leaf, plain, with_alloca, handler, the signal's frame, what was interrupted */
	expect_first(7);
}

/* However few bytes there are: the right frames, as many as they give. */
static void short_copies(void **state)
{
	size_t all;

	(void)state;
	with_realigned_alloca(5);
	all = at.copy.nr_bytes;
	walk();
	assert_int_equal(got.end, USER_STACK_COMPLETE);
	for (int cut = 0; cut < 2; cut++) {
		unsigned least = 1;

		at.copy.cut = cut;
		for (at.copy.nr_bytes = 0; at.copy.nr_bytes < all; at.copy.nr_bytes++) {
			walk();
			assert_in_range(got.nr, least, at.nr_truth);
			expect_first(got.nr);
			least = got.nr;
			if (got.end == USER_STACK_COMPLETE)
				assert_int_equal(got.nr, at.nr_truth);
			else
				assert_int_equal(got.end,
						 cut ? USER_STACK_SHORT : USER_STACK_ELSEWHERE);
		}
		assert_int_equal(least, at.nr_truth);
	}
}

/* Pages inside a large frame are not needed, those with return addresses are. */
static void pages_that_were_not_there(void **state)
{
	unsigned last = 0, needed = 0, complete = 0;

	(void)state;
	with_large();
	last = (unsigned)((at.copy.regs.sp + at.copy.nr_bytes - 1) / 4096 -
			  at.copy.regs.sp / 4096);
	assert_in_range(last, 5, 14);
	for (unsigned k = 0; k <= last; k++) {
		at.copy.missing = 1ull << k;
		walk();
		if (got.end == USER_STACK_COMPLETE) {
			expect_first(at.nr_truth);
			complete++;
			continue;
		}
		needed++;
		assert_int_equal(got.end, USER_STACK_ELSEWHERE);
		assert_true(got.nr < at.nr_truth);
		expect_first(got.nr);
	}
	at.copy.missing = 0;
	assert_true(needed >= 2);
	assert_true(complete >= 3);		/* 20 000 bytes have four whole pages at least */
}

SITE static void deep(unsigned n)
{
	if (n)
		deep(n - 1);
	else
		leaf();
	HIDE(n);
}

static void deeper_than_a_stack_may_be(void **state)
{
	(void)state;
	deep(300);
	walk();
	assert_int_equal(got.end, USER_STACK_DEEP);
	expect_first(USER_STACK_MAX_FRAMES);
}

/* sub $8, %rsp; call *%rdi; add $8, %rsp; ret */
static const uint8_t made[] = { 0x48, 0x83, 0xec, 8, 0xff, 0xd7, 0x48, 0x83, 0xc4, 8, 0xc3 };

static void code_made_at_run_time(void **state)
{
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(code != MAP_FAILED);
	memcpy(code, made, sizeof(made));
	((void (*)(void (*)(void)))code)(plain);
	walk();
	assert_int_equal(got.end, USER_STACK_ANONYMOUS);
	assert_int_equal(got.nr, 4);
	for (unsigned i = 0; i < 3; i++)
		expect_frame(got.frame[i], at.truth[i]);
	assert_int_equal(got.frame[3], stack_frame(0, (uint64_t)code + 5));
	munmap(code, 4096);
}

/* The registers alone: the innermost frame, and why there are no more. */
static void nothing_copied(void **state)
{
	(void)state;
	leaf();
	at.copy.nr_bytes = 0;
	at.copy.no_room = true;
	walk();
	assert_int_equal(got.end, USER_STACK_NO_ROOM);
	assert_int_equal(got.nr, 1);
	expect_frame(got.frame[0], at.truth[0]);
}

/* Nothing executable at the program counter: it is said where it was. */
static void no_code_at_all(void **state)
{
	(void)state;
	leaf();
	at.copy.regs.ip = 0x1234;
	walk();
	assert_int_equal(got.end, USER_STACK_NO_MODULE);
	assert_int_equal(got.nr, 1);
	assert_int_equal(got.frame[0], stack_frame(0, 0x1234));
}

static void a_process_that_is_not_there(void **state)
{
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(0);
	leaf();
	waitpid(pid, NULL, 0);
	user_stack_walk(stacks, pid, at.time_ns, &at.copy, &got);
	assert_int_equal(got.end, USER_STACK_ENDED);
	assert_int_equal(got.nr, 1);
	user_stack_walk(stacks, pid, at.time_ns, &at.copy, &got);
	assert_int_equal(images.unread, 1);
	assert_int_equal(user_stacks_ends(stacks)[USER_STACK_ENDED], 2);
}

/* Its frames stay what they were, by the time of the copy. */
static void a_library_that_is_closed(void **state)
{
	void (*call)(void (*)(void));
	uint64_t frame;
	void *lib;

	(void)state;
	fixture_run("echo 'int dummy; void call(void (*f)(void)) { f(); dummy++; }' >lib.c && "
		    "gcc -O2 -shared -fPIC -o lib.so lib.c");
	lib = dlopen(fixture_path("lib.so"), RTLD_NOW);
	assert_non_null(lib);
	call = (void (*)(void (*)(void)))dlsym(lib, "call");
	images_changed(&images, getpid(), nanotime());
	call(plain);
	expect_all();
	frame = got.frame[3];
	assert_int_equal(stack_frame_address(frame) & ~63ull,
			 fixture_address("lib.so", "call") & ~63ull);
	assert_int_equal(dlclose(lib), 0);
	images_changed(&images, getpid(), nanotime());
	walk();
	assert_int_equal(got.end, USER_STACK_COMPLETE);
	assert_int_equal(got.nr, at.nr_truth);
	assert_int_equal(got.frame[3], frame);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

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
		TEST(on_another_stack),
		TEST(short_copies),
		TEST(pages_that_were_not_there),
		TEST(deeper_than_a_stack_may_be),
		TEST(code_made_at_run_time),
		TEST(nothing_copied),
		TEST(no_code_at_all),
		TEST(a_process_that_is_not_there),
		TEST(a_library_that_is_closed),
		TEST(after_a_system_call),
		TEST(at_the_begin_of_init),
		TEST(at_the_loader_s_start),
		TEST(nonsense),
		cmocka_unit_test(each_end_has_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
