/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit test of agent/unwind/cfi_fde.c: entries, encodings and search tables, sound and broken. */
#include "agent/unwind/cfi_fde.h"

#include "tests/unit/cfi_image.h"

static void test_augmentation(void **state)
{
	static const struct {
		const char *letters;
		uint8_t data[12];
		size_t nr_data;
		int kind;
	} cases[] = {
		{ "", { 0 }, 0, CFI_SP },
		{ "z", { 0 }, 0, CFI_SP },
		{ "eh", { 0 }, 0, CFI_SP },
		{ "zR", { 0x04 }, 1, CFI_SP },
		{ "zPLR", { 0x9b, 1, 2, 3, 4, 0x1b, 0x04 }, 7, CFI_SP },
		{ "zPLR", { 0x00, 1, 2, 3, 4, 5, 6, 7, 8, 0xff, 0x0c }, 11, CFI_SP },
		{ "zLPR", { 0xff, 0xff, 0x04 }, 3, CFI_SP },
		{ "zP", { 0x0a, 1, 2 }, 3, CFI_SP },
		{ "zP", { 0x0a, 1 }, 2, CFI_NONE },		/* cut short */
		{ "zR", { 0x84 }, 1, CFI_NONE },		/* indirect code address */
		{ "zQR", { 0, 0x04 }, 2, CFI_NONE },		/* unknown letter */
		{ "Q", { 0 }, 0, CFI_NONE },
	};
	struct image im;
	size_t k;

	(void)state;
	for (k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		image_init(&im);
		add_cie(&im, cases[k].letters, cases[k].data, cases[k].nr_data, BYTES(CALL));
		fde_begin(&im, CODE, CODE_BYTES, 8);
		if (cases[k].letters[0] == 'z')
			put(&im, BYTES(3, 0x3f, 0x3f, 0x3f));	/* the FDE's own, passed over */
		put(&im, BYTES(0x0e, 16));
		entry_end(&im);
		expect(&im, 0, cases[k].kind, 0, cases[k].kind ? 16 : 0);
	}
}

/* What becomes of the FDE when bytes of its CIE change: version, id, return address column. */
static void test_cie_fields(void **state)
{
	struct image im;

	(void)state;
	image_plain(&im, BYTES());
	expect(&im, 0, CFI_SP, 0, 8);
	im.b[8] = 3;		/* version 3: return address column is a LEB128 number */
	expect(&im, 0, CFI_SP, 0, 8);
	im.b[8] = 2;
	expect(&im, 0, CFI_NONE, 0, 0);
	im.b[8] = 1;
	im.b[4] = 1;
	expect(&im, 0, CFI_NONE, 0, 0);
	im.b[4] = 0;
	im.b[12] = 15;
	expect(&im, 0, CFI_NONE, 0, 0);
	im.b[12] = 16;
	im.m.frame_bytes = 20;			/* the CIE alone */
	expect(&im, 0, CFI_NONE, 0, 0);
	im.m.frame_bytes = 0;			/* not known: up to the end */
	expect(&im, 0, CFI_SP, 0, 8);
	im.m.frame = im.m.end;
	expect(&im, 0, CFI_NONE, 0, 0);
}

/*
 * How FDE and table say where code is: encoding, and the base that is taken off before it is
 * stored.
 */
static const struct {
	uint8_t encoding, width;
	enum { ABS, PC, DATA } base;
} encodings[] = {
	{ 0x00, 8, ABS }, { 0x03, 4, ABS }, { 0x04, 8, ABS }, { 0x0b, 4, ABS }, { 0x0c, 8, ABS },
	{ 0x10, 8, PC }, { 0x1b, 4, PC }, { 0x1c, 8, PC }, { 0x12, 2, PC }, { 0x1a, 2, PC },
	{ 0x3b, 4, DATA }, { 0x3c, 8, DATA }, { 0x33, 4, DATA },
};

/* `code` as encoding k stores it at offset `at` of the image. */
static uint64_t encoded(const struct image *im, size_t k, uint64_t code, size_t at)
{
	if (encodings[k].base == PC)
		return code - (im->m.start + at);
	return encodings[k].base == DATA ? code - im->m.hdr : code;
}

static void expect_at(const struct image *im, uint64_t pc, int kind, int cfa_off)
{
	expect(im, pc - CODE, kind, 0, cfa_off);
}

