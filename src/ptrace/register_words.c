/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread's registers as words. Of an XSAVE image (Intel SDM 1, 13.4) all but control words and
 * the header.
 */
#include "src/ptrace/register_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEGACY_BEGIN	32	/* x87 and SSE registers */
#define LEGACY_END	416
#define EXTENDED_BEGIN	576	/* AVX and later */

static void add(struct process_copy_thread *t, const void *from, size_t bytes)
{
	memcpy(t->words + t->nr_words, from, bytes - bytes % sizeof(uint64_t));
	t->nr_words += bytes / sizeof(uint64_t);
}

int words_fill(struct process_copy_thread *t, const void *image, size_t bytes)
{
	const uint8_t *from = image;
	uint64_t *words = realloc(t->words, sizeof(t->regs) + bytes);

	if (!words)
		return -ENOMEM;
	t->words = words;
	t->nr_words = 0;
	add(t, &t->regs, sizeof(t->regs));
	if (bytes >= LEGACY_END)
		add(t, from + LEGACY_BEGIN, LEGACY_END - LEGACY_BEGIN);
	if (bytes > EXTENDED_BEGIN)
		add(t, from + EXTENDED_BEGIN, bytes - EXTENDED_BEGIN);
	return 0;
}
