/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the .eh_frame reader on a module made of arbitrary bytes.
 *
 * Input: 4 bytes that choose pc, whether there is a header and what else is known, then the image.
 * Pointers in it are meant relative to their own address (pcrel) or to the image (datarel), so a
 * mutation keeps its sense wherever it lies.
 */
#include "agent/unwind/cfi.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Memory that answers nearly everywhere. */
static int read_word(void *ctx, uint64_t addr, uint64_t *val)
{
	(void)ctx;
	*val = addr * 0x9e3779b97f4a7c15ull;
	return addr % 64 == 63 ? -1 : 0;
}

static void check_rule(const struct cfi_rule *r, int kind)
{
	if (kind != r->kind || kind < CFI_NONE || kind > CFI_SLOW)
		abort();
	if (kind != CFI_SP && kind != CFI_FP && r->fp_off)
		abort();
	if (kind != CFI_SP && kind != CFI_FP && kind != CFI_FP_DEREF && r->cfa_off)
		abort();
}

/* A simple rule must say what the full step does. */
static void check_step(const struct cfi_rule *rule, const struct cfi_regs *before,
		       const struct cfi_regs *after, int ret)
{
	uint64_t cfa = before->r[rule->kind == CFI_SP ? ARCH_DWARF_SP : ARCH_DWARF_FP] +
		       (uint64_t)(int64_t)rule->cfa_off;

	if (ret <= 0 && memcmp(before, after, sizeof(*before)))
		abort();
	if (rule->kind == CFI_NONE && ret != -1)
		abort();
	if (rule->kind == CFI_END && ret != 0)
		abort();
	if ((rule->kind == CFI_SP || rule->kind == CFI_FP) && ret > 0 &&
	    after->r[ARCH_DWARF_SP] != cfa)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cfi_regs regs = { .known = 0x1ffff }, before;
	struct cfi_module m;
	struct cfi_rule rule;
	uint8_t *image;
	uint64_t pc;
	int k;

	if (size < 5)
		return 0;
	image = malloc(size - 4);	/* of its own, so that a read beyond it is noticed */
	if (!image)
		return 0;
	memcpy(image, data + 4, size - 4);
	m = (struct cfi_module){ .start = (uintptr_t)image, .end = (uintptr_t)image + size - 4 };
	if (data[2] & 1)
		m.hdr = m.start;
	if (data[2] & 2)
		m.hdr_bytes = data[3];
	if (data[2] & 4)
		m.frame = m.start + data[3];
	if (data[2] & 8)
		m.frame_bytes = data[1];
	pc = (data[2] & 16 ? m.start : 0) + (data[0] | (uint64_t)data[1] << 8);

	for (k = 0; k < ARCH_DWARF_NR; k++)
		regs.r[k] = (uint64_t)k * 0x123456789ull;
	before = regs;
	check_rule(&rule, cfi_rule_find(&m, pc, &rule));
	check_step(&rule, &before, &regs, cfi_step_slow(&m, pc, &regs, read_word, NULL));
	free(image);
	return 0;
}
