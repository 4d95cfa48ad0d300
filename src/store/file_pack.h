/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing sections of a .pmm capture: numbers by column, compressed as they come.
 *
 * Trouble is sticky: write without checking, ask pack_finish().
 */
#ifndef STORE_FILE_PACK_H
#define STORE_FILE_PACK_H

#include <zstd.h>

#include "src/store/file_format.h"

#define FILE_NUMBER_BYTES 10	/* of one number, at most */

struct pack {
	FILE *f;			/* the caller's */
	const struct heap *heap;	/* borrowed: whose sites have lifetimes */
	int rc;				/* first -errno */
	ZSTD_CCtx *zstd;		/* NULL: not needed so far */
	uint64_t offset;		/* of the end of what was written */
	size_t nr_in;
	uint8_t in[1 << 16], out[1 << 16];
	uint8_t *coded;			/* columns that wait for others; file_columns.c */
	uint32_t nr_toc;
	struct file_toc_entry toc[FILE_MAX_SECTIONS];	/* the last is the section being written */
	/* its head: not written yet, written and to be written again with its sums, written */
	enum { HEAD_LEFT, HEAD_AGAIN, HEAD_DONE } head;
};

/* Begin a capture in `f`. NULL when out of memory. */
struct pack *pack_new(FILE *f);
void pack_free(struct pack *p);

void pack_begin(struct pack *p, const char *id, uint64_t count);
/* Readers that do not know the section being written may skip it. */
void pack_optional(struct pack *p);
void pack_end(struct pack *p);

void pack_number(struct pack *p, uint64_t n);
/* The same to memory, which has room for FILE_NUMBER_BYTES; where it ends. */
static inline uint8_t *pack_put_number(uint8_t *to, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		*to++ = (uint8_t)(n | 0x80);
	*to++ = (uint8_t)n;
	return to;
}

void pack_bytes(struct pack *p, const void *bytes, size_t n);
/* Length and bytes; longer than FILE_MAX_TEXT is -E2BIG. */
void pack_text(struct pack *p, const char *text);
/* The numbers of `bytes` bytes each at base, base + stride, ...: in the shortest coding. */
void pack_column(struct pack *p, const void *base, size_t stride, unsigned bytes, uint64_t count);
/* All columns of the table. */
void pack_columns(struct pack *p, const struct file_table *t, const void *rows, uint64_t count);

/*
 * If reading takes `need` bytes of memory, more than file_budget() allows as yet, make the file
 * large enough.
 */
void pack_pad(struct pack *p, uint64_t need);

/* Note trouble, unless there was some before. */
void pack_fail(struct pack *p, int rc);

/* Write the table of contents and the end. 0 or the first -errno. */
int pack_finish(struct pack *p);

#endif