static void test_encodings(void **state)
{
	struct image im;
	uint64_t code;
	size_t k;

	(void)state;
	for (k = 0; k < sizeof(encodings) / sizeof(encodings[0]); k++) {
		image_init(&im);
		im.m.hdr = im.m.start - 0x100;	/* outside: no table, but a base */
		add_cie(&im, "zR", &encodings[k].encoding, 1, BYTES(CALL));
		code = encodings[k].base == ABS ? CODE : im.m.start + 0x7000;
		fde_begin(&im, encoded(&im, k, code, im.n + 8), 0x40, encodings[k].width);
		put(&im, BYTES(0, 0x0e, 16));
		entry_end(&im);
		expect_at(&im, code - 1, CFI_NONE, 0);
		expect_at(&im, code, CFI_SP, 16);
		expect_at(&im, code + 0x3f, CFI_SP, 16);
		expect_at(&im, code + 0x40, CFI_NONE, 0);
	}
	/* textrel, funcrel, formats that do not exist: never a rule for this pc */
	for (k = 0; k < 256; k++) {
		uint8_t encoding = (uint8_t)k;

		image_init(&im);
		add_cie(&im, "zR", &encoding, 1, BYTES(CALL));
		fde_begin(&im, CODE, 0x40, 8);
		put(&im, BYTES(0));
		entry_end(&im);
		if ((k & 0x70) == 0x20 || (k & 0x70) == 0x40 || (k & 0x80) ||
		    ((k & 0xf) > 4 && (k & 0xf) < 9))
			expect(&im, 0, CFI_NONE, 0, 0);
	}
}

/*
 * Three FDEs, 0x1000 apart and 0x100 long, with CFA sp + 16, + 24, + 32, and a table of them in
 * front.
 */
static void image_with_table(struct image *im, size_t k, int with_table)
{
	size_t table, fde, n;
	uint64_t code;

	image_init(im);
	im->m.hdr = im->m.start;
	put(im, BYTES(1, 0x1b, 0x03, encodings[k].encoding));
	put_int(im, 12 + 6 * encodings[k].width - 4, 4); /* .eh_frame, relative to this field */
	put_int(im, 3, 4);
	table = im->n;
	im->n += 6 * encodings[k].width;
	im->m.hdr_bytes = im->n;
	if (!with_table)
		im->b[3] = 0xff;
	add_cie(im, "zR", BYTES(0x1c), BYTES(CALL));
	for (n = 0; n < 3; n++) {
		code = im->m.start + 0x1000 * (n + 1);
		fde = im->n;
		fde_begin(im, code - (im->m.start + im->n + 8), 0x100, 8);
		put(im, BYTES(0, 0x0e, (uint8_t)(16 + 8 * n)));
		entry_end(im);
		code = encoded(im, k, code, table);
		memcpy(im->b + table, &code, encodings[k].width);
		table += encodings[k].width;
		code = encoded(im, k, im->m.start + fde, table);
		memcpy(im->b + table, &code, encodings[k].width);
		table += encodings[k].width;
	}
	im->m.frame = 0;
}

static void expect_three(const struct image *im)
{
	uint64_t at = im->m.start;

	expect_at(im, at, CFI_NONE, 0);
	expect_at(im, at + 0xfff, CFI_NONE, 0);
	expect_at(im, at + 0x1000, CFI_SP, 16);
	expect_at(im, at + 0x10ff, CFI_SP, 16);
	expect_at(im, at + 0x1100, CFI_NONE, 0);
	expect_at(im, at + 0x2000, CFI_SP, 24);
	expect_at(im, at + 0x3000, CFI_SP, 32);
	expect_at(im, at + 0x30ff, CFI_SP, 32);
	expect_at(im, at + 0x3100, CFI_NONE, 0);
}

static void test_table(void **state)
{
	struct image im;
	size_t k, fde;
	uint32_t two = 2;

	(void)state;
	for (k = 0; k < sizeof(encodings) / sizeof(encodings[0]); k++) {
		if (encodings[k].base == ABS && encodings[k].width != 8)
			continue;
		image_with_table(&im, k, 1);
		expect_three(&im);
		fde = im.m.hdr_bytes + 8;	/* the CIE's version: the table leads there */
		im.b[fde] = 99;
		expect_at(&im, im.m.start + 0x1000, CFI_NONE, 0);
		im.b[fde] = 1;
		memcpy(im.b + 8, &two, 4);	/* a table that knows only two */
		expect_at(&im, im.m.start + 0x2000, CFI_SP, 24);
		expect_at(&im, im.m.start + 0x3000, CFI_NONE, 0);
	}
	/* no table: the header leads to .eh_frame, all of it is read */
	image_with_table(&im, 0, 0);
	expect_three(&im);
	image_with_table(&im, 0, 1);
	im.m.hdr_bytes--;	/* a table that does not fit is none: its lie goes unnoticed */
	im.b[12] ^= 1;
	expect_three(&im);
	im.b[0] = 2;		/* nor is one of a later version; .eh_frame is unknown too */
	expect_at(&im, im.m.start + 0x1000, CFI_NONE, 0);
}

/* A header that does not say where .eh_frame is, but has the table. */
static void test_table_alone(void **state)
{
	struct image im;
	size_t n;

	(void)state;
	image_with_table(&im, 11, 1);
	for (n = 4; n + 4 < im.m.hdr_bytes; n++)	/* close the gap the field leaves */
		im.b[n] = im.b[n + 4];
	im.b[1] = 0xff;
	expect_three(&im);
}

