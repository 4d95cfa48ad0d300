/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading sections of a .pmm capture: every byte is outside data.
 *
 * Trouble is sticky, the first is kept with its sentence; after it numbers are 0. Nothing is
 * allocated that was not taken from the budget first.
 */
#ifndef STORE_FILE_UNPACK_H
#define STORE_FILE_UNPACK_H

#include <zstd.h>

#include "src/store/file_format.h"

struct unpack {
	FILE *f;			/* the caller's */
	struct heap *heap;		/* the caller's: gets the lifetimes of its sites */
	const char *name;		/* of the file, for messages */
	const char *where;		/* part being read, for messages */
	struct err *e;
	int rc;				/* first -errno */
	uint64_t offset, file_bytes;
	uint64_t budget;		/* bytes of memory still allowed */
	uint64_t used_bytes, max_bytes;	/* of memory: taken, and by the caller allowed */
	/* what the table of contents says that it takes; 0 = not known. For messages */
	uint64_t asked_bytes;
	uint16_t major, minor;
	ZSTD_DCtx *zstd;
	struct file_section section;	/* the one being read */
	uint64_t stored_left, raw_left;	/* of it: not yet read from the file, not yet come out */
	uint32_t crc;			/* of its payload so far */
	bool ended;			/* its zstd frame is complete */
	ZSTD_inBuffer pending;		/* read from the file, not yet decompressed */
	size_t out_at, nr_out;		/* decompressed, not yet used */
	uint8_t in[1 << 16], out[1 << 16];
	uint32_t nr_toc;
	struct file_toc_entry toc[FILE_MAX_SECTIONS];	/* sections seen */
};

/* Begin with the header. NULL when out of memory, else unpack_free() it, whatever its `rc`. */
struct unpack *unpack_new(FILE *f, uint64_t file_bytes, uint64_t max_bytes, const char *name,
			  struct err *e);
void unpack_free(struct unpack *u);

/* Damaged: set the sentence with what is wrong. Returns -EBADMSG. */
int unpack_damaged(struct unpack *u, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Where the file can be read out of order: read the table of contents into u->toc, how many
 * sections; 0 = it is not sound.
 */
uint32_t unpack_peek(struct unpack *u);

/*
 * The next section's header into u->section. 1, 0 at the table of contents (checked, with the end),
 * or -errno.
 */
int unpack_next(struct unpack *u);

/*
 * Begin, and end, reading the payload; the end checks that all of it was used (more of a newer
 * minor is skipped).
 */
void unpack_begin(struct unpack *u, const char *where);
void unpack_end(struct unpack *u);
/* Pass over the payload. */
void unpack_skip(struct unpack *u);

/*
 * Decompress the next part into `out`, which has been used up; nothing comes when `ended`. 0 or rc.
 */
int unpack_more(struct unpack *u);

/* Take n elements' memory, which the caller gets, from the budget. 0 or rc. */
int unpack_take(struct unpack *u, uint64_t n, size_t size);
int unpack_no_memory(struct unpack *u);
/* Zeroed memory for n elements, free()d by the caller; NULL (and rc set) if that is too much. */
void *unpack_alloc(struct unpack *u, uint64_t n, size_t size);

uint64_t unpack_number(struct unpack *u);
void unpack_bytes(struct unpack *u, void *bytes, size_t n);
/* A string, made harmless; free()d by the caller. NULL when rc is set. */
char *unpack_text(struct unpack *u);
/*
 * `count` numbers into the fields of `c->bytes` bytes at base, base + stride, ...; those of `lived`
 * columns to the lifetimes of the sites there.
 */
void unpack_column(struct unpack *u, void *base, size_t stride, const struct file_column *c,
		   uint64_t count);

#endif
