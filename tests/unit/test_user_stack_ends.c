/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/kernel/user_stack.c: where a stack ends of which not all is there, and what is said of it. */
#include "tests/unit/symbol_fixture.h"
#include "tests/unit/user_stack_frames.h"

#include <sys/mman.h>
#include <sys/wait.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(on_another_stack),
		TEST(short_copies),
		TEST(pages_that_were_not_there),
		TEST(deeper_than_a_stack_may_be),
		TEST(code_made_at_run_time),
		TEST(nothing_copied),
		TEST(no_code_at_all),
		TEST(a_process_that_is_not_there),
		TEST(a_library_that_is_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
