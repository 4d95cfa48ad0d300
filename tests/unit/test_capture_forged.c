/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures with the right checksums and wrong contents, or contents that are not this version's:
 * nothing that a file holds does harm. Also of src/store/file_format.c, file_pack.c, file_read.c,
 * file_unpack.c, file_values.c, file_write.c.
 */
#include "src/base/fmt.h"
#include "src/store/file_pack.h"
#include "tests/unit/capture_forge.h"

static void forge_count(struct pack *p)
{
	pack_begin(p, "BLOK", 1ull << 33);
	pack_end(p);
}

static void forge_impossible_count(struct pack *p)
{
	pack_begin(p, "THRD", 1ull << 40);
	pack_end(p);
}

static void forge_bomb(struct pack *p)
{
	static const uint8_t zeros[1 << 16];

	pack_begin(p, "BLOK", 1);
	for (int i = 0; i < 3000; i++)
		pack_bytes(p, zeros, sizeof(zeros));
	pack_end(p);
}

static void forge_surplus(struct pack *p)
{
	pack_begin(p, "PNTS", 0);
	pack_number(p, 1);
	pack_end(p);
}

static void forge_deficit(struct pack *p)
{
	pack_begin(p, "PNTS", 3);
	pack_number(p, FILE_PLAIN);
	pack_number(p, 1);
	pack_number(p, 1);
	pack_end(p);
}

static void forge_coding(struct pack *p)
{
	pack_begin(p, "PNTS", 3);
	pack_number(p, FILE_NR_CODINGS);
	pack_end(p);
}

static void forge_overflow(struct pack *p)
{
	pack_begin(p, "PNTS", 3);
	pack_number(p, FILE_PLAIN);
	pack_number(p, UINT64_MAX);
	pack_number(p, 2);
	pack_end(p);
}

static void forge_width(struct pack *p)
{
	pack_begin(p, "THRD", 2);
	pack_number(p, FILE_CONSTANT);
	pack_number(p, 1ull << 32);
	pack_end(p);
}

static void forge_long_number(struct pack *p)
{
	pack_begin(p, "PNTS", 3);
	pack_bytes(p, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12);
	pack_end(p);
}

static void forge_long_text(struct pack *p)
{
	pack_begin(p, "MODU", 1);
	for (int i = 0; i < 6; i++) {
		pack_number(p, FILE_CONSTANT);
		pack_number(p, 0);
	}
	pack_number(p, FILE_MAX_TEXT + 1);
	pack_end(p);
}

static void forge_twice(struct pack *p)
{
	for (int i = 0; i < 2; i++) {
		pack_begin(p, "PNTS", 0);
		pack_end(p);
	}
}

static void forge_unknown(struct pack *p)
{
	pack_begin(p, "WHAT", 0);
	pack_end(p);
}

static void forgeries_are_refused(void **state)
{
	(void)state;
	expect_forgery(forge_count, -EBADMSG,
		       "the capture 'x' is damaged (live blocks): it declares more "
		       "than such a file can hold");
	expect_forgery(forge_impossible_count, -EBADMSG,
		       "the capture 'x' is damaged (threads): it cannot have 1099511627776 rows");
	expect_forgery(forge_surplus, -EBADMSG,
		       "the capture 'x' is damaged (time series): it holds more than its rows");
	expect_forgery(forge_deficit, -EBADMSG,
		       "the capture 'x' is damaged (time series): its data end early");
	expect_forgery(forge_coding, -EBADMSG,
		       "the capture 'x' is damaged (time series): a column has an unknown coding");
	expect_forgery(forge_overflow, -EBADMSG,
		       "the capture 'x' is damaged (time series): a number is out of range");
	expect_forgery(forge_width, -EBADMSG,
		       "the capture 'x' is damaged (threads): a number is out of range");
	expect_forgery(forge_long_number, -EBADMSG,
		       "the capture 'x' is damaged (time series): a number is too large");
	expect_forgery(forge_long_text, -EBADMSG,
		       "the capture 'x' is damaged (modules): a string is too long");
	expect_forgery(forge_twice, -EBADMSG,
		       "the capture 'x' is damaged (time series): it is there twice");
	expect_forgery(forge_nothing, -EBADMSG,
		       "the capture 'x' is damaged (what ran): it is missing");
	expect_forgery(forge_unknown, -EPROTO, "the capture 'x' was made by a newer pmm");
}

/* drift_blocks, field 25 of HEAD, from 1 to 0. */
static void clear_drift(char *id, uint8_t *raw, size_t *n)
{
	size_t at = 0;

	if (memcmp(id, "HEAD", 4))
		return;
	for (int field = 0; field < 25; field++)
		for (at++; raw[at++] & 0x80;)
			;
	assert_in_range(at, 1, *n);
	assert_int_equal(raw[at + 1], 1);
	raw[at + 1] = 0;
}