/* Aligned pointers; a CIE of version 4, which has two fields more. */
static void test_rare_cie(void **state)
{
	struct image im;

	(void)state;
	image_init(&im);
	add_cie(&im, "zR", BYTES(0x50), BYTES(CALL, 0, 0, 0));
	entry_begin(&im);
	put_int(&im, im.n - im.cie, 4);
	while (im.n % 8)
		put_int(&im, 0xee, 1);
	put_int(&im, CODE, 8);
	put_int(&im, CODE_BYTES, 8);
	put(&im, BYTES(0, 0x0e, 16));
	entry_end(&im);
	assert_int_not_equal((im.entry + 8) % 8, 0);
	expect(&im, 0, CFI_SP, 0, 16);

	image_init(&im);
	entry_begin(&im);
	put(&im, BYTES(0, 0, 0, 0, 4, 0, 8, 0, 1, 0x78, 16, CALL));
	entry_end(&im);
	fde_begin(&im, CODE, CODE_BYTES, 8);
	entry_end(&im);
	expect(&im, 0, CFI_SP, 0, 8);
	im.b[10] = 4;				/* addresses of 4 bytes */
	expect(&im, 0, CFI_NONE, 0, 0);
}

/* 64-bit lengths, and lengths that reach beyond. */
static void test_lengths(void **state)
{
	struct image im;
	uint32_t bytes;
	int cfa_off;

	(void)state;
	image_init(&im);
	add_cie(&im, "", BYTES(), BYTES(CALL));
	put_int(&im, 0xffffffff, 4);
	put_int(&im, 4 + 16 + 2, 8);
	put_int(&im, im.n - im.cie, 4);
	put_int(&im, CODE, 8);
	put_int(&im, CODE_BYTES, 8);
	put(&im, BYTES(0x0e, 16));
	im.m.end = im.m.start + im.n;
	im.m.frame_bytes = im.n;
	expect(&im, 0, CFI_SP, 0, 16);
	im.m.end--;
	expect(&im, 0, CFI_NONE, 0, 0);

	for (bytes = 0; bytes < 64; bytes++) {
		image_plain(&im, BYTES(0x0e, 16));
		memcpy(im.b + im.entry, &bytes, 4);
		cfa_off = bytes == 20 ? 8 : bytes >= 22 && bytes <= 24 ? 16 : 0;
		expect(&im, 0, cfa_off ? CFI_SP : CFI_NONE, 0, cfa_off);
	}
	image_plain(&im, BYTES(0x0e, 16));
	bytes = 0xfffffff0;
	memcpy(im.b + im.entry, &bytes, 4);
	expect(&im, 0, CFI_NONE, 0, 0);
}

/* Every image cut short at every length, in memory that ends there (the sanitizer watches). */
static void test_cut_short(void **state)
{
	struct image im;
	struct cfi_rule r;
	struct cfi_regs regs = regs_some();
	size_t n;

	(void)state;
	image_with_table(&im, 0, 1);
	for (n = 1; n < im.n; n++) {
		uint8_t *b = malloc(n);
		struct cfi_module m = {
			.start = (uintptr_t)b, .end = (uintptr_t)b + n,
			.hdr = (uintptr_t)b, .hdr_bytes = im.m.hdr_bytes,
		};
		uint64_t shift = m.start - im.m.start;
		size_t k;

		assert_non_null(b);
		memcpy(b, im.b, n);
		for (k = 12; k + 8 <= n && k < im.m.hdr_bytes; k += 8) {
			uint64_t word;

			memcpy(&word, b + k, 8);
			word += shift;
			memcpy(b + k, &word, 8);
		}
		for (k = 0; k < 3; k++) {
			assert_in_range(cfi_rule_find(&m, m.start + 0x1000 * (k + 1), &r), CFI_NONE,
					CFI_SP);
			cfi_step_slow(&m, m.start + 0x1000 * (k + 1), &regs, read_word, NULL);
		}
		free(b);
	}
}

static void test_empty_module(void **state)
{
	struct cfi_module m = { .start = 0 };
	struct cfi_regs regs = regs_some();
	struct cfi_rule r = { .kind = 99 };

	(void)state;
	assert_int_equal(cfi_rule_find(&m, CODE, &r), CFI_NONE);
	assert_int_equal(r.kind, CFI_NONE);
	assert_int_equal(cfi_step_slow(&m, CODE, &regs, read_word, NULL), -1);
	m.end = 0x1000;
	m.start = 0x2000;
	m.hdr = m.frame = 0x1800;
	assert_int_equal(cfi_rule_find(&m, CODE, &r), CFI_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_augmentation),
		cmocka_unit_test(test_cie_fields),
		cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_table_alone),
		cmocka_unit_test(test_rare_cie),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_empty_module),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
