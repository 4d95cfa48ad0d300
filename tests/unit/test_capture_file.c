/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The .pmm capture: what is written reads back the same, and damage is noticed. Also of
 * src/store/file_columns.c, file_format.c, file_pack.c, file_read.c, file_unpack.c, file_values.c,
 * file_write.c.
 */
#include "src/base/fmt.h"
#include "tests/unit/capture_image.h"

static void expect_round_trip(struct heap *h)
{
	struct image m = write_image(h);

	expect_read_back(&m, h);
	heap_free(h);
	free(m.bytes);
}

static void heaps_read_back_the_same(void **state)
{
	(void)state;
	expect_round_trip(heap_new());
	expect_round_trip(recipe_heap(rich_recipe));
	expect_round_trip(recipe_heap("generate sites=700 blocks=20000 depth=30 points=50\n"));
}

/* Sections of up to 512 bytes are stored as they are, with one or two bytes for their size. */
static void sections_of_any_size_read_back_the_same(void **state)
{
	char text[1200] = "";

	(void)state;
	for (size_t n = 0; n + 1 < sizeof(text); n++) {
		struct heap *h = heap_new();

		free(h->cmdline);
		h->cmdline = strdup(text);
		expect_round_trip(h);
		text[n] = (char)('a' + n % 26);
	}
}

static void extreme_numbers_read_back_the_same(void **state)
{
	struct heap *h = recipe_heap(rich_recipe);

	(void)state;
	h->bytes_in = UINT64_MAX;
	h->end_status = -1;
	h->taken_ns = UINT64_MAX;
	h->sites[0].live_bytes = INT64_MIN;
	h->sites[1].live_bytes = INT64_MAX;
	h->sites[1].max_bytes = UINT64_MAX;
	h->sites[2].max_bytes = UINT64_MAX - 1;
	h->sites[2].live_blocks = -1;
	h->blocks[h->nr_blocks - 1].address = UINT64_MAX;
	h->blocks[0].address = 0;
	h->blocks[1].size_bytes = UINT64_MAX;
	h->nodes[1].pc = UINT64_MAX;
	h->modules[1].end = UINT64_MAX;
	memset(h->modules[1].build_id, 0xff, HEAP_BUILD_ID_MAX);
	h->modules[1].build_id_len = HEAP_BUILD_ID_MAX;
	strcpy(h->threads[0].name, "sixteen letters!");
	expect_round_trip(h);
}

/* Blocks whose sizes are all multiples of `unit`, but two; how long a capture of them is. */
static size_t bytes_with_unit(uint64_t unit, uint64_t odd_ones)
{
	struct heap *h = recipe_heap("generate sites=10 blocks=3000\n");
	struct image m;
	size_t n;

	for (uint64_t i = 0; i < h->nr_blocks; i++)
		h->blocks[i].size_bytes = ((i * 2654435761u >> 9) % 200 + 1) * unit;
	h->blocks[1000].size_bytes = h->blocks[2999].size_bytes = odd_ones;
	m = write_image(h);
	n = m.n;
	expect_read_back(&m, h);
	heap_free(h);
	free(m.bytes);
	return n;
}

/* A column is written in the largest unit that divides all of its numbers. */
static void units_of_any_kind_are_found(void **state)
{
	static const uint64_t units[] = { 2, 3, 16, 48, 1000003, 10000000, 3ull << 50, 1ull << 55,
					  (1ull << 55) - 1, UINT64_MAX / 255, UINT64_MAX / 200 };
	const size_t plain = bytes_with_unit(1, 1);

	(void)state;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		assert_in_range(bytes_with_unit(units[i], units[i]), plain - 16, plain + 16);
		assert_in_range(bytes_with_unit(units[i], 0), plain - 16, plain + 16);
		assert_true(bytes_with_unit(units[i], units[i] + 1) > plain + 200 || units[i] < 16);
	}
	assert_true(bytes_with_unit(16, UINT64_MAX) > plain + 200);
}

