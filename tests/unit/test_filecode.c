/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code without what was put into it: breakpoints set in a mapping of ours are seen and taken out of
 * what was read, jumps as they were noted.
 */
#include "tests/unit/unit.h"

#include <sys/mman.h>
#include <unistd.h>

#include "src/entries/filecode.h"

#define PAGE 4096

static const uint8_t code[16] = "\x55\xcc\x0f\x1f\x44\x00\x00\x48\x89\xe5\xe8\x01\x02\x03\x04\xc3";

/* The second page of a file that is removed, mapped as a program's code. */
static uint8_t *mapped(void)
{
	char path[] = "/tmp/pmm-filecode-XXXXXX";
	int fd = mkstemp(path);
	uint8_t *p;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 2 * PAGE), 0);
	assert_int_equal(pwrite(fd, code, sizeof(code), PAGE + 100), sizeof(code));
	p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, PAGE);
	assert_true(p != MAP_FAILED);
	unlink(path);
	close(fd);
	return p;
}

static void set(uint8_t *p, unsigned at, const char *bytes, unsigned nr)
{
	assert_int_equal(mprotect(p, PAGE, PROT_READ | PROT_WRITE), 0);
	memcpy(p + at, bytes, nr);
	assert_int_equal(mprotect(p, PAGE, PROT_READ | PROT_EXEC), 0);
}

static void test_read(void **state)
{
	uint8_t now[sizeof(code)], *p = mapped();
	struct filecode f;

	(void)state;
	if (geteuid())
		skip();			/* the kernel's links to mapped files are root's */
	set(p, 100, "\xcc", 1);
	filecode_init(&f, getpid());
	assert_int_equal(filecode_read(&f, (uint64_t)p + 100, now, sizeof(now)), sizeof(now));
	assert_memory_equal(now, code, sizeof(code));
	assert_int_equal(filecode_read(&f, (uint64_t)p + PAGE - 4, now, sizeof(now)), 4);
	assert_int_equal(filecode_read(&f, (uint64_t)&f, now, sizeof(now)), 0);
	filecode_fini(&f);
	assert_int_equal(mprotect(p, PAGE, PROT_READ), 0);	/* no code, as what RELRO covers */
	assert_int_equal(filecode_read(&f, (uint64_t)p + 100, now, sizeof(now)), 0);
	filecode_fini(&f);
	munmap(p, PAGE);
}

static void test_mend(void **state)
{
	uint8_t now[sizeof(code)];

	(void)state;
	memcpy(now, code, sizeof(now));
	assert_int_equal(filecode_mend(now, sizeof(now), code, sizeof(code)), 0);
	now[0] = now[7] = 0xcc;
	assert_int_equal(filecode_mend(now, sizeof(now), code, sizeof(code)), 1 << 0 | 1 << 7);
	assert_memory_equal(now, code, sizeof(code));
	/*
	 * what is no int3 is the process's own business; what the file does not have is not known
	 */
	now[0] = 0x90;
	now[15] = 0xcc;
	assert_int_equal(filecode_mend(now, sizeof(now), code, sizeof(code) - 1), 0);
	assert_int_equal(now[0], 0x90);
	assert_int_equal(now[15], 0xcc);
}

static void test_call_for_nop(void **state)
{
	uint8_t now[sizeof(code)];

	(void)state;
	memcpy(now, code, sizeof(now));
	memcpy(now + 2, "\xe8\x78\x56\x34\x12", 5);
	assert_int_equal(filecode_mend(now, sizeof(now), code, 6), 0);
	assert_int_equal(filecode_mend(now, sizeof(now), code, sizeof(code)), 1 << 2);
	assert_memory_equal(now, code, sizeof(code));
	memcpy(now + 10, "\xe8\x78\x56\x34\x12", 5);
	assert_int_equal(filecode_mend(now, sizeof(now), code, sizeof(code)), 0);
}

#define AT 0x1000ull

