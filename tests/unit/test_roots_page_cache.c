/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of freed chunks, in memory made by hand: what they lead to is read page by page, whatever
 * the number of chunks. Also of glibc_cached.c, glibc_forget.c.
 */
#include "tests/unit/unit.h"

#include "include/pmm/ledger.h"
#include "src/roots/glibc/glibc_arenas.h"

#define BASE	0x10000000ull
#define BYTES	0x40000ull
#define PAGES	(BYTES / ROOTS_PAGE)
#define PIECES	(BYTES / ROOTS_CACHE_PIECE)
#define STATE	0x20040ull		/* in the middle, where all tests have memory */
#define BEFORE	112u			/* bytes of a state before its bins */
#define STATE_BYTES	(BEFORE + 254 * 8)
#define CHUNK	32u
#define INUSE	1u

static struct {
	uint64_t word[BYTES / 8];
	uint64_t from, to;		/* of them there is memory */
	unsigned nr_reads;
	struct heap *heap;
	struct memory memory;
	struct roots_find f;
	struct glibc g;
	struct roots_spans found;
} x;

static size_t read_words(void *arg, uint64_t address, void *to, size_t bytes)
{
	(void)arg;
	x.nr_reads++;
	if (address < BASE + x.from || address >= BASE + x.to)
		return 0;
	if (bytes > BASE + x.to - address)
		bytes = BASE + x.to - address;
	memcpy(to, (const char *)x.word + (address - BASE), bytes);
	return bytes;
}

static const struct memory_ops ops = { read_words };

static uint64_t *at(uint64_t offset)
{
	return &x.word[offset / 8];
}

static int begin(void **state)
{
	(void)state;
	memset(&x, 0, sizeof(x));
	x.to = BYTES;
	x.heap = heap_new();
	x.memory.ops = &ops;
	x.f = (struct roots_find){ .memory = &x.memory, .heap = x.heap, .forget = x.heap };
	assert_int_equal(vec_push(&x.g.arenas, (struct glibc_arena){ BASE + STATE, BEFORE }), 0);
	for (unsigned i = 0; i < 254; i++)
		*at(STATE + BEFORE + i * 8) = BASE + STATE + BEFORE + i / 2 * 16 - 16;
	return 0;
}

static int end(void **state)
{
	(void)state;
	roots_find_fini(&x.f);
	memory_fini(&x.memory);
	glibc_fini(&x.g);
	vec_fini(&x.found);
	heap_free(x.heap);
	return 0;
}

/* ---- a fast bin ------------------------------------------------------------------------------ */

static bool fits(uint64_t chunk, uint64_t bytes)
{
	return chunk >= x.from && chunk + bytes <= x.to &&
	       (chunk + bytes + 16 <= STATE || chunk >= STATE + STATE_BYTES);
}

/* All places there are, in steps of so many, modulo their number; how many there are. */
static unsigned fast_fill(unsigned step)
{
	const unsigned nr = BYTES / CHUNK;
	uint64_t *link = at(STATE + 16), from = 0;
	unsigned nr_chunks = 0;

	for (unsigned i = 0, place = 0; i < nr; i++, place = (place + step) % nr) {
		const uint64_t chunk = place * CHUNK;

		if (!fits(chunk, CHUNK))
			continue;
		*at(chunk + 8) = CHUNK | INUSE;
		*link = (BASE + chunk) ^ from;
		link = at(chunk + 16);
		from = (BASE + chunk + 16) >> 12;
		nr_chunks++;
	}
	*link = from;
	return nr_chunks;
}

static void follow(void)
{
	x.nr_reads = 0;
	assert_int_equal(glibc_cached_chunks(&x.f, &x.g, &x.found), 0);
}

static void neighbours_are_read_piece_by_piece(void **state)
{
	unsigned nr = fast_fill(1);

	(void)state;
	follow();
	assert_int_equal(x.found.nr, nr);
	/* the bins, the first page, and with the second all of its piece */
	assert_int_equal(x.nr_reads, 2 + PIECES);
	/* downwards, and what is held is not read again */
	x.found.nr = 0;
	fast_fill(BYTES / CHUNK - 1);
	roots_page_cache_fini(&x.f.cache);
	follow();
	assert_int_equal(x.found.nr, nr);
	assert_in_range(x.nr_reads, 1 + PIECES, 3 + PIECES);
	follow();
	assert_int_equal(x.nr_reads, 1);
}

static void others_are_read_page_by_page(void **state)
{
	unsigned nr = fast_fill(1237);

	(void)state;
	follow();
	assert_int_equal(x.found.nr, nr);
	assert_in_range(x.nr_reads, 1 + PIECES, 1 + PAGES);
}

static void memory_begins_and_ends_within_a_piece(void **state)
{
	unsigned nr;

	(void)state;
	x.from = 5 * ROOTS_PAGE;
	x.to = BYTES - 3 * ROOTS_PAGE;
	nr = fast_fill(1);
	follow();
	assert_int_equal(x.found.nr, nr);
	/* in the first piece each of 11 pages by itself, after all of it for the last 10 */
	assert_int_equal(x.nr_reads, 1 + 11 + 10 + PIECES - 1);
}