/* By some rows of a column it is guessed how long it will be; here all others are longer. */
static void columns_longer_than_guessed_read_back_the_same(void **state)
{
	struct heap *h = recipe_heap("generate sites=10 blocks=20000\n");

	(void)state;
	for (uint64_t i = 0; i < h->nr_blocks; i++) {
		const bool is_seen = !(i / 128 % 8);

		h->blocks[i].size_bytes = is_seen ? i % 100 : UINT64_MAX / (i + 1);
		/* what takes less room as differences */
		h->blocks[i].birth_ns = (1ull << 60) + (is_seen ? i : (i & 1) << 50);
	}
	expect_round_trip(h);
}

static void texts_are_made_harmless(void **state)
{
	struct heap *h = recipe_heap("process comm=abcdefghi\n"), *back;
	struct image m;
	struct err e;

	(void)state;
	memcpy(h->comm + 1, "\x1b\xe2\x80\x8b\xc2\x9b", 6);	/* ESC, of no width, a C1 control */
	strcpy(h->threads[0].name, "\x1b[m");
	m = write_image(h);
	assert_int_equal(read_image(m.bytes, m.n, &back, &e), 0);
	assert_string_equal(back->comm, "a??????hi");
	assert_string_equal(back->threads[0].name, "?[m");
	heap_free(h);
	heap_free(back);
	free(m.bytes);
}

/*
 * Node 1 becomes the second of two lines that the program named; one beyond them cannot be written.
 */
static void lines_of_the_source_read_back_the_same(void **state)
{
	struct heap *h = recipe_heap(rich_recipe), *back;
	char what[100];
	struct image m;
	struct err e;

	(void)state;
	h->nr_srclocs = 3;
	h->srclocs = calloc(3, sizeof(*h->srclocs));
	for (uint32_t i = 0; i < 3; i++)
		h->srclocs[i] = (struct heap_srcloc){ strdup(i ? "dir/a.c" : ""),
						      strdup(i == 2 ? "f" : ""), 1000 * i };
	h->nodes[1].pc = HEAP_SRCLOC_PC + 2;
	h->nodes[1].module = 0;
	m = write_image(h);
	assert_int_equal(read_image(m.bytes, m.n, &back, &e), 0);
	if (!heap_equal(h, back, what, sizeof(what)))
		fail_msg("%s", what);
	assert_int_equal(heap_srcloc(back, &back->nodes[1])->line, 2000);
	assert_null(heap_srcloc(back, &back->nodes[2]));
	h->nodes[1].pc++;
	assert_int_equal(heap_check(h, what, sizeof(what)), -EBADMSG);
	heap_free(h);
	heap_free(back);
	free(m.bytes);
}

static void resident_memory_reads_back_the_same(void **state)
{
	struct heap *h = recipe_heap("site main size=10 allocs=2\n"), *back;
	char what[100];
	struct image m;
	struct err e;

	(void)state;
	h->peak_resident_bytes = 123456789;
	m = write_image(h);
	assert_int_equal(read_image(m.bytes, m.n, &back, &e), 0);
	if (!heap_equal(h, back, what, sizeof(what)))
		fail_msg("%s", what);
	assert_int_equal(back->peak_resident_bytes, 123456789);
	heap_free(h);
	heap_free(back);
	free(m.bytes);
}

