/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules by which memory is a root or the allocator's, on memory made by hand.
 */
#include "tests/unit/unit.h"

#include "include/pmm/ledger.h"
#include "src/roots/glibc/glibc_arenas.h"

#define BASE	0x10000000ull
#define BYTES	0x40000ull

static struct {
	uint64_t word[BYTES / 8];
	struct heap_block block[64];
	struct heap heap;
	struct memory memory;
	struct roots_find f;
	struct glibc g;
} x;

static size_t read_words(void *arg, uint64_t address, void *to, size_t bytes)
{
	(void)arg;
	if (address < BASE || address >= BASE + BYTES)
		return 0;
	if (bytes > BASE + BYTES - address)
		bytes = BASE + BYTES - address;
	memcpy(to, (const char *)x.word + (address - BASE), bytes);
	return bytes;
}

static const struct memory_ops ops = { read_words };

static int begin(void **state)
{
	(void)state;
	memset(&x, 0, sizeof(x));
	x.heap.blocks = x.block;
	x.heap.allocator.path = x.heap.exe = (char *)"";
	x.memory.ops = &ops;
	x.f = (struct roots_find){ .memory = &x.memory, .heap = &x.heap, .complete = true };
	return 0;
}

static int end(void **state)
{
	(void)state;
	roots_find_fini(&x.f);
	memory_fini(&x.memory);
	glibc_fini(&x.g);
	return 0;
}

static void live(uint64_t offset, uint64_t bytes)
{
	x.block[x.heap.nr_blocks++] = (struct heap_block){ .address = BASE + offset,
							   .size_bytes = bytes,
							   .kind = PMM_KIND_MALLOC };
}

/* A chunk's size and flags at an offset; the offset of the next one. */
static uint64_t chunk(uint64_t offset, uint64_t bytes, uint64_t flags)
{
	x.word[offset / 8 + 1] = bytes | flags;
	return offset + bytes;
}

/* What is covered, as "start-end ..." in offsets. */
static const char *covered(void)
{
	static char text[512];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < x.f.covered.nr; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%llx-%llx", i ? " " : "",
				      (unsigned long long)(x.f.covered.v[i].start - BASE),
				      (unsigned long long)(x.f.covered.v[i].end - BASE));
	return text;
}

/* Of the chunks from BASE to BASE + end. */
static const char *covered_up_to(uint64_t end, uint64_t first)
{
	assert_int_equal(glibc_cover(&x.f, &x.g, BASE, BASE + end, first), 0);
	return covered();
}

/* Of the pages of an allocator that nothing is known of. */
static const char *covered_pages(void)
{
	x.f.covered.nr = 0;
	assert_int_equal(glibc_chunk_map_find(&x.f), 0);
	return covered();
}

static const char *ranges(const struct roots_ranges *r)
{
	static char text[512];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < r->nr; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%llx-%llx:%d", i ? " " : "",
				      (unsigned long long)r->v[i].start,
				      (unsigned long long)r->v[i].end, r->v[i].kind);
	return text;
}

