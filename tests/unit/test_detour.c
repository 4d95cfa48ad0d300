/*
 * Detours: what is refused and why, what becomes of the instructions, and that functions work as before, by being called.
 */
#include "tests/unit/unit.h"

#include <sys/mman.h>
#include <unistd.h>

#include "src/inject/detour.h"
#include "src/inject/insn.h"

#define BASE	0x500000ull
#define SLOT	0x540000ull

/* ---- planning from bytes -------------------------------------------------------------------------- */

struct code {
	const char *bytes;
	size_t nr, size;		/* size: of the function, 0 = unknown */
};

#define CODE(BYTES, SIZE) (&(struct code){ BYTES, sizeof(BYTES) - 1, SIZE })

static int plan(const struct code *c, struct detour *d, struct err *e)
{
	struct detour_function f = { BASE, (const uint8_t *)c->bytes, c->nr, c->size };

	return detour_plan(&f, SLOT + PMM_ENTRY_STUB_OFF, SLOT + PMM_ENTRY_MOVED_OFF, d, e);
}

static void assert_refused(const struct code *c, const char *why)
{
	struct err e = { 0 };
	struct detour d;

	assert_int_equal(plan(c, &d, &e), -ENOTSUP);
	assert_string_equal(e.text, why);
}

static void assert_planned(const struct code *c, struct detour *d)
{
	struct err e = { 0 };

	if (plan(c, d, &e))
		fail_msg("%s", e.text);
	assert_int_equal(d->nr_bytes, 5);
}

static void test_plain(void **state)
{
	/* push r12; push rbp; push rbx; mov rbx, rdi; ret */
	const char code[] = "\x41\x54\x55\x53\x48\x89\xfb\xc3";
	struct detour d;

	(void)state;
	assert_planned(CODE("\x41\x54\x55\x53\x48\x89\xfb\xc3", 8), &d);
	assert_int_equal(d.address, BASE);
	assert_int_equal(d.nr_moved, 7);
	assert_memory_equal(d.original, code, 7);
	assert_memory_equal(d.patch, "\xe9\x3b\x00\x04\x00", 5);	/* SLOT + 64 - BASE - 5 */
	assert_int_equal(d.nr_moved_out, 12);
	assert_memory_equal(d.moved, code, 7);
	assert_memory_equal(d.moved + 7, "\xe9\x9b\xff\xfb\xff", 5);	/* BASE + 7 - (SLOT + 96 + 12) */
	for (unsigned i = 0; i < sizeof(d.boundary); i++)
		assert_int_equal(d.boundary[i], i == 0 || i == 2 || i == 3 || i == 4 ? i : 0xff);
}

static void test_endbr64(void **state)
{
	struct detour d;

	(void)state;
	assert_planned(CODE("\xf3\x0f\x1e\xfa\x48\x89\xf8\x48\x01\xf0\xc3", 11), &d);
	assert_int_equal(d.address, BASE + 4);
	assert_int_equal(d.nr_moved, 6);
	assert_memory_equal(d.patch, "\xe9\x37\x00\x04\x00", 5);
}

static void test_boundary_grows(void **state)
{
	struct detour d;

	(void)state;
	/* test rdi, rdi; je +2; mov eax, 1; ret */
	assert_planned(CODE("\x48\x85\xff\x74\x05\xb8\x01\x00\x00\x00\xc3", 11), &d);
	assert_int_equal(d.nr_moved, 5);
	assert_int_equal(d.nr_moved_out, 3 + 6 + 5);
	assert_int_equal(d.boundary[0], 0);
	assert_int_equal(d.boundary[3], 3);
	assert_memory_equal(d.moved + 3, "\x0f\x84", 2);
	/* je +0 to a place inside the moved instructions, but behind the jump */
	assert_planned(CODE("\x90\x74\x02\x89\xc0\xb8\x01\x00\x00\x00\xc3", 11), &d);
	assert_int_equal(d.nr_moved, 5);
}