static void the_kernel_modules_log_reads_back_the_same(void **state)
{
	struct heap *h = recipe_heap("site main size=10 allocs=2\n"), *back;
	char what[100];
	struct image m;
	struct err e;

	(void)state;
	h->kmod = (struct heap_kmod){ true, 1, 2, 3, 4, 5, 6, 7, 8, UINT64_MAX };
	m = write_image(h);
	assert_int_equal(read_image(m.bytes, m.n, &back, &e), 0);
	if (!heap_equal(h, back, what, sizeof(what)))
		fail_msg("%s", what);
	assert_int_equal(back->kmod.overflows, 3);
	assert_int_equal(back->kmod.double_frees, UINT64_MAX);
	assert_false(back->kmod.sums);
	heap_free(back);
	free(m.bytes);
	h->kmod.sums = true;
	h->kmod.evicted = 9;
	h->kmod.lost_bytes = UINT64_MAX - 1;
	h->kmod.peak_bytes = 11;
	h->kmod.peak_blocks = 12;
	m = write_image(h);
	assert_int_equal(read_image(m.bytes, m.n, &back, &e), 0);
	if (!heap_equal(h, back, what, sizeof(what)))
		fail_msg("%s", what);
	assert_int_equal(back->kmod.lost_bytes, UINT64_MAX - 1);
	assert_int_equal(back->kmod.peak_blocks, 12);
	heap_free(back);
	free(m.bytes);
	h->kmod.logged = false;		/* sums of nothing */
	m = write_image(h);
	assert_int_equal(read_image(m.bytes, m.n, &back, &e), -EBADMSG);
	heap_free(h);
	free(m.bytes);
}

static void frees_that_nobody_saw_read_back_the_same(void **state)
{
	struct heap *h = recipe_heap("site main size=10 allocs=2\n"), *back;
	uint64_t gone = 1;
	char what[100];
	struct image m;
	struct err e;

	(void)state;
	assert_int_equal(heap_forget(h, &gone), 0);
	assert_int_equal(h->missed_frees, 1);
	assert_int_equal(h->frees, 1);
	assert_int_equal(h->live_blocks, 1);
	assert_int_equal(h->nr_blocks, 1);
	m = write_image(h);
	assert_int_equal(read_image(m.bytes, m.n, &back, &e), 0);
	if (!heap_equal(h, back, what, sizeof(what)))
		fail_msg("%s", what);
	assert_int_equal(back->missed_frees, 1);
	heap_free(h);
	heap_free(back);
	free(m.bytes);
}

/* ---- damage -------------------------------------------------------------------------------- */

static void any_changed_byte_is_noticed(void **state)
{
	struct heap *h = recipe_heap(rich_recipe), *back;
	struct image m = write_image(h);
	struct err e;

	(void)state;
	for (size_t i = 0; i < m.n; i++) {
		const uint8_t change[] = {0xff, (uint8_t)(1u << i % 8), 0x80};

		for (size_t k = 0; k < sizeof(change); k++) {
			int rc;

			m.bytes[i] ^= change[k];
			rc = read_image(m.bytes, m.n, &back, &e);
			if (!rc || !e.text[0] || !e.hint[0])
				fail_msg("byte %zu changed by %#x: %d '%s'", i, change[k], rc,
					 e.text);
			if (rc != (i < 8 ? -EINVAL : -EBADMSG))
				fail_msg("byte %zu changed by %#x: %d '%s'", i, change[k], rc,
					 e.text);
			m.bytes[i] ^= change[k];
		}
	}
	heap_free(h);
	free(m.bytes);
}

static uint64_t bytes_of_tables(const struct heap *h, uint64_t nr_frames)
{
	return h->nr_blocks * sizeof(*h->blocks) + h->nr_maps * sizeof(*h->maps) +
	       h->nr_nodes * (sizeof(*h->nodes) + sizeof(uint32_t)) +
	       nr_frames * sizeof(struct file_frame) +
	       (h->nr_sites + h->nr_map_sites) * sizeof(*h->sites) +
	       h->nr_lifetimes * sizeof(*h->lifetimes) +
	       h->nr_modules * sizeof(*h->modules) + h->nr_threads * sizeof(*h->threads) +
	       h->nr_points * sizeof(*h->points) + h->nr_site_points * sizeof(*h->site_points);
}

/*
 * A sound capture that takes more than it may is not read, and what it takes is told before any of
 * it is taken.
 */
