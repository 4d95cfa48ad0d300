/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detours: what is refused and why, what becomes of the instructions. Also of src/entries/insn.c,
 * flow.c, undo.c.
 */
#include "tests/unit/unit.h"

#include "src/entries/detour.h"

#define BASE	0x500000ull
#define SLOT	0x540000ull

/* ---- planning from bytes --------------------------------------------------------------------- */

struct code {
	const char *bytes;
	size_t nr, size;		/* size: of the function, 0 = unknown */
};

#define CODE(BYTES, SIZE) (&(struct code){ BYTES, sizeof(BYTES) - 1, SIZE })

static int plan(const struct code *c, struct detour *d, struct err *e)
{
	struct detour_function f = { .address = BASE,
				     .code = (const uint8_t *)c->bytes,
				     .nr_code = c->nr,
				     .size = c->size,
				     .keep = UNDO_ARGS };

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

static void assert_redirected(const struct code *c, struct detour *d)
{
	struct err e = { 0 };

	if (plan(c, d, &e))
		fail_msg("%s", e.text);
	assert_int_equal(d->nr_bytes, 4);
	assert_int_equal(d->nr_moved, 4);
	assert_true(d->bypassed);
	for (unsigned i = 0; i < sizeof(d->boundary); i++)
		assert_int_equal(d->boundary[i], 0xff);
}

static void test_plain(void **state)
{
	/* push r12; push rbp; push rbx; mov rbx, rdi; ret */
	const char code[] = "\x41\x54\x55\x53\x48\x89\xfb\xc3";
	struct detour d;

	(void)state;
	assert_planned(CODE("\x41\x54\x55\x53\x48\x89\xfb\xc3", 8), &d);
	assert_int_equal(d.address, BASE + 2);
	assert_int_equal(d.nr_moved, 5);
	assert_memory_equal(d.original, code + 2, 5);
	/* SLOT + 64 - (BASE + 2) - 5 */
	assert_memory_equal(d.patch, "\xe9\x39\x00\x04\x00", 5);
	assert_int_equal(d.nr_undo, 2);
	assert_memory_equal(d.undo, "\x41\x5c", 2);			/* pop r12 */
	assert_int_equal(d.nr_moved_out, 12);
	assert_memory_equal(d.moved, code, 7);
	/* BASE + 7 - (SLOT + 96 + 12) */
	assert_memory_equal(d.moved + 7, "\xe9\x9b\xff\xfb\xff", 5);
	for (unsigned i = 0; i < sizeof(d.boundary); i++)
		assert_int_equal(d.boundary[i], i == 0 || i == 1 || i == 2 ? i + 2 : 0xff);
	assert_false(d.bypassed);
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
	/* test rdi, rdi; je +5; mov eax, 1; ret */
	assert_planned(CODE("\x48\x85\xff\x74\x05\xb8\x01\x00\x00\x00\xc3", 11), &d);
	assert_int_equal(d.nr_moved, 7);
	assert_int_equal(d.nr_moved_out, 3 + 6 + 5 + 5);
	assert_int_equal(d.nr_undo, 0);
	assert_int_equal(d.boundary[0], 3);
	assert_int_equal(d.boundary[2], 9);
	assert_memory_equal(d.moved + 3, "\x0f\x84", 2);
	/* nop; je +3 to a place inside the moved instructions, but behind the jump */
	assert_planned(CODE("\x90\x74\x03\x0f\x1f\x00\xb8\x01\x00\x00\x00\xc3", 12), &d);
	assert_int_equal(d.nr_moved, 5);
	assert_int_equal(d.boundary[0], 0);
}

static void test_too_short(void **state)
{
	struct detour d;

	(void)state;
	assert_refused(CODE("\x48\x89\xf8\xc3\x55\x53\x50", 4),
		       "the function is only 4 bytes long");
	assert_refused(CODE("\x48\x89\xf8\xc3", 4), "the function is only 4 bytes long");
	/* its last instruction goes on into the padding */
	assert_refused(CODE("\x48\x89\xf8\x90\x90\x90\x90\x90", 3),
		       "the function is only 3 bytes long");
	/* padding, as compilers make it */
	assert_planned(CODE("\x48\x89\xf8\xc3\x0f\x1f\x40\x00", 4), &d);
	assert_int_equal(d.nr_moved, 5);
	assert_int_equal(d.nr_moved_out, 4 + 5);
	/* only a return: any byte of it can be overwritten */
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
	struct detour_function f = { .address = BASE + 12,
				     .code = (const uint8_t *)"\xc3\x90\x90\x90\x90\x90\x90\x90",
				     8,
				     1 };
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
	assert_refused(CODE("\x48\x89\xf8\xc3\x55\x53\x50\x90", 0),
		       "the function is only 4 bytes long");
	assert_planned(CODE("\x48\x89\xf8\xc3\x90\x90\x90\x90\x90", 0), &d);
	/* je beyond the first ret, to what jumps into the overwritten bytes */
	assert_refused(CODE("\x48\x89\xf8\x74\x04\x48\x01\xf0\xc3\xeb\xf8\x90", 0),
		       "at +0x9: a branch goes to bytes that would be overwritten");
	/* the same behind its end does not matter */
	assert_planned(CODE("\x48\x89\xf8\x90\x90\x48\x01\xf0\xc3\xeb\xf8\x90", 0), &d);
	/* cut off in the middle of an instruction that is not needed */
	assert_planned(CODE("\x48\x89\xf8\x90\x90\x48\x01\xf0\x48\x8b", 0), &d);
}

static void test_branch_into(void **state)
{
	struct detour d;

	(void)state;
	assert_refused(CODE("\x48\x89\xf8\x48\x01\xf0\x90\x90\x75\xf9\xc3", 11),
		       "at +0x8: a branch goes to bytes that would be overwritten");
	assert_refused(CODE("\x48\x89\xf8\x48\x01\xf0\x90\x90\xe2\xfc\xc3", 11),
		       "at +0x8: a branch goes to bytes that would be overwritten");
	assert_refused(CODE("\x48\x89\xf8\x48\x01\xf0\xe8\xf8\xff\xff\xff\xc3", 12),
		       "at +0x6: a branch goes to bytes that would be overwritten");
	assert_refused(CODE("\x55\x75\x01\x90\x48\x01\xf0\x5d\xc3", 9),
		       "at +0x1: a branch goes to bytes that would be overwritten");
	assert_refused(CODE("\x48\x89\xf8\x48\x01\xf0\x75\xf9\xc3", 9),
		       "at +0x6: a branch goes into the first instruction");
	/* behind the first instruction: what it did would be taken back each time round */
	assert_refused(CODE("\x55\x48\x01\xf0\x90\x90\x75\xf9\x5d\xc3", 10),
		       "at +0x6: a branch goes to bytes that would be overwritten");
	assert_refused(CODE("\x55\x48\x01\xf0\x90\x90\xe8\xf6\xff\xff\xff\x5d\xc3", 13),
		       "at +0x6: a branch goes to bytes that would be overwritten");
	/* to the entry: each time round would go through the hook */
	assert_refused(CODE("\x48\x89\xf8\x48\x01\xf0\x90\x90\x75\xf6\xc3", 11),
		       "at +0x8: a branch goes back to the function's entry");
	assert_refused(CODE("\xf3\x0f\x1e\xfa\x48\x89\xf8\x48\x01\xf0\x75\xf8\xc3", 13),
		       "at +0xa: a branch goes back to the function's entry");
	/* from the moved instructions to their own beginning, and to the second of them */
	assert_planned(CODE("\xff\xcf\x75\xfc\x48\x89\xf0\xc3", 8), &d);
	assert_memory_equal(d.moved, "\xff\xcf\x0f\x85\xf8\xff\xff\xff", 8);
	assert_memory_equal(d.undo, "\x8d\xbf\x01\x00\x00\x00", 6);
	assert_planned(CODE("\x55\xff\xcf\x75\xfc\x48\x89\xf0\x5d\xc3", 10), &d);
	assert_memory_equal(d.moved, "\x55\xff\xcf\x0f\x85\xf8\xff\xff\xff", 9);
	/* to right behind the overwritten bytes; a recursive call */
	assert_planned(CODE("\x89\xf8\x89\xc0\x48\x01\xf0\x48\x01\xf0\x75\xfb\xc3", 13), &d);
	assert_int_equal(d.nr_moved, 5);
	assert_planned(CODE("\x48\x89\xf8\x48\x01\xf0\x89\xc0\xe8\xf3\xff\xff\xff\xc3", 14), &d);
}

static void test_traps(void **state)
{
	(void)state;
	assert_refused(CODE("\xcc\x54\x55\x53\x48\x89\xfb\xc3", 8),
		       "at +0x0: a breakpoint is set there");
	assert_refused(CODE("\xf3\x0f\x1e\xfa\xcc\x54\x55\x53\x48\x89\xfb\xc3", 12),
		       "at +0x4: a breakpoint is set there");
	assert_refused(CODE("\x41\x54\xcc\x53\x48\x89\xfb\xc3", 8),
		       "at +0x2: a breakpoint is set there");
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
	assert_refused(CODE("\x48\x89\xf8\x48\x01\xf0\xc3", 100),
		       "its code cannot be read to the end");
	assert_refused(CODE("", 0), "its code cannot be read to the end");
}

static void test_cannot_be_moved(void **state)
{
	(void)state;
	assert_refused(CODE("\x90\xc7\xf8\x00\x01\x00\x00\x90\xc3", 9), /* xbegin */
		       "at +0x1: an instruction cannot be moved: its prefixes make it an "
		       "instruction that depends on its place");
	assert_refused(CODE("\x90\x66\x74\x30\x90\x90\xc3", 7), /* data16 je */
		       "at +0x1: an instruction cannot be moved: its prefixes make it an "
		       "instruction that depends on its place");
	/* mov eax, [eip + 256] */
	assert_refused(CODE("\x67\x8b\x05\x00\x01\x00\x00\x90\x90\x90\x90\xc3", 12),
		       "at +0x0: an instruction cannot be moved: its prefixes make it an "
		       "instruction that depends on its place");
	assert_refused(CODE("\x50\x90\xff\x54\x24\x08\x58\xc3", 8), /* call [rsp + 8] */
		       "at +0x2: an instruction cannot be moved: it is a call by way of the stack "
		       "or to another segment");
	assert_refused(CODE("\x50\x50\x50\x50\xff\xd4\x58\xc3", 8), /* call rsp */
		       "at +0x4: an instruction cannot be moved: it is a call by way of the stack "
		       "or to another segment");
	assert_refused(CODE("\x50\x50\x50\x50\xff\x1f\x58\xc3", 8), /* call far [rdi] */
		       "at +0x4: an instruction cannot be moved: it is a call by way of the stack "
		       "or to another segment");
	assert_refused(CODE("\x90\xff\xd0\x48\x89\xf8\xc3", 7),
		       "at +0x1: a call returns to bytes that would be overwritten");
	/* mov rax, [rip - 2 GiB]: out of reach once it is moved up */
	assert_refused(
		CODE("\x48\x8b\x05\x00\x00\x00\x80\x90\x90\x90\x90\xc3", 12),
		"at +0x0: an instruction cannot be moved: what it refers to is out of reach");
}

static void test_too_far(void **state)
{
	struct detour_function f = { .address = BASE,
				     .code = (const uint8_t *)"\x89\xf8\x48\x01\xf0\x90\xc3",
				     .nr_code = 7,
				     .size = 7 };
	const uint64_t far = BASE + 2 + (1ull << 31);
	struct err e = { 0 };
	struct detour d;

	(void)state;
	assert_int_equal(detour_plan(&f, far + 5, SLOT, &d, &e), -ENOTSUP);
	assert_string_equal(e.text, "the stub would be too far away");
	assert_int_equal(detour_plan(&f, far + 4, SLOT, &d, &e), 0);
	assert_int_equal(detour_plan(&f, SLOT, far + 16, &d, &e), -ENOTSUP);
	assert_string_equal(e.text, "the moved instructions would be too far away");
}

/* Only the displacement of a jump or call is overwritten. */
static void test_redirected(void **state)
{
	struct detour d;

	(void)state;
	assert_redirected(CODE("\xe9\x00\x10\x00\x00", 5), &d);
	assert_int_equal(d.address, BASE + 1);
	assert_memory_equal(d.patch, "\x3b\x00\x04\x00", 4);		/* SLOT + 64 - (BASE + 5) */
	assert_memory_equal(d.original, "\x00\x10\x00\x00", 4);
	/* BASE + 0x1005 - (SLOT + 96 + 5) */
	assert_memory_equal(d.moved, "\xe9\xa0\x0f\xfc\xff", 5);
	assert_int_equal(d.nr_undo, 0);
	assert_redirected(CODE("\xf2\xe9\x00\x10\x00\x00", 6), &d);	/* bnd jmp */
	assert_int_equal(d.address, BASE + 2);
	assert_redirected(CODE("\xe8\x00\x10\x00\x00\x90\xc3", 7), &d);
	assert_int_equal(d.address, BASE + 1);
	/* the return address is dropped */
	assert_memory_equal(d.undo, "\x48\x8d\x64\x24\x08", 5);
	assert_memory_equal(d.moved, "\x68\x05\x00\x50\x00", 5);
	assert_redirected(CODE("\xff\x25\x00\x10\x00\x00", 6), &d);	/* jmp [rip + 0x1000] */
	assert_int_equal(d.address, BASE + 2);
	/* SLOT + 248 - (BASE + 6) */
	assert_memory_equal(d.patch, "\xf2\x00\x04\x00", 4);
	assert_memory_equal(d.moved, "\xff\x25", 2);
	assert_redirected(CODE("\xff\x15\x00\x10\x00\x00\xc3", 7), &d);	/* call [rip + 0x1000] */
	assert_int_equal(d.nr_undo, 5);
	/* to the entry again and again; through a register; short */
	assert_refused(CODE("\xe9\x00\x00\x00\x00\x75\xf9\xc3", 8),
		       "at +0x5: a branch goes back to the function's entry");
	assert_refused(CODE("\xff\xe0\x90\x90\x90\x90\x90\x90", 8),
		       "at +0x0: its first instruction must stay, and cannot be undone: it goes "
		       "elsewhere");
	assert_refused(CODE("\xeb\x02\x90\x90\x90\x90\x90\x90", 8),
		       "at +0x0: its first instruction must stay, and cannot be undone: it goes "
		       "elsewhere");
}

static int plan_probed(const struct code *c, uint64_t breakpoints, struct err *e)
{
	struct detour_function f = { .address = BASE,
				     .code = (const uint8_t *)c->bytes,
				     .nr_code = c->nr,
				     .size = c->size,
				     .breakpoints = breakpoints };
	struct detour d;

	return detour_plan(&f, SLOT + PMM_ENTRY_STUB_OFF, SLOT + PMM_ENTRY_MOVED_OFF, &d, e);
}

/*
 * push r12; push rbp; push rbx; mov rbx, rdi; ret: overwritten from +2 on, to the last byte of the
 * mov
 */
static void test_breakpoints(void **state)
{
	const struct code *push = CODE("\x41\x54\x55\x53\x48\x89\xfb\xc3", 8),
			  *jump = CODE("\xe9\x00\x10\x00\x00", 5);
	struct err e = { 0 };

	(void)state;
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(plan_probed(push, 1u << i, &e), i >= 2 && i < 7 ? -ENOTSUP : 0);
	assert_int_equal(plan_probed(push, 1u << 2, &e), -ENOTSUP);
	assert_string_equal(e.text, "at +0x2: a breakpoint is set there (a uprobe, or a "
				    "debugger's): remove it, or set it at +0x0");
	assert_int_equal(plan_probed(jump, 1, &e), 0);
	assert_int_equal(plan_probed(CODE("\xc3\xcc\xcc\xcc\xcc\xcc", 1), 1, &e), -ENOTSUP);
	assert_int_equal(
		plan_probed(CODE("\xf3\x0f\x1e\xfa\x48\x89\xf8\x48\x01\xf0\xc3", 11), 1, &e), 0);
	assert_int_equal(
		plan_probed(CODE("\xf3\x0f\x1e\xfa\x48\x89\xf8\x48\x01\xf0\xc3", 11), 1 << 4, &e),
		-ENOTSUP);
}

static int plan_upon(const struct code *c, const struct pmm_patch *below, uint64_t slot,
		     struct detour *d, struct err *e)
{
	struct detour_function f = { .address = BASE,
				     .code = (const uint8_t *)c->bytes,
				     .nr_code = c->nr,
				     .size = c->size,
				     .keep = UNDO_ARGS,
				     .below = below };

	return detour_plan(&f, slot + PMM_ENTRY_STUB_OFF, slot + PMM_ENTRY_MOVED_OFF, d, e);
}

/* What is in the process's code when `d` has been put there. */
static struct pmm_patch patch_of(const struct detour *d)
{
	struct pmm_patch p = { .address = d->address,
			       .nr_bytes = d->nr_bytes,
			       .nr_moved = d->nr_moved };

	memcpy(p.patched, d->patch, d->nr_bytes);
	return p;
}

/*
 * mov rax, rsi; mul rdx; mov rsi, rax; ret: of the second mov a byte is left behind the jump, with
 * which nothing begins
 */
static void test_stacked(void **state)
{
	const struct code *c = CODE("\x48\x89\xf0\x48\xf7\xe2\x48\x89\xc6\xc3", 10);
	struct detour first, second;
	struct pmm_patch below;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(plan_upon(c, NULL, SLOT, &first, &e), 0);
	assert_int_equal(first.nr_moved, 6);
	below = patch_of(&first);
	assert_int_equal(plan_upon(c, &below, SLOT + 4096, &second, &e), 0);
	assert_int_equal(second.address, BASE + 3);
	assert_int_equal(second.nr_bytes, 5);
	assert_int_equal(second.nr_moved, 5);
	assert_memory_equal(second.original, first.patch, 5);
	assert_int_equal(second.nr_undo, first.nr_undo);
	/* SLOT + 64 - (SLOT + 4096 + 96 + 8) */
	assert_memory_equal(second.moved, "\x48\x89\xf0\xe9\xd8\xef\xff\xff", 8);
	assert_int_equal(second.boundary[0], 3);
	assert_int_equal(second.boundary[3], 0xff);
	/* somewhere else; another function's */
	below.address--;
	assert_int_equal(plan_upon(c, &below, SLOT + 4096, &second, &e), -ENOTSUP);
	assert_string_equal(e.text,
			    "a jump that an earlier pmm has left is in the way: detach that");
	below.address = BASE + 9;
	assert_int_equal(plan_upon(c, &below, SLOT, &second, &e), 0);
	assert_memory_equal(&second, &first, sizeof(first));
}

static void test_stacked_redirected(void **state)
{
	const struct code *c = CODE("\xe9\x00\x10\x00\x00", 5);
	struct detour first, second;
	struct pmm_patch below;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(plan_upon(c, NULL, SLOT, &first, &e), 0);
	below = patch_of(&first);
	assert_int_equal(plan_upon(c, &below, SLOT + 4096, &second, &e), 0);
	assert_int_equal(second.address, BASE + 1);
	assert_int_equal(second.nr_moved, 4);
	assert_memory_equal(second.original, first.patch, 4);
	assert_memory_equal(second.moved, "\xe9\xdb\xef\xff\xff", 5);
}

/* A call pushes the place that it returns to in the function itself. */
static void test_call_moved(void **state)
{
	struct detour d;

	(void)state;
	assert_planned(CODE("\x48\x83\xec\x08\xe8\x00\x10\x00\x00\x48\x83\xc4\x08\xc3", 14), &d);
	assert_int_equal(d.nr_moved, 5);
	assert_memory_equal(d.undo, "\x48\x8d\xa4\x24\x08\x00\x00\x00", 8);
	assert_memory_equal(
		d.moved + 4,
		"\x68\x09\x00\x50\x00\xc7\x44\x24\x04\x00\x00\x00\x00\xe9\x93\x0f\xfc\xff", 18);
}

/* ---- stubs ----------------------------------------------------------------------------------- */

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
	struct detour none = { 0 }, push = { .undo = "\x41\x5c", .nr_undo = 2 };
	uint8_t stub[PMM_ENTRY_MOVED_OFF - PMM_ENTRY_STUB_OFF];

	(void)state;
	assert_int_equal(detour_stub(PMM_ROLE_MALLOC, &push, stub), 15);
	assert_memory_equal(stub, "\x41\x5c\x48\x8d\x35\xb7\xff\xff\xff\xff\x25\xb9\xff\xff\xff",
			    15);
	for (size_t i = 0; i < NR(cases); i++) {
		assert_int_equal(detour_stub(cases[i].role, &none, stub), 13);
		assert_memory_equal(stub, cases[i].lea, 3);
		assert_memory_equal(stub + 3, "\xb9\xff\xff\xff", 4);		/* -(64 + 7) */
		assert_memory_equal(stub + 7, "\xff\x25\xbb\xff\xff\xff", 6);	/* 8 - (64 + 13) */
	}
}