static void of_a_page_there_is_a_part(void **state)
{
	unsigned nr;

	(void)state;
	x.to = BYTES - ROOTS_PAGE / 2;
	nr = fast_fill(1);
	follow();
	assert_int_equal(x.found.nr, nr);
}

static void a_circle_is_no_list(void **state)
{
	unsigned nr = fast_fill(1);
	const uint64_t last = BYTES - CHUNK + 16;

	(void)state;
	assert_true(nr > 0);
	*at(last) = BASE ^ (BASE + last) >> 12;
	follow();
	assert_int_equal(x.found.nr, 0);
	assert_in_range(x.nr_reads, 1 + PIECES, 3 + PIECES);
}

static void a_list_that_leads_nowhere(void **state)
{
	const uint64_t last = BYTES - CHUNK + 16;

	(void)state;
	fast_fill(1);
	*at(last) = 0xffffffffffffffe0 ^ (BASE + last) >> 12;
	follow();
	assert_int_equal(x.found.nr, 0);
}

/* ---- a bin ----------------------------------------------------------------------------------- */

/* Free chunks of 64 bytes, each behind one of 32 that is used, in a ring through the first bin. */
static unsigned bin_fill(void)
{
	const uint64_t bin = STATE + BEFORE - 16;
	uint64_t before = bin;
	unsigned nr = 0;

	for (uint64_t chunk = 0; chunk + 96 <= BYTES; chunk += 96) {
		if (!fits(chunk, 96))
			continue;
		*at(chunk + 8) = 64 | INUSE;
		*at(chunk + 24) = BASE + before;
		*at(before + 16) = BASE + chunk;
		*at(chunk + 64) = 64;
		*at(chunk + 72) = CHUNK;
		before = chunk;
		nr++;
	}
	*at(before + 16) = BASE + bin;
	*at(bin + 24) = BASE + before;
	return nr;
}

/* Blocks in all free chunks, and in a used one. */
static void blocks_make(unsigned nr)
{
	struct heap_block *b = calloc(nr + 1, sizeof(*b));
	uint64_t nr_blocks = 0;

	assert_non_null(b);
	for (uint64_t chunk = 0; chunk + 96 <= BYTES; chunk += 96)
		if (fits(chunk, 96))
			b[nr_blocks++] = (struct heap_block){ .address = BASE + chunk + 16,
							      .size_bytes = 40,
							      .kind = PMM_KIND_MALLOC };
	assert_int_equal(nr_blocks, nr);
	b[nr_blocks] = b[nr_blocks - 1];
	b[nr_blocks++].address += 64;
	x.heap->blocks = b;
	x.heap->nr_blocks = nr_blocks;
}

static void a_bin_is_read_piece_by_piece(void **state)
{
	unsigned nr = bin_fill();

	(void)state;
	assert_true(nr > 2000);
	blocks_make(nr);
	assert_int_equal(vec_push(&x.g.tops, BASE + BYTES), 0);
	assert_int_equal(glibc_forget(&x.f, &x.g), 0);
	assert_int_equal(x.heap->nr_blocks, 1);
	/* fast bins, bins, the top, the first page, and with the second all of its piece */
	assert_int_equal(x.nr_reads, 4 + PIECES);
}

/* ---- words of more memory than is held ------------------------------------------------------- */

#define WIDE		(4 * ROOTS_CACHE_BYTES)

/* Of some pages there is only the first half. */
static bool is_hole(uint64_t address)
{
	return address >= BASE + WIDE ||
	       (address / ROOTS_PAGE % 23 == 5 && address & ROOTS_PAGE / 2);
}

/* Each word is its own address. */
static size_t read_addresses(void *arg, uint64_t address, void *to, size_t bytes)
{
	size_t done = 0;

	(void)arg;
	for (; done < bytes && !is_hole(address + done); done += 8)
		*(uint64_t *)(void *)((char *)to + done) = address + done;
	return done;
}

static void words_here_and_there(void **state)
{
	static const struct memory_ops addresses = { read_addresses };
	uint64_t address = BASE, word;

	(void)state;
	x.memory.ops = &addresses;
	srand(1);
	for (unsigned i = 0; i < 10000; i++) {
		bool found;

		/* sometimes near, sometimes far, sometimes where it has the same slot */
		address += i % 3 == 0	? (uint64_t)(rand() % 4096) * 8
			   : i % 3 == 1 ? ROOTS_CACHE_BYTES
					: (uint64_t)rand() * 8;
		address = BASE + (address - BASE) % (WIDE + ROOTS_CACHE_PIECE);
		found = roots_cached_word(&x.f, address, &word);
		assert_int_equal(found, !is_hole(address));
		if (found)
			assert_int_equal(word, address);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(neighbours_are_read_piece_by_piece, begin, end),
		cmocka_unit_test_setup_teardown(others_are_read_page_by_page, begin, end),
		cmocka_unit_test_setup_teardown(memory_begins_and_ends_within_a_piece, begin, end),
		cmocka_unit_test_setup_teardown(of_a_page_there_is_a_part, begin, end),
		cmocka_unit_test_setup_teardown(a_circle_is_no_list, begin, end),
		cmocka_unit_test_setup_teardown(a_list_that_leads_nowhere, begin, end),
		cmocka_unit_test_setup_teardown(a_bin_is_read_piece_by_piece, begin, end),
		cmocka_unit_test_setup_teardown(words_here_and_there, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
