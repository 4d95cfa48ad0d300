/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detours: patched functions work as before, by being called. Also of src/entries/insn.c. */
#include "tests/unit/unit.h"

#include <sys/mman.h>

#include "src/entries/detour.h"
#include "src/entries/insn.h"

struct function {
	uint64_t (*call)(uint64_t a, uint64_t b);
	uint64_t size;
	const char *name;
};

extern const struct function detour_functions[];

static const uint64_t values[] = {
	0, 1, 2, 127, 128, 0x7fffffffffffffff, 0x8000000000000000, UINT64_MAX
};

/* The callers' address is part of some results: one place only calls. */
__attribute__((noinline)) static void results(uint64_t (*call)(uint64_t, uint64_t),
					      uint64_t out[NR(values) * NR(values)])
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

/* Functions that cannot be patched, with the reason. */
static const struct { const char *name, *why;
} refused[] = {
	{ "add_near_locked", "at +0x0: its first instruction must stay, and cannot be undone: what "
			     "it does cannot be undone" },
	{ "jump_short",
	  "at +0x0: its first instruction must stay, and cannot be undone: it goes elsewhere" },
	{ "round_and_round", "at +0x0: its first instruction must stay, and cannot be undone: what "
			     "it changes cannot be restored" },
	{ "call_through_register_moved",
	  "at +0x8: a call returns to bytes that would be overwritten" },
};

static const char *why_refused(const struct function *f)
{
	for (size_t i = 0; i < NR(refused); i++)
		if (!strcmp(f->name, refused[i].name))
			return refused[i].why;
	return NULL;
}

/*
 * What the kernel does where a uprobe is hit at `f`: the first instruction elsewhere, then on
 * behind it.
 */
static void *stepped(const struct function *f, uint8_t *at)
{
	const char *why;
	struct insn in;
	unsigned n;

	assert_true(insn_decode((const uint8_t *)f->call, 16, (uint64_t)f->call, &in));
	n = insn_move(&in, (uint64_t)at, at, &why);
	assert_true(n > 0);
	insn_jump((uint64_t)at + n, (uint64_t)f->call + in.length, at + n);
	return at;
}

struct outcome {
	uint64_t v[NR(values) * NR(values)];
};

static void assert_same(const struct function *f, const struct outcome *before,
			const struct outcome *now, const char *how)
{
	for (size_t i = 0; i < NR(before->v); i++)
		if (before->v[i] != now->v[i])
			fail_msg("%s(%#lx, %#lx): %#lx, %s %#lx", f->name, values[i / NR(values)],
				 values[i % NR(values)], before->v[i], how, now->v[i]);
}

static void call_patched(const struct function *f, const struct detour *d,
			 const struct outcome *before)
{
	uint64_t (*copy)(uint64_t,
			 uint64_t) = (uint64_t(*)(uint64_t, uint64_t))(slot + PMM_ENTRY_MOVED_OFF);
	uint64_t (*probed)(uint64_t, uint64_t) = stepped(f, slot + 2 * PMM_ENTRY_SLOT_BYTES);
	uint8_t first = *(const uint8_t *)f->call;
	struct outcome now;

	results(copy, now.v);
	assert_same(f, before, &now, "moved");
	write_code(d->address, d->patch, d->nr_bytes);
	results(f->call, now.v);
	assert_same(f, before, &now, "patched");
	results(probed, now.v);
	assert_same(f, before, &now, "stepped over");
	write_code((uint64_t)f->call, &first, 1);	/* the uprobe is taken away */
	results(f->call, now.v);
	assert_same(f, before, &now, "with its first byte put back");
	write_code(d->address, d->original, d->nr_bytes);
	results(f->call, now.v);
	assert_same(f, before, &now, "restored");
}

static void call_one(const struct function *f)
{
	struct pmm_entry entry = { .next = (uint64_t)slot + PMM_ENTRY_MOVED_OFF,
				   .hook = (uint64_t)slot + PMM_ENTRY_MOVED_OFF };
	struct detour_function df = {
		.address = (uint64_t)f->call,
		.code = (const uint8_t *)f->call,
		.nr_code = f->size + 16,
		.size = f->size,
		.keep = UNDO_ARG(0) | UNDO_ARG(1),
	};
	uint64_t stub = (uint64_t)slot + PMM_ENTRY_STUB_OFF;
	const char *why = why_refused(f);
	struct outcome before;
	struct err e = { 0 };
	struct detour d;
	int rc = detour_plan(&df, stub, (uint64_t)slot + PMM_ENTRY_MOVED_OFF, &d, &e);

	assert_string_equal(rc ? e.text : "planned", why ? why : "planned");
	if (rc)
		return;
	results(f->call, before.v);
	memset(slot, 0xcc, PMM_ENTRY_SLOT_BYTES);
	memcpy(slot, &entry, sizeof(entry));
	detour_stub(PMM_ROLE_CUSTOM_ALLOC, &d, slot + PMM_ENTRY_STUB_OFF);
	memcpy(slot + PMM_ENTRY_MOVED_OFF, d.moved, d.nr_moved_out);
	memcpy(slot + PMM_ENTRY_POINTER_OFF, &stub, sizeof(stub));
	call_patched(f, &d, &before);
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
		cmocka_unit_test(test_called),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