static void more_than_the_limit_is_not_read(void **state)
{
	struct heap *h = recipe_heap("generate sites=700 blocks=200000 depth=30 points=50\n"),
		    *back = NULL;
	struct image m = write_image(h);
	uint64_t least, most;
	char text[512];
	struct err e;

	(void)state;
	least = bytes_of_tables(h, 0);
	/* no more frames than nodes, nor lifetimes than sites */
	most = bytes_of_tables(h, h->nr_nodes) +
	       (h->nr_sites + h->nr_map_sites) * sizeof(*h->lifetimes);
	assert_true(least > 6u << 20);
	assert_int_equal(read_image_within(m.bytes, m.n, 1u << 20, &back, &e), -EFBIG);
	assert_null(back);
	snprintf(text, sizeof(text), "the capture 'x' of %s asks for ", fmt_bytes(m.n).s);
	assert_int_equal(strncmp(e.text, text, strlen(text)), 0);
	assert_non_null(strstr(e.text, " of memory, and the limit is 1.00 MiB"));
	assert_in_range(atof(e.text + strlen(text)) * (1 << 20), least * 0.99, most * 1.01);
	assert_string_equal(e.hint, "if you trust it and the memory is there, raise the limit with "
				    "--memory-limit SIZE");
	assert_int_equal(read_image_within(m.bytes, m.n, least - 1, &back, &e), -EFBIG);
	assert_int_equal(read_image_within(m.bytes, m.n, most + (1u << 20), &back, &e), 0);
	expect_same_heap(h, back);
	heap_free(back);
	heap_free(h);
	free(m.bytes);
}

static void any_lost_end_is_noticed(void **state)
{
	struct heap *h = recipe_heap(rich_recipe), *back;
	struct image m = write_image(h);
	struct err e;

	(void)state;
	for (size_t n = 0; n < m.n; n++)
		if (read_image(m.bytes, n, &back, &e) != -ENODATA || !e.hint[0])
			fail_msg("cut to %zu of %zu bytes: '%s'", n, m.n, e.text);
	expect_refusal(m.bytes, 0, -ENODATA, "the capture 'x' is empty");
	expect_refusal(m.bytes, 4, -ENODATA, "the capture 'x' is cut short (header)");
	expect_refusal(m.bytes, m.n + 1, -EBADMSG,
		       "the capture 'x' is damaged (end mark): something follows it");
	heap_free(h);
	free(m.bytes);
}

static void other_files_are_told_apart(void **state)
{
	struct heap *h = heap_new();
	struct image m = write_image(h);
	struct file_header *head = (struct file_header *)m.bytes;

	(void)state;
	expect_refusal((const uint8_t *)"hello", 5, -EINVAL, "'x' is not a pmm capture");
	expect_refusal((const uint8_t *)"\x7f"
					"ELF, and some more so that there is a whole header",
		       51, -EINVAL, "'x' is not a pmm capture");
	head->major = FILE_MAJOR + 1;
	expect_refusal(m.bytes, m.n, -EBADMSG,
		       "the capture 'x' is damaged (header): its checksum does not match");
	head->crc = file_crc(0, head, offsetof(struct file_header, crc));
	expect_refusal(m.bytes, m.n, -EPROTO,
		       "the capture 'x' was made by a newer pmm (format 2.11, this one reads 1)");
	heap_free(h);
	free(m.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heaps_read_back_the_same),
		cmocka_unit_test(sections_of_any_size_read_back_the_same),
		cmocka_unit_test(extreme_numbers_read_back_the_same),
		cmocka_unit_test(units_of_any_kind_are_found),
		cmocka_unit_test(columns_longer_than_guessed_read_back_the_same),
		cmocka_unit_test(texts_are_made_harmless),
		cmocka_unit_test(lines_of_the_source_read_back_the_same),
		cmocka_unit_test(the_kernel_modules_log_reads_back_the_same),
		cmocka_unit_test(frees_that_nobody_saw_read_back_the_same),
		cmocka_unit_test(resident_memory_reads_back_the_same),
		cmocka_unit_test(any_changed_byte_is_noticed),
		cmocka_unit_test(more_than_the_limit_is_not_read),
		cmocka_unit_test(any_lost_end_is_noticed),
		cmocka_unit_test(other_files_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