static void test_too_short(void **state)
{
	struct detour d;

	(void)state;
	assert_refused(CODE("\x48\x89\xf8\xc3\x55\x53\x50", 4), "the function is only 4 bytes long");
	assert_refused(CODE("\x48\x89\xf8\xc3", 4), "the function is only 4 bytes long");
	/* its last instruction goes on into the padding */
	assert_refused(CODE("\x48\x89\xf8\x90\x90\x90\x90\x90", 3), "the function is only 3 bytes long");
	/* padding, as compilers make it */
	assert_planned(CODE("\x48\x89\xf8\xc3\x0f\x1f\x40\x00", 4), &d);
	assert_int_equal(d.nr_moved, 8);
	assert_int_equal(d.nr_moved_out, 4 + 5);
	assert_planned(CODE("\xc3\xcc\xcc\xcc\xcc\xcc", 1), &d);
	assert_int_equal(d.nr_moved, 5);
	assert_int_equal(d.boundary[1], 0xff);
	assert_planned(CODE("\xc3\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 1), &d);
	assert_int_equal(d.nr_moved, 12);
	/* what follows is not known to be padding */
	assert_refused(CODE("\xc3\x90\x90\x90", 1), "the function is only 1 bytes long");
}

/* Padding goes no further than to where the next function may begin. */
static void test_padding_ends(void **state)
{
	struct detour_function f = { BASE + 12, (const uint8_t *)"\xc3\x90\x90\x90\x90\x90\x90\x90", 8, 1 };
	struct err e = { 0 };
	struct detour d;

	(void)state;
	assert_int_equal(detour_plan(&f, SLOT, SLOT + 32, &d, &e), -ENOTSUP);
	assert_string_equal(e.text, "the function is only 1 bytes long");
	f.address = BASE + 11;
	assert_int_equal(detour_plan(&f, SLOT, SLOT + 32, &d, &e), 0);
	f.nr_code = 4;
	assert_int_equal(detour_plan(&f, SLOT, SLOT + 32, &d, &e), -ENOTSUP);
}

static void test_size_unknown(void **state)
{
	struct detour d;

	(void)state;
	/* ends at its first ret: what follows is no padding */
	assert_refused(CODE("\x48\x89\xf8\xc3\x55\x53\x50\x90", 0), "the function is only 4 bytes long");
	assert_planned(CODE("\x48\x89\xf8\xc3\x90\x90\x90\x90", 0), &d);
	/* je beyond the first ret, to what jumps into the overwritten bytes */
	assert_refused(CODE("\x48\x89\xf8\x74\x04\x48\x01\xf0\xc3\xeb\xf8\x90", 0), "at +0x9: a branch goes to bytes that would be overwritten");
	/* the same behind its end does not matter */
	assert_planned(CODE("\x48\x89\xf8\x90\x90\x48\x01\xf0\xc3\xeb\xf8\x90", 0), &d);
	/* cut off in the middle of an instruction that is not needed */
	assert_planned(CODE("\x48\x89\xf8\x90\x90\x48\x01\xf0\x48\x8b", 0), &d);
}

static void test_branch_into(void **state)
{
	struct detour d;

	(void)state;
	assert_refused(CODE("\x48\x89\xf8\x48\x01\xf0\x75\xfb\xc3", 9), "at +0x6: a branch goes to bytes that would be overwritten");
	assert_refused(CODE("\x48\x89\xf8\x48\x01\xf0\xe2\xf9\xc3", 9), "at +0x6: a branch goes to bytes that would be overwritten");
	assert_refused(CODE("\x48\x89\xf8\x48\x01\xf0\xe8\xf8\xff\xff\xff\xc3", 12),
		       "at +0x6: a branch goes to bytes that would be overwritten");
	assert_refused(CODE("\x75\x02\x48\x89\xf8\x48\x01\xf0\xc3", 9), "at +0x0: a branch goes to bytes that would be overwritten");
	/* to the entry: each time round would go through the hook */
	assert_refused(CODE("\x48\x89\xf8\x48\x01\xf0\x75\xf8\xc3", 9), "at +0x6: a branch goes back to the function's entry");
	assert_refused(CODE("\xf3\x0f\x1e\xfa\x48\x89\xf8\x48\x01\xf0\x75\xf8\xc3", 13),
		       "at +0xa: a branch goes back to the function's entry");
	/* from the moved instructions to their own beginning */
	assert_planned(CODE("\x40\xfe\xcf\x75\xfb\x48\x89\xf0\xc3", 9), &d);
	assert_memory_equal(d.moved, "\x40\xfe\xcf\x0f\x85\xf7\xff\xff\xff", 9);
	/* to right behind the overwritten bytes; a recursive call */
	assert_planned(CODE("\x48\x89\xf8\x89\xc0\x48\x01\xf0\x75\xfb\xc3", 11), &d);
	assert_planned(CODE("\x48\x89\xf8\x48\x01\xf0\xe8\xf5\xff\xff\xff\xc3", 12), &d);
}

static void test_traps(void **state)
{
	(void)state;
	assert_refused(CODE("\xcc\x54\x55\x53\x48\x89\xfb\xc3", 8), "at +0x0: a breakpoint is set there");
	assert_refused(CODE("\xf3\x0f\x1e\xfa\xcc\x54\x55\x53\x48\x89\xfb\xc3", 12), "at +0x4: a breakpoint is set there");
	assert_refused(CODE("\x41\x54\xcc\x53\x48\x89\xfb\xc3", 8), "at +0x2: a breakpoint is set there");
	assert_refused(CODE("\x41\x54\x0f\x0b\x48\x89\xfb\xc3", 8), "at +0x2: it is a trap");
	assert_refused(CODE("\x41\x54\xf4\x90\x48\x89\xfb\xc3", 8), "at +0x2: it is a trap");
}

static void test_not_code(void **state)
{
	(void)state;
	assert_refused(CODE("\x06\x54\x55\x53\x48\x89\xfb\xc3", 8), "at +0x0: no instruction");
	assert_refused(CODE("\x48\x89\xf8\x90\x90\x06\xc3", 7), "at +0x5: no instruction");
	/* the size ends within an instruction */
	assert_refused(CODE("\x48\x89\xf8\x48\x01\xf0\xc3", 5), "at +0x3: no instruction");
	assert_refused(CODE("\x48\x89\xf8\x48\x01\xf0\xc3", 100), "its code cannot be read to the end");
	assert_refused(CODE("", 0), "its code cannot be read to the end");
}

static void test_cannot_be_moved(void **state)
{
	(void)state;
	assert_refused(CODE("\xc7\xf8\x00\x01\x00\x00\x90\xc3", 8),	/* xbegin */
		       "at +0x0: an instruction cannot be moved: its prefixes make it an instruction that depends on its place");
	assert_refused(CODE("\x90\x66\x74\x30\x90\x90\xc3", 7),	/* data16 je */
		       "at +0x1: an instruction cannot be moved: its prefixes make it an instruction that depends on its place");
	assert_refused(CODE("\x67\x8b\x05\x00\x01\x00\x00\xc3", 8),	/* mov eax, [eip + 256] */
		       "at +0x0: an instruction cannot be moved: its prefixes make it an instruction that depends on its place");
	assert_refused(CODE("\x50\xff\x54\x24\x08\x58\xc3", 7),	/* call [rsp + 8] */
		       "at +0x1: an instruction cannot be moved: it is a call by way of the stack or to another segment");
	assert_refused(CODE("\x50\x50\x50\xff\xd4\x58\xc3", 7),	/* call rsp */
		       "at +0x3: an instruction cannot be moved: it is a call by way of the stack or to another segment");
	assert_refused(CODE("\x50\x50\x50\xff\x1f\x58\xc3", 7),	/* call far [rdi] */
		       "at +0x3: an instruction cannot be moved: it is a call by way of the stack or to another segment");
	assert_refused(CODE("\xff\xd0\x48\x89\xf8\xc3", 6), "at +0x0: a call returns to bytes that would be overwritten");
	/* mov rax, [rip - 2 GiB]: out of reach once it is moved up */
	assert_refused(CODE("\x48\x8b\x05\x00\x00\x00\x80\xc3", 8), "at +0x0: an instruction cannot be moved: what it refers to is out of reach");
}

static void test_too_far(void **state)
{
	struct detour_function f = { BASE, (const uint8_t *)"\x48\x89\xf8\x48\x01\xf0\xc3", 7, 7 };
	const uint64_t far = BASE + (1ull << 31);
	struct err e = { 0 };
	struct detour d;

	(void)state;
	assert_int_equal(detour_plan(&f, far + 5, SLOT, &d, &e), -ENOTSUP);
	assert_string_equal(e.text, "the stub would be too far away");
	assert_int_equal(detour_plan(&f, far + 4, SLOT, &d, &e), 0);
	assert_int_equal(detour_plan(&f, SLOT, far + 16, &d, &e), -ENOTSUP);
	assert_string_equal(e.text, "the moved instructions would be too far away");
}

/* jmp at the entry, somebody else's patch: moved like anything else. */
static void test_foreign_jump(void **state)
{
	struct detour d;

	(void)state;
	assert_planned(CODE("\xe9\x00\x10\x00\x00\x90\x90\x90\xc3", 9), &d);
	assert_int_equal(d.nr_moved, 5);
	assert_memory_equal(d.moved, "\xe9\xa0\x0f\xfc\xff", 5);	/* BASE + 0x1005 - (SLOT + 96 + 5) */
}

/* A call pushes the place that it returns to in the function itself. */
static void test_call_moved(void **state)
{
	struct detour d;

	(void)state;
	assert_planned(CODE("\x48\x83\xec\x08\xe8\x00\x10\x00\x00\x48\x83\xc4\x08\xc3", 14), &d);
	assert_int_equal(d.nr_moved, 9);
	assert_memory_equal(d.moved + 4, "\x68\x09\x00\x50\x00\xc7\x44\x24\x04\x00\x00\x00\x00\xe9\x93\x0f\xfc\xff", 18);
}

/* ---- stubs -------------------------------------------------------------------------------------------- */

static void test_stub(void **state)
{
	static const struct { enum pmm_role role; const char *lea; } cases[] = {
		{ PMM_ROLE_MALLOC, "\x48\x8d\x35" },		/* rsi */
		{ PMM_ROLE_CALLOC, "\x48\x8d\x15" },		/* rdx */
		{ PMM_ROLE_FREE, "\x48\x8d\x0d" },		/* rcx */
		{ PMM_ROLE_MREMAP, "\x4c\x8d\x0d" },		/* r9 */
		{ PMM_ROLE_MMAP, "\x4c\x8d\x1d" },		/* r11 */
		{ PMM_ROLE_CUSTOM_ALLOC, "\x4c\x8d\x1d" },
	};
	uint8_t stub[PMM_ENTRY_MOVED_OFF - PMM_ENTRY_STUB_OFF];

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		assert_int_equal(detour_stub(cases[i].role, stub), 13);
		assert_memory_equal(stub, cases[i].lea, 3);
		assert_memory_equal(stub + 3, "\xb9\xff\xff\xff", 4);		/* -(64 + 7) */
		assert_memory_equal(stub + 7, "\xff\x25\xbb\xff\xff\xff", 6);	/* 8 - (64 + 13) */
	}
}

/* ---- who calls whom -------------------------------------------------------------------------------------- */

struct memory {
	uint64_t at;
	uint8_t bytes[64];
};

static int memory_read(void *arg, uint64_t at, void *to, size_t bytes)
{
	const struct memory *m = arg;

	if (at < m->at || at - m->at > sizeof(m->bytes) || bytes > sizeof(m->bytes) - (at - m->at))
		return -EFAULT;
	memcpy(to, m->bytes + (at - m->at), bytes);
	return 0;
}

static bool calls(const struct code *c, struct memory *m)
{
	const uint64_t addresses[] = { 0x1234, 0x600000 };
	struct detour_function f = { BASE, (const uint8_t *)c->bytes, c->nr, c->size };

	return detour_calls(&f, addresses, 2, memory_read, m);
}

static void test_calls(void **state)
{
	/* at BASE + 0x1000: two PLT entries, one with endbr64; at + 0x30 the pointers */
	struct memory m = { BASE + 0x1000, "\xff\x25\x2a\x00\x00\x00\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
			    "\xf3\x0f\x1e\xfa\xf2\xff\x25\x1d\x00\x00\x00\x90\x90\x90\x90\x90" };
	uint64_t wanted = 0x600000, other = 0x700000;

	(void)state;
	memcpy(m.bytes + 0x30, &wanted, 8);
	memcpy(m.bytes + 0x38, &other, 8);
	assert_true(calls(CODE("\xe8\xfb\xff\x0f\x00\xc3", 6), &m));		/* call 0x600000 */
	assert_true(calls(CODE("\x90\xe9\xfa\xff\x0f\x00", 6), &m));		/* jmp 0x600000 */
	assert_false(calls(CODE("\xe8\xfc\xff\x0f\x00\xc3", 6), &m));
	assert_true(calls(CODE("\xe8\xfb\x0f\x00\x00\xc3", 6), &m));		/* call the first PLT entry */
	assert_true(calls(CODE("\xe9\xfb\x0f\x00\x00\xc3", 6), &m));
	assert_false(calls(CODE("\xe8\x0b\x10\x00\x00\xc3", 6), &m));		/* the second */
	memcpy(m.bytes + 0x38, &wanted, 8);
	assert_true(calls(CODE("\xe8\x0b\x10\x00\x00\xc3", 6), &m));
	assert_true(calls(CODE("\xff\x15\x2a\x10\x00\x00\xc3", 7), &m));	/* call [BASE + 0x1030] */
	assert_true(calls(CODE("\xff\x25\x2a\x10\x00\x00\xc3", 7), &m));
	assert_false(calls(CODE("\xff\x15\x2a\x20\x00\x00\xc3", 7), &m));	/* not there */
	assert_false(calls(CODE("\xc3\xe8\xfa\xff\x0f\x00", 1), &m));		/* behind its end */
	assert_false(calls(CODE("\xc3\xe8\xfa\xff\x0f\x00", 0), &m));
}

/* ---- by being called ----------------------------------------------------------------------------------------- */

struct function {
	uint64_t (*call)(uint64_t a, uint64_t b);
	uint64_t size;
	const char *name;
};

extern const struct function detour_functions[];

static const uint64_t values[] = { 0, 1, 2, 127, 128, 0x7fffffffffffffff, 0x8000000000000000, UINT64_MAX };

/* The callers' address is part of some results: one place only calls. */
__attribute__((noinline)) static void results(uint64_t (*call)(uint64_t, uint64_t), uint64_t out[NR(values) * NR(values)])
{
	for (size_t i = 0; i < NR(values) * NR(values); i++)
		out[i] = call(values[i / NR(values)], values[i % NR(values)]);
}

/* A page near the functions: slot 0 in it is used. */
static uint8_t *slot_near(void)
{
	uint64_t at = (uint64_t)detour_functions[0].call & ~4095ull;

	for (unsigned i = 0; i < 4096; i++) {
		void *p = mmap((void *)(at -= 1 << 18), 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		if (p != MAP_FAILED)
			return p;
	}
	return NULL;
}

static uint8_t *slot;

static void write_code(uint64_t at, const void *bytes, size_t nr)
{
	uint64_t page = at & ~4095ull;

	assert_int_equal(mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	memcpy((void *)at, bytes, nr);
	assert_int_equal(mprotect((void *)page, 8192, PROT_READ | PROT_EXEC), 0);
}

static void call_one(const struct function *f)
{
	uint64_t before[NR(values) * NR(values)], patched[NR(values) * NR(values)], moved[NR(values) * NR(values)];
	struct pmm_entry entry = { 0 };
	uint64_t (*copy)(uint64_t, uint64_t) = (uint64_t (*)(uint64_t, uint64_t))(slot + PMM_ENTRY_MOVED_OFF);
	struct detour_function df = { (uint64_t)f->call, (const uint8_t *)f->call, f->size + 16, f->size };
	struct err e = { 0 };
	struct detour d;

	results(f->call, before);
	if (detour_plan(&df, (uint64_t)slot + PMM_ENTRY_STUB_OFF, (uint64_t)slot + PMM_ENTRY_MOVED_OFF, &d, &e))
		fail_msg("%s: %s", f->name, e.text);
	entry.next = entry.hook = (uint64_t)copy;
	memset(slot, 0xcc, PMM_ENTRY_SLOT_BYTES);
	memcpy(slot, &entry, sizeof(entry));
	detour_stub(PMM_ROLE_CUSTOM_ALLOC, slot + PMM_ENTRY_STUB_OFF);
	memcpy(slot + PMM_ENTRY_MOVED_OFF, d.moved, d.nr_moved_out);
	results(copy, moved);
	write_code(d.address, d.patch, d.nr_bytes);
	results(f->call, patched);
	write_code(d.address, d.original, d.nr_bytes);
	for (size_t i = 0; i < NR(before); i++)
		if (before[i] != moved[i] || before[i] != patched[i])
			fail_msg("%s(%#lx, %#lx): %#lx, moved %#lx, patched %#lx", f->name, values[i / NR(values)],
				 values[i % NR(values)], before[i], moved[i], patched[i]);
}

static void test_called(void **state)
{
	unsigned nr = 0;

	(void)state;
	slot = slot_near();
	assert_non_null(slot);
	for (const struct function *f = detour_functions; f->call; f++, nr++)
		call_one(f);
	assert_int_equal(nr, 63);
	munmap(slot, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain), cmocka_unit_test(test_endbr64), cmocka_unit_test(test_boundary_grows),
		cmocka_unit_test(test_too_short), cmocka_unit_test(test_padding_ends), cmocka_unit_test(test_size_unknown),
		cmocka_unit_test(test_branch_into), cmocka_unit_test(test_traps), cmocka_unit_test(test_not_code),
		cmocka_unit_test(test_cannot_be_moved), cmocka_unit_test(test_too_far), cmocka_unit_test(test_foreign_jump),
		cmocka_unit_test(test_call_moved), cmocka_unit_test(test_stub), cmocka_unit_test(test_calls),
		cmocka_unit_test(test_called),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
