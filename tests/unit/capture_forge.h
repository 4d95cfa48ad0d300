/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captures made of sections that no heap has, or of those of a capture, changed. */
#ifndef TESTS_UNIT_CAPTURE_FORGE_H
#define TESTS_UNIT_CAPTURE_FORGE_H

#include <zstd.h>

#include "src/store/file_pack.h"
#include "tests/unit/capture_image.h"

/* A capture whose sections are `forge`'s. */
static inline struct image forged(void (*forge)(struct pack *p))
{
	FILE *f = tmpfile();
	struct pack *p;

	assert_non_null(f);
	p = pack_new(f);
	assert_non_null(p);
	forge(p);
	assert_int_equal(pack_finish(p), 0);
	pack_free(p);
	return image_of(f);
}

static inline void expect_forgery(void (*forge)(struct pack *p), int code, const char *text)
{
	struct image m = forged(forge);

	expect_refusal(m.bytes, m.n, code, text);
	free(m.bytes);
}

static inline void forge_nothing(struct pack *p)
{
	(void)p;
}

/* Pack an image's sections again, each changed by `change`, and whatever `more` adds. */
static inline struct image repacked(const struct image *m,
			     void (*change)(char *id, uint8_t *raw, size_t *n),
			     void (*more)(struct pack *p))
{
	struct file_toc_entry toc[FILE_MAX_SECTIONS];
	struct file_section head;
	struct file_end end;
	FILE *f = tmpfile();
	struct pack *p = pack_new(f);

	assert_non_null(p);
	memcpy(&end, m->bytes + m->n - sizeof(end), sizeof(end));
	memcpy(&head, m->bytes + end.toc_offset, sizeof(head));
	memcpy(toc, m->bytes + end.toc_offset + sizeof(head), head.raw_bytes);
	for (uint64_t i = 0; i < head.count; i++) {
		struct file_section s = toc[i].section;
		size_t n = s.raw_bytes;
		uint8_t *raw = calloc(1, n + 1);

		assert_int_equal(ZSTD_decompress(raw, n + 1, m->bytes + toc[i].offset + sizeof(s),
						 s.stored_bytes),
				 n);
		change(s.id, raw, &n);
		pack_begin(p, s.id, s.count);
		p->toc[p->nr_toc].section.flags = s.flags;
		pack_bytes(p, raw, n);
		pack_end(p);
		free(raw);
	}
	more(p);
	assert_int_equal(pack_finish(p), 0);
	pack_free(p);
	return image_of(f);
}

static inline void change_nothing(char *id, uint8_t *raw, size_t *n)
{
	(void)id;
	(void)raw;
	(void)n;
}

#endif