static void top_at(uint64_t offset)
{
	vec_push(&x.g.tops, BASE + offset);
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static void what_lies_between_blocks_is_the_allocators(void **state)
{
	uint64_t at = chunk(0, 0x290, 1);

	(void)state;
	at = chunk(at, 0x30, 1);	/* 290, live */
	at = chunk(at, 0x100, 1);	/* 2c0, free or in a cache: all the same */
	at = chunk(at, 0x40, 1);	/* 3c0, live */
	chunk(at, 0x1000 - at, 1);	/* 400, top */
	live(0x2a0, 0x20);
	live(0x3d0, 0x38);
	top_at(0x400);
	assert_string_equal(covered_up_to(0x1000, BASE), "0-1000");
}

static void when_blocks_are_unknown_only_what_is_free(void **state)
{
	uint64_t at = chunk(0, 0x290, 1);

	(void)state;
	x.f.complete = false;
	at = chunk(at, 0x30, 1);	/* 290, live */
	at = chunk(at, 0x50, 1);	/* 2c0, unknown */
	at = chunk(at, 0x80, 1);	/* 310, free */
	at = chunk(at, 0x60, 0);	/* 390, unknown */
	at = chunk(at, 0x40, 1);	/* 3f0, live */
	at = chunk(at, 0x20, 1);	/* 430, free */
	chunk(at, 0x1000 - at, 0);	/* 450, top */
	live(0x2a0, 0x28);
	live(0x400, 0x38);
	top_at(0x450);
	/* an unknown chunk ends with the next one's first word */
	assert_string_equal(covered_up_to(0x1000, BASE), "298-2c8 318-398 3f8-1000");
}

static void the_programs_own_memory_lies_behind_a_fence(void **state)
{
	uint64_t at = chunk(0, 0x40, 1);	/* live */

	(void)state;
	at = chunk(at, 0x80, 1);	/* 40, free */
	at = chunk(at, 0x10, 1);	/* c0 */
	chunk(at, 0x10, 1);		/* d0, and behind it the program's, up to 800 */
	chunk(0x800, 0x30, 1);		/* live */
	chunk(0x830, 0x7d0, 1);		/* top */
	live(0x10, 0x38);
	live(0x810, 0x28);
	top_at(0x830);
	assert_string_equal(covered_up_to(0x1000, BASE), "8-e0 808-1000");
}

static void and_behind_the_top(void **state)
{
	(void)state;
	chunk(0, 0x40, 1);
	chunk(0x40, 0x3c0, 1);		/* top, up to 400 */
	live(0x10, 0x20);
	top_at(0x40);
	assert_string_equal(covered_up_to(0x1000, BASE), "8-400");
}

/* Sizes that lead past the next block, nowhere, around the address space. */
static void damaged_sizes_cover_nothing(void **state)
{
	static const uint64_t wrong[] = {
		0x101, 0x29, 0x31, 0x9, 0xfffffffffffffff1, 0x8000000000000001, 0x1000001, 0x43, 0
	};

	(void)state;
	for (size_t i = 0; i < NR(wrong); i++) {
		end(NULL);
		begin(NULL);
		chunk(0, 0x40, 1);
		x.word[0x40 / 8 + 1] = wrong[i];	/* up to 80 */
		chunk(0x80, 0x40, 1);
		live(0x10, 0x38);
		live(0x90, 0x38);
		top_at(0xc0);
		chunk(0xc0, 0xf40, 1);
		assert_string_equal(covered_up_to(0x1000, 0), "8-48 88-1000");
	}
}

static void a_live_block_with_a_damaged_size_ends_the_walk(void **state)
{
	(void)state;
	chunk(0, 0x20, 1);		/* smaller than the block */
	live(0x10, 0x38);
	live(0x90, 0x38);
	chunk(0x80, 0x40, 1);
	assert_string_equal(covered_up_to(0xc0, 0), "88-c0");
}

static void blocks_mapped_by_themselves(void **state)
{
	(void)state;
	x.word[0x1000 / 8] = 0;
	chunk(0x1000, 0x3000, 2);	/* up to 4000 */
	x.word[0x8fe0 / 8] = 0xfe0;	/* aligned: its mapping begins at 8000 */
	chunk(0x8fe0, 0x3000 - 0xfe0, 2);
	live(0x1010, 0x2100);
	live(0x8ff0, 0x1f00);
	top_at(0x20000);
	assert_string_equal(covered_up_to(0x10000, 0), "1000-4000 8000-b000");
}

static void pools_in_blocks_are_no_chunks(void **state)
{
	(void)state;
	chunk(0, 0x100, 1);
	chunk(0x100, 0x40, 1);
	chunk(0x140, 0xec0, 1);
	live(0x10, 0xf0);
	live(0x10, 0x20);
	x.block[1].kind = PMM_KIND_OTHER;
	live(0x80, 0x20);
	x.block[2].kind = PMM_KIND_OTHER;
	live(0x110, 0x38);
	top_at(0x140);
	assert_string_equal(covered_up_to(0x1000, BASE), "8-1000");
}

/* ---- pages, of allocators that nothing is known of ------------------------------------------- */

static void pages_with_blocks_are_the_allocators(void **state)
{
	(void)state;
	vec_push(&x.f.ranges, (struct memory_range){ .start = BASE,
						     .end = BASE + 0x10000,
						     .kind = MEMORY_ANONYMOUS });
	vec_push(&x.f.ranges, (struct memory_range){ .start = BASE + 0x20000,
						     .end = BASE + 0x28000,
						     .kind = MEMORY_DATA });
	live(0x1800, 0x20);
	live(0x4ff0, 0x20);
	/* in an object's data: no page of it is the allocator's alone */
	live(0x20800, 0x20);
	assert_string_equal(covered_pages(), "1000-2000 4000-6000");
	x.f.complete = false;
	assert_string_equal(covered_pages(), "");
}

static void mappings_of_the_allocator_are_its_own(void **state)
{
	struct heap_module modules[] = { { .path = (char *)"" },
					 { .path = (char *)"/lib/liballoc.so.2.1" },
					 { .path = (char *)"/bin/p" } };
	struct heap_node nodes[] = { { 0 }, { .module = 1 }, { .module = 2 } };
	struct heap_site sites[] = { { .node = 1 }, { .node = 2 } };
	struct heap_block maps[] = {
		{ .address = BASE + 0x2000, .size_bytes = 0x4000 },
		{ .address = BASE + 0x8000, .size_bytes = 0x1000, .site = 1 }
	};

	(void)state;
	x.heap.allocator.path = (char *)"/lib/liballoc.so.2";
	x.heap.exe = (char *)"/bin/p";
	x.heap.modules = modules;
	x.heap.nodes = nodes;
	x.heap.map_sites = sites;
	x.heap.maps = maps;
	x.heap.nr_maps = NR(maps);
	vec_push(&x.f.ranges, (struct memory_range){ .start = BASE + 0x1000,
						     .end = BASE + 0x10000,
						     .kind = MEMORY_ANONYMOUS });
	live(0x5800, 0x1000);
	live(0x8800, 0x10);
	assert_string_equal(covered_pages(), "2000-7000 8000-9000");
	x.heap.nr_blocks = 0;
	assert_string_equal(covered_pages(), "2000-6000");
	/* built into the program, whose mappings are its own */
	x.heap.exe = x.heap.allocator.path;
	assert_string_equal(covered_pages(), "");
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static void painting_and_cutting(void **state)
{
	struct roots_ranges r = { 0 }, marks = { 0 };
	struct roots_spans s = { 0 };

	(void)state;
	vec_push(&r,
		 (struct memory_range){ .start = 0x100, .end = 0x200, .kind = MEMORY_ANONYMOUS });
	vec_push(&r, (struct memory_range){ .start = 0x300, .end = 0x400, .kind = MEMORY_BREAK });
	vec_push(&marks,
		 (struct memory_range){ .start = 0x180, .end = 0x340, .kind = MEMORY_STACK });
	vec_push(&marks, (struct memory_range){ .start = 0x120, .end = 0x140, .kind = ROOTS_NONE });
	assert_int_equal(roots_paint(&r, &marks), 0);
	assert_string_equal(ranges(&r), "100-120:5 140-180:5 180-200:1 300-340:1 340-400:4");
	roots_span_add(&s, 0x110, 0x130);
	roots_span_add(&s, 0x130, 0x150);
	roots_span_add(&s, 0x3f0, 0x500);
	assert_int_equal(s.nr, 2);
	assert_int_equal(roots_cut(&r, &s), 0);
	assert_string_equal(ranges(&r), "100-110:5 150-180:5 180-200:1 300-340:1 340-3f0:4");
	roots_span_add(&s, 0x500, 0x600);
	r.v[0].end = 0x118;
	assert_int_equal(roots_keep(&r, &s), 0);
	assert_string_equal(ranges(&r), "110-118:5");
	vec_fini(&r);
	vec_fini(&marks);
	vec_fini(&s);
}

static void no_root_in_a_live_block(void **state)
{
	struct roots_ranges r = { 0 };

	(void)state;
	vec_push(&r, (struct memory_range){ .start = BASE + 8, .end = BASE + 0x400 });
	live(0, 0x10);
	live(0x100, 0x100);
	live(0x120, 0x10);
	x.block[2].kind = PMM_KIND_OTHER;
	live(0x200, 0);
	live(0x300, 0x200);
	assert_int_equal(roots_cut_blocks(&r, &x.heap), 0);
	assert_int_equal(r.nr, 2);
	assert_true(r.v[0].start == BASE + 0x10 && r.v[0].end == BASE + 0x100);
	assert_true(r.v[1].start == BASE + 0x200 && r.v[1].end == BASE + 0x300);
	assert_true(roots_in_block(&x.heap, BASE + 0x1f0) && roots_in_block(&x.heap, BASE + 0x128));
	assert_false(roots_in_block(&x.heap, BASE + 0x200) ||
		     roots_in_block(&x.heap, BASE + 0x500));
	vec_fini(&r);
}

/* ---- a block on its way ---------------------------------------------------------------------- */

static void what_a_thread_moves_counts(void **state)
{
	struct proc_map map[2] = { { .start = BASE,
				     .end = BASE + 0x10000,
				     .perms = PROC_MAP_READ | PROC_MAP_WRITE,
				     .path = (char *)"" },
				   { .start = BASE + 0x20000,
				     .end = BASE + 0x30000,
				     .perms = PROC_MAP_READ | PROC_MAP_WRITE,
				     .path = (char *)"[stack]" } };
	struct proc_maps maps = { map, NR(map) };
	uint64_t words[] = { BASE + 0x1200, BASE + 0x9000 };
	struct process_copy_thread thread = { .tid = 7, .words = words, .nr_words = NR(words) };
	struct precopy_move move = { .from = BASE + 0x1100,
				     .bytes = 0x40,
				     .to_bytes = 0x60,
				     .sp = BASE + 0x28100,
				     .tid = 7 };

	(void)state;
	thread.regs.rsp = BASE + 0x28000;
	x.word[0x28010 / 8] = BASE + 0x1300;
	/* above the hook: the program's own pointer to a freed block */
	x.word[0x28110 / 8] = BASE + 0x1400;
	live(0x1800, 0x20);
	x.f.maps = &maps;
	x.f.threads = &thread;
	x.f.nr_threads = 1;
	x.f.moves = &move;
	x.f.nr_moves = 1;
	assert_int_equal(roots_join(&x.f), 0);
	for (size_t i = 0; i < x.memory.roots.nr; i++) {
		x.memory.roots.v[i].start -= BASE;
		x.memory.roots.v[i].end -= BASE;
	}
	assert_string_equal(
		ranges((struct roots_ranges *)&x.memory.roots),
		"0-1000:5 1100-1140:8 1200-1260:8 1300-1360:8 2000-10000:5 27f80-30000:1");
}

/* ---- is every block known? ------------------------------------------------------------------- */

static void what_makes_a_heap_incomplete(void **state)
{
	(void)state;
	assert_true(roots_complete(&x.heap));
	x.heap.dropped[PMM_DROP_SITE_FULL] = 1;
	assert_true(roots_complete(&x.heap));
	x.heap.dropped[PMM_DROP_NESTED] = 1;
	assert_false(roots_complete(&x.heap));
	begin(NULL);
	x.heap.began = HEAP_BEGAN_FORK;
	assert_false(roots_complete(&x.heap));
	begin(NULL);
	x.heap.min_size_bytes = 1;
	assert_false(roots_complete(&x.heap));
	begin(NULL);
	x.heap.mode = HEAP_SAMPLED;
	assert_false(roots_complete(&x.heap));
	begin(NULL);
	x.heap.untracked_frees = 1;
	assert_false(roots_complete(&x.heap));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_lies_between_blocks_is_the_allocators),
		TEST(when_blocks_are_unknown_only_what_is_free),
		TEST(the_programs_own_memory_lies_behind_a_fence),
		TEST(and_behind_the_top),
		TEST(damaged_sizes_cover_nothing),
		TEST(a_live_block_with_a_damaged_size_ends_the_walk),
		TEST(blocks_mapped_by_themselves),
		TEST(pools_in_blocks_are_no_chunks),
		TEST(pages_with_blocks_are_the_allocators),
		TEST(mappings_of_the_allocator_are_its_own),
		TEST(painting_and_cutting),
		TEST(no_root_in_a_live_block),
		TEST(what_a_thread_moves_counts),
		TEST(what_makes_a_heap_incomplete),
	};

	return cmocka_run_group_tests_name("scene parts", tests, NULL, NULL);
}