/* Of generation 2 at AT + 3, upon one of generation 1; one of generation 1 at AT + 10. */
static struct jump stacked[] = {
	{ { .address = AT + 3,
	    .nr_bytes = 5,
	    .patched = "\xe9\xcc\x22\x22\x22",
	    .original = "\xe9\x11\x11\x11\x11" },
	  2 },
	{ { .address = AT + 3,
	    .nr_bytes = 5,
	    .patched = "\xe9\x11\x11\x11\x11",
	    .original = "\x44\x00\x00\x00\x48" },
	  1 },
	{ { .address = AT + 10,
	    .nr_bytes = 5,
	    .patched = "\xe9\x33\x33\x33\x33",
	    .original = "\xe8\x01\x02\x03\x04" },
	  1 },
};
static const struct jumps jumps = { .v = { .v = stacked, .nr = 3 } };

static void test_jumps(void **state)
{
	uint8_t now[16];

	(void)state;
	memcpy(now, "\x55\xcc\x0f\xe9\xcc\x22\x22\x22\x89\xe5\xe9\x33\x33\x33\x33\xc3", 16);
	assert_ptr_equal(jumps_lift(&jumps, AT, now, sizeof(now)), &stacked[0].patch);
	assert_memory_equal(now, "\x55\xcc\x0f\x44\x00\x00\x00\x48\x89\xe5\xe8\x01\x02\x03\x04\xc3",
			    16);
	assert_null(jumps_lift(&jumps, AT, now, sizeof(now)));
	/* the lower one alone; the other function has code of its own by now */
	memcpy(now, "\x55\xcc\x0f\xe9\x11\x11\x11\x11\x89\xe5\xe9\x33\x33\x44\x33\xc3", 16);
	assert_ptr_equal(jumps_lift(&jumps, AT, now, sizeof(now)), &stacked[1].patch);
	assert_memory_equal(now, "\x55\xcc\x0f\x44\x00\x00\x00\x48\x89\xe5\xe9\x33\x33\x44\x33\xc3",
			    16);
}

/* A copy that begins, or ends, in the midst of a jump. */
static void test_jumps_cut(void **state)
{
	uint8_t now[16];

	(void)state;
	memcpy(now, "\x33\x33\xc3", 3);
	assert_ptr_equal(jumps_lift(&jumps, AT + 13, now, 3), &stacked[2].patch);
	assert_memory_equal(now, "\x03\x04\xc3", 3);
	memcpy(now, "\x89\xe5\xe9\x33\x33", 5);
	assert_ptr_equal(jumps_lift(&jumps, AT + 8, now, 4), &stacked[2].patch);
	assert_memory_equal(now, "\x89\xe5\xe8\x01\x33", 5);
	memcpy(now, "\xe9\x33\x33\x33\x33\xe9", 6);
	assert_null(jumps_lift(&jumps, AT + 15, now, 6));
	assert_null(jumps_lift(&jumps, AT - 3, now, 6));
}

static void test_jump_with_breakpoints(void **state)
{
	const uint8_t *patched = stacked[2].patch.patched, *original = stacked[2].patch.original;
	uint8_t back[5];

	(void)state;
	assert_true(jump_lift((const uint8_t *)"\xe9\x33\xcc\x33\x33", patched, original, 5, back));
	assert_memory_equal(back, "\xe8\x01\xcc\x03\x04", 5);
	assert_true(jump_lift((const uint8_t *)"\xcc\x33\x33\x33\x33", patched, original, 5, back));
	assert_memory_equal(back, "\xcc\x01\x02\x03\x04", 5);
	assert_false(
		jump_lift((const uint8_t *)"\xcc\xcc\x33\x33\x33", patched, original, 5, back));
	assert_false(
		jump_lift((const uint8_t *)"\xcc\x01\x02\x03\x04", patched, original, 5, back));
	/* written in part */
	assert_true(jump_lift((const uint8_t *)"\xe9\x33\x02\x03\x04", patched, original, 5, back));
	assert_memory_equal(back, original, 5);
	assert_false(
		jump_lift((const uint8_t *)"\xe9\x33\x02\x03\x05", patched, original, 5, back));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),	     cmocka_unit_test(test_mend),
		cmocka_unit_test(test_call_for_nop), cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_jumps_cut),    cmocka_unit_test(test_jump_with_breakpoints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