/* ---- who calls whom -------------------------------------------------------------------------- */

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
	struct detour_function f = { .address = BASE,
				     .code = (const uint8_t *)c->bytes,
				     .nr_code = c->nr,
				     .size = c->size,
				     .keep = UNDO_ARGS };

	return detour_calls(&f, addresses, 2, memory_read, m);
}

static void test_calls(void **state)
{
	/* at BASE + 0x1000: two PLT entries, one with endbr64; at + 0x30 the pointers */
	struct memory m = { BASE + 0x1000,
			    "\xff\x25\x2a\x00\x00\x00\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
			    "\xf3\x0f\x1e\xfa\xf2\xff\x25\x1d\x00\x00\x00\x90\x90\x90\x90\x90" };
	uint64_t wanted = 0x600000, other = 0x700000;

	(void)state;
	memcpy(m.bytes + 0x30, &wanted, 8);
	memcpy(m.bytes + 0x38, &other, 8);
	assert_true(calls(CODE("\xe8\xfb\xff\x0f\x00\xc3", 6), &m));		/* call 0x600000 */
	assert_true(calls(CODE("\x90\xe9\xfa\xff\x0f\x00", 6), &m));		/* jmp 0x600000 */
	assert_false(calls(CODE("\xe8\xfc\xff\x0f\x00\xc3", 6), &m));
	/* call the first PLT entry */
	assert_true(calls(CODE("\xe8\xfb\x0f\x00\x00\xc3", 6), &m));
	assert_true(calls(CODE("\xe9\xfb\x0f\x00\x00\xc3", 6), &m));
	assert_false(calls(CODE("\xe8\x0b\x10\x00\x00\xc3", 6), &m));		/* the second */
	memcpy(m.bytes + 0x38, &wanted, 8);
	assert_true(calls(CODE("\xe8\x0b\x10\x00\x00\xc3", 6), &m));
	/* call [BASE + 0x1030] */
	assert_true(calls(CODE("\xff\x15\x2a\x10\x00\x00\xc3", 7), &m));
	assert_true(calls(CODE("\xff\x25\x2a\x10\x00\x00\xc3", 7), &m));
	assert_false(calls(CODE("\xff\x15\x2a\x20\x00\x00\xc3", 7), &m));	/* not there */
	assert_false(calls(CODE("\xc3\xe8\xfa\xff\x0f\x00", 1), &m));		/* behind its end */
	assert_false(calls(CODE("\xc3\xe8\xfa\xff\x0f\x00", 0), &m));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_endbr64),
		cmocka_unit_test(test_boundary_grows),
		cmocka_unit_test(test_too_short),
		cmocka_unit_test(test_padding_ends),
		cmocka_unit_test(test_size_unknown),
		cmocka_unit_test(test_branch_into),
		cmocka_unit_test(test_traps),
		cmocka_unit_test(test_not_code),
		cmocka_unit_test(test_cannot_be_moved),
		cmocka_unit_test(test_too_far),
		cmocka_unit_test(test_redirected),
		cmocka_unit_test(test_breakpoints),
		cmocka_unit_test(test_stacked),
		cmocka_unit_test(test_stacked_redirected),
		cmocka_unit_test(test_call_moved),
		cmocka_unit_test(test_stub),
		cmocka_unit_test(test_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
