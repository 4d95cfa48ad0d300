/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread's registers as words. Of the image of its vector registers all but control words and the
 * header.
 */
#include "src/ptrace/register_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/regs_arch.h"

static void add(struct process_copy_thread *t, const void *from, size_t bytes)
{
	memcpy(t->words + t->nr_words, from, bytes - bytes % sizeof(uint64_t));
	t->nr_words += bytes / sizeof(uint64_t);
}

int register_words_fill(struct process_copy_thread *t, const void *image, size_t bytes)
{
	const uint8_t *from = image;
	uint64_t *words = realloc(t->words, sizeof(t->regs) + bytes);

	if (!words)
		return -ENOMEM;
	t->words = words;
	t->nr_words = 0;
	add(t, &t->regs, sizeof(t->regs));
	for (size_t i = 0; i < sizeof(arch_vectors) / sizeof(*arch_vectors); i++) {
		const struct arch_vectors *v = &arch_vectors[i];
		const size_t end = v->end == SIZE_MAX ? bytes : v->end;

		if (v->begin < end && end <= bytes)
			add(t, from + v->begin, end - v->begin);
	}
	return 0;
}