/* heap_check() has the last word. */
static void contradictions_are_refused(void **state)
{
	struct heap *h = recipe_heap("watch drift=1\nsite main size=10 allocs=2\n");
	struct image m, forgery;
	struct err e;

	(void)state;
	h->allocs = 3;
	m = write_image(h);
	forgery = repacked(&m, clear_drift, forge_nothing);
	expect_refusal(
		forgery.bytes, forgery.n, -EBADMSG,
		"the capture 'x' is damaged (contents): allocations: the sites add up to 2, the "
		"total is 3");
	h->drift_blocks = 0;
	assert_int_equal(file_write_heap(h, stderr, "x", &e), -EBADMSG);
	heap_free(h);
	free(m.bytes);
	free(forgery.bytes);
}

/* A column that version 1.0 does not have. */
static void add_to_points(char *id, uint8_t *raw, size_t *n)
{
	if (!memcmp(id, "PNTS", 4))
		raw[(*n)++] = 77;
}

static void add_optional_section(struct pack *p)
{
	pack_begin(p, "WHAT", 5);
	p->toc[p->nr_toc].section.flags = FILE_ZSTD;
	pack_bytes(p, "anything", 8);
	pack_end(p);
}

/* What a later minor version may do: optional sections, more at the end of a section. */
/*
 * More than such a file can hold is damage; what it can hold and the limit forbids is told with
 * both figures.
 */
static void bombs_are_refused(void **state)
{
	struct image m = forged(forge_bomb);
	struct heap *h = NULL;
	char text[512];
	struct err e;

	(void)state;
	snprintf(text, sizeof(text),
		 "the capture 'x' of %s asks for 188 MiB of memory, and the limit is 64.0 MiB",
		 fmt_bytes(m.n).s);
	expect_refusal(m.bytes, m.n, -EFBIG, text);
	assert_int_equal(read_image_within(m.bytes, m.n, 256u << 20, &h, &e), -EBADMSG);
	assert_string_equal(
		e.text, "the capture 'x' is damaged (live blocks): it holds more than its rows");
	free(m.bytes);
}

static void later_minor_versions_are_read(void **state)
{
	struct heap *h = recipe_heap(rich_recipe);
	struct image m = write_image(h), later = repacked(&m, add_to_points, add_optional_section);
	struct file_header *head = (struct file_header *)later.bytes;

	(void)state;
	expect_refusal(later.bytes, later.n, -EBADMSG,
		       "the capture 'x' is damaged (time series): it holds more than its rows");
	head->minor = FILE_MINOR + 1;
	head->crc = file_crc(0, head, offsetof(struct file_header, crc));
	expect_read_back(&later, h);
	heap_free(h);
	free(m.bytes);
	free(later.bytes);
}

/* Heap errors came with 1.2: files of 1.1 have none. */
static void captures_of_before_are_read(void **state)
{
	struct heap *h = recipe_heap(
		"site main size=10 allocs=2\nsearch copy\nleak main definite blocks=1\n");
	struct image m = write_image(h);
	struct file_header *head = (struct file_header *)m.bytes;

	(void)state;
	assert_int_equal(head->minor, FILE_MINOR);
	head->minor = 1;
	head->crc = file_crc(0, head, offsetof(struct file_header, crc));
	expect_read_back(&m, h);
	heap_free(h);
	free(m.bytes);
}

static void forge_large(struct pack *p)
{
	pack_pad(p, 5ull << 30);
	pack_pad(p, 5ull << 30); /* no more of it */
}

/*
 * A very regular heap compresses below what the reader takes for honest: then the file is made
 * larger.
 */
static void large_heaps_get_a_file_to_match(void **state)
{
	struct image m = forged(forge_large);

	(void)state;
	assert_true(file_budget(m.n) >= 5ull << 30);
	assert_in_range(m.n, 1 << 20, (1 << 20) + 8192);
	expect_refusal(m.bytes, m.n, -EBADMSG,
		       "the capture 'x' is damaged (what ran): it is missing");
	m.bytes[1000]++;
	expect_refusal(
		m.bytes, m.n, -EBADMSG,
		"the capture 'x' is damaged (a skipped section): its checksum does not match");
	free(m.bytes);
}

static struct image of_recipe(const char *recipe)
{
	struct heap *h = recipe_heap(recipe);
	struct image m = write_image(h);

	heap_free(h);
	return m;
}

/* pmm records 512 frames and reads 4096 of other tools. */
static void deep_stacks_are_refused(void **state)
{
	struct image m = of_recipe("deep depth=4097\n");
	struct heap *h;
	struct err e;

	(void)state;
	expect_refusal(m.bytes, m.n, -EBADMSG,
		       "the capture 'x' is damaged (contents): a stack has more than 4096 frames");
	free(m.bytes);
	m = of_recipe("deep depth=4096\n");
	assert_int_equal(read_image(m.bytes, m.n, &h, &e), 0);
	heap_free(h);
	free(m.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forgeries_are_refused),
		cmocka_unit_test(bombs_are_refused),
		cmocka_unit_test(contradictions_are_refused),
		cmocka_unit_test(later_minor_versions_are_read),
		cmocka_unit_test(captures_of_before_are_read),
		cmocka_unit_test(deep_stacks_are_refused),
		cmocka_unit_test(large_heaps_get_a_file_to_match),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
