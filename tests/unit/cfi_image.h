/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frame sections assembled by hand, and what the reader is expected to make of them. For the tests
 * of agent/cfi*.c.
 */
#ifndef TESTS_UNIT_CFI_IMAGE_H
#define TESTS_UNIT_CFI_IMAGE_H

#include "tests/unit/unit.h"

#include "agent/unwind/cfi.h"

#define CODE		0x400000ull	/* where the FDE's code pretends to be, CODE_BYTES long */
#define CODE_BYTES	0x100000ull
#define STACK		0x7fff0000ull	/* memory the read callback pretends to have */

/* CIE: CFA = sp + 8, return address at CFA - 8 */
#define CALL		0x0c, 7, 8, 0x90, 1
#define BYTES(...)	(const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })
#define AT(n)		(0x40 | (n))	/* advance_loc */

/* An .eh_frame under construction, and the module that consists of it. */
struct image {
	uint8_t b[1024];
	size_t n;
	size_t cie, entry;		/* offsets of the last CIE, of the entry being made */
	struct cfi_module m;
};

static inline void put(struct image *im, const void *p, size_t n)
{
	assert_true(im->n + n <= sizeof(im->b));
	memcpy(im->b + im->n, p, n);
	im->n += n;
}

static inline void put_int(struct image *im, uint64_t v, size_t n)
{
	put(im, &v, n);
}

static inline void image_init(struct image *im)
{
	memset(im, 0, sizeof(*im));
	im->m.start = im->m.frame = (uint64_t)(uintptr_t)im->b;
}

static inline void entry_begin(struct image *im)
{
	im->entry = im->n;
	put_int(im, 0, 4);
}

static inline void entry_end(struct image *im)
{
	uint32_t bytes;

	while (im->n % 4)
		put_int(im, 0, 1);
	bytes = (uint32_t)(im->n - im->entry - 4);
	memcpy(im->b + im->entry, &bytes, 4);
	im->m.end = im->m.start + im->n;
	im->m.frame_bytes = im->n;
}

/* A CIE, code alignment 1, data alignment -8; data: what the augmentation's letters stand for. */
static inline void add_cie(struct image *im, const char *letters, const uint8_t *data,
			   size_t nr_data, const uint8_t *insns, size_t nr_insns)
{
	entry_begin(im);
	im->cie = im->entry;
	put_int(im, 0, 4);
	put_int(im, 1, 1);
	put(im, letters, strlen(letters) + 1);
	if (!strcmp(letters, "eh"))
		put_int(im, 0x1234, 8);
	put_int(im, 1, 1);
	put_int(im, 0x78, 1);
	put_int(im, 16, 1);
	if (letters[0] == 'z')
		put_int(im, nr_data, 1);
	put(im, data, nr_data);
	put(im, insns, nr_insns);
	entry_end(im);
}

/* Its FDE up to the instructions, whose code start and length are given as they are encoded. */
static inline void fde_begin(struct image *im, uint64_t start, uint64_t bytes, size_t width)
{
	entry_begin(im);
	put_int(im, im->n - im->cie, 4);
	put_int(im, start, width);
	put_int(im, bytes, width);
}

/* The usual: plain CIE with instructions CALL, FDE of CODE with these. */
static inline void image_plain(struct image *im, const uint8_t *insns, size_t n)
{
	image_init(im);
	add_cie(im, "", BYTES(), BYTES(CALL));
	fde_begin(im, CODE, CODE_BYTES, 8);
	put(im, insns, n);
	entry_end(im);
}

static inline void expect(const struct image *im, uint64_t off, int kind, int fp_off, int cfa_off)
{
	struct cfi_rule r;

	assert_int_equal(cfi_rule_find(&im->m, CODE + off, &r), kind);
	assert_int_equal(r.kind, kind);
	assert_int_equal(r.fp_off, fp_off);
	assert_int_equal(r.cfa_off, cfa_off);
}

/* Memory whose word at address a is a + 1; the page at 0 cannot be read. */
static inline int read_word(void *ctx, uint64_t addr, uint64_t *val)
{
	(void)ctx;
	*val = addr + 1;
	return addr < 4096 ? -1 : 0;
}

/* sp = STACK, fp = STACK + 0x100, k * 0x1000 elsewhere; all but r8 known. */
static inline struct cfi_regs regs_some(void)
{
	struct cfi_regs r = { .known = 0x1ffff & ~(1u << 8) };
	int k;

	for (k = 0; k < ARCH_DWARF_NR; k++)
		r.r[k] = (uint64_t)k * 0x1000;
	r.r[ARCH_DWARF_SP] = STACK;
	r.r[ARCH_DWARF_FP] = STACK + 0x100;
	return r;
}

static inline struct cfi_regs step(const struct image *im, uint64_t off, int result)
{
	struct cfi_regs r = regs_some(), before = r;

	assert_int_equal(cfi_step_slow(&im->m, CODE + off, &r, read_word, NULL), result);
	if (result <= 0)
		assert_memory_equal(&r, &before, sizeof(r));
	return r;
}

#endif
