/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing sections of a .pmm capture, see file_pack.h.
 */
#include "src/store/file_pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL 3
#define ROWS_AHEAD 16		/* of large tables, that memory is asked for */
#define LARGE_TABLE (1u << 20)

void pack_fail(struct pack *p, int rc)
{
	if (!p->rc)
		p->rc = rc;
}

static void put(struct pack *p, const void *bytes, size_t n)
{
	errno = 0;
	if (!p->rc && fwrite(bytes, 1, n, p->f) != n)
		pack_fail(p, errno ? -errno : -EIO);
	p->offset += n;
}

struct pack *pack_new(FILE *f)
{
	struct file_header head = {.major = FILE_MAJOR, .minor = FILE_MINOR};
	struct pack *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->f = f;
	p->zstd = ZSTD_createCCtx();
	if (!p->zstd) {
		free(p);
		return NULL;
	}
	if (ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1)))
		pack_fail(p, -ENOTSUP);
	memcpy(head.magic, FILE_MAGIC, sizeof(head.magic));
	head.crc = file_crc(0, &head, offsetof(struct file_header, crc));
	put(p, &head, sizeof(head));
	return p;
}

void pack_free(struct pack *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->zstd);
	free(p);
}

static struct file_section *current(struct pack *p)
{
	return &p->toc[p->nr_toc].section;
}

void pack_begin(struct pack *p, const char *id, uint64_t count)
{
	struct file_section *s = current(p);

	memset(s, 0, sizeof(*s));
	memcpy(s->id, id, sizeof(s->id));
	s->flags = FILE_ZSTD | FILE_REQUIRED;
	s->count = count;
	p->toc[p->nr_toc].offset = p->offset;
	p->head = HEAD_LEFT;
}

void pack_optional(struct pack *p)
{
	current(p)->flags &= ~(uint32_t)FILE_REQUIRED;	/* pack_end() writes it again */
}

static void head_finish(struct file_section *s)
{
	s->crc = file_crc(0, s, offsetof(struct file_section, crc));
}

/*
 * n bytes of the section's payload. Its head comes before them: with its sums in it if these bytes
 * are the `last`, too, as of all small sections; else pack_end() writes it again.
 */
static void payload_put(struct pack *p, size_t n, bool last)
{
	struct file_section *s = current(p);

	s->payload_crc = file_crc(s->payload_crc, p->out, n);
	s->stored_bytes += n;
	if (p->head == HEAD_LEFT) {
		if (last)
			head_finish(s);
		put(p, s, sizeof(*s));
		p->head = last ? HEAD_DONE : HEAD_AGAIN;
	}
	put(p, p->out, n);
}

/* Compress what has gathered; at the end of the section write all of it out. */
static void squeeze(struct pack *p, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = {p->in, p->nr_in, 0};
	size_t left;

	current(p)->raw_bytes += p->nr_in;
	p->nr_in = 0;
	if (p->rc)
		return;
	do {
		ZSTD_outBuffer out = {p->out, sizeof(p->out), 0};

		left = ZSTD_compressStream2(p->zstd, &out, &in, how);
		if (ZSTD_isError(left)) {
			pack_fail(p, -ENOMEM);
			return;
		}
		if (out.pos)
			payload_put(p, out.pos, how == ZSTD_e_end && !left);
	} while (!p->rc && (how == ZSTD_e_end ? left : in.size - in.pos));
}

void pack_end(struct pack *p)
{
	struct file_section *s = current(p);

	squeeze(p, ZSTD_e_end);
	head_finish(s);
	if (!p->rc && p->head == HEAD_AGAIN &&
	    (fseeko(p->f, (off_t)p->toc[p->nr_toc].offset, SEEK_SET) ||
	     fwrite(s, sizeof(*s), 1, p->f) != 1 || fseeko(p->f, (off_t)p->offset, SEEK_SET)))
		pack_fail(p, errno ? -errno : -EIO);
	if (++p->nr_toc == FILE_MAX_SECTIONS)
		pack_fail(p, -E2BIG);
}

void pack_number(struct pack *p, uint64_t n)
{
	if (sizeof(p->in) - p->nr_in < 10)
		squeeze(p, ZSTD_e_continue);
	for (; n >= 0x80; n >>= 7)
		p->in[p->nr_in++] = (uint8_t)(n | 0x80);
	p->in[p->nr_in++] = (uint8_t)n;
}

void pack_bytes(struct pack *p, const void *bytes, size_t n)
{
	const uint8_t *from = bytes;

	while (n) {
		size_t part = sizeof(p->in) - p->nr_in;

		if (!part) {
			squeeze(p, ZSTD_e_continue);
			continue;
		}
		if (part > n)
			part = n;
		memcpy(p->in + p->nr_in, from, part);
		p->nr_in += part;
		from += part;
		n -= part;
	}
}

void pack_text(struct pack *p, const char *text)
{
	size_t n = strlen(text);

	if (n > FILE_MAX_TEXT) {
		pack_fail(p, -E2BIG);
		n = 0;
	}
	pack_number(p, n);
	pack_bytes(p, text, n);
}

/* ---- columns ------------------------------------------------------------------------------- */

struct column {
	const uint8_t *base;
	size_t stride;
	unsigned bytes;
	uint64_t count;
};

static uint64_t column_get(const struct column *c, uint64_t i)
{
	const uint8_t *from = c->base + i * c->stride;
	uint64_t n = 0;

	switch (c->bytes) {
	case 1:
		return *from;
	case 2:
		return *(const uint16_t *)from;
	case 4:
		return *(const uint32_t *)from;
	}
	memcpy(&n, from, sizeof(n));
	return n;
}

/* The column side by side: rows of a large table are each a wait for memory, once is enough. */
static uint64_t *column_copy(const struct column *c)
{
	bool apart = c->stride > sizeof(uint64_t) && c->count * c->stride >= LARGE_TABLE;
	uint64_t *copy = apart ? malloc(c->count * sizeof(*copy)) : NULL;

	for (uint64_t i = 0; copy && i < c->count; i++) {
		__builtin_prefetch(c->base + (i + ROWS_AHEAD) * c->stride);
		copy[i] = column_get(c, i);
	}
	return copy;
}

static uint64_t zigzag(uint64_t n)
{
	return n << 1 ^ -(n >> 63);
}

static unsigned varint_bytes(uint64_t n)
{
	return (unsigned)(70 - __builtin_clzll(n | 1)) / 7;
}

/* The greatest number that divides all values; 0 when all are 0. */
static uint64_t column_unit(const struct column *c)
{
	uint64_t unit = 0;

	for (uint64_t i = 0; i < c->count && unit != 1; i++) {
		uint64_t a = column_get(c, i), b = unit;

		if (b && a % b == 0)
			continue;
		while (b) {
			uint64_t rest = a % b;

			a = b;
			b = rest;
		}
		unit = a;
	}
	return unit;
}

/* A value in units; most columns have unit 1, and a division costs more than all the rest. */
static inline uint64_t in_units(uint64_t value, uint64_t unit)
{
	return unit == 1 ? value : value / unit;
}

static bool column_constant(const struct column *c)
{
	uint64_t first = column_get(c, 0);

	for (uint64_t i = 1; i < c->count; i++)
		if (column_get(c, i) != first)
			return false;
	return true;
}

static void pack_constant(struct pack *p, const struct column *c)
{
	pack_number(p, FILE_CONSTANT);
	pack_number(p, column_get(c, 0));
}

/* The shorter of both codings. All delta: the sums differ by the lengths' differences. */
static enum file_coding column_coding(const struct column *c, uint64_t unit)
{
	uint64_t plain = 0, delta = 0, last = 0;

	for (uint64_t i = 0; i < c->count; i++) {
		uint64_t n = in_units(column_get(c, i), unit);

		plain += varint_bytes(n);
		delta += varint_bytes(zigzag(n - last));
		last = n;
	}
	return delta < plain ? FILE_DELTA : FILE_PLAIN;
}

/* A column that has more than one value. */
static void pack_varied(struct pack *p, struct column c)
{
	uint64_t unit, last = 0, *copy = column_copy(&c);
	enum file_coding coding;

	if (copy)
		c = (struct column){(const uint8_t *)copy, sizeof(*copy), sizeof(*copy), c.count};
	unit = column_unit(&c);
	coding = column_coding(&c, unit);
	pack_number(p, coding);
	pack_number(p, unit);
	for (uint64_t i = 0; i < c.count; i++) {
		uint64_t n = in_units(column_get(&c, i), unit);

		pack_number(p, coding == FILE_DELTA ? zigzag(n - last) : n);
		last = n;
	}
	free(copy);
}

void pack_column(struct pack *p, const void *base, size_t stride, unsigned bytes, uint64_t count)
{
	const struct column c = {base, stride, bytes, count};

	if (!count)
		return;
	if (column_constant(&c))
		pack_constant(p, &c);
	else
		pack_varied(p, c);
}

static struct column column_of(const struct file_table *t, unsigned i, const void *rows,
			       uint64_t count)
{
	return (struct column){(const uint8_t *)rows + t->column[i].offset, t->row_bytes,
			       t->column[i].bytes, count};
}

/*
 * Which of the first 64 columns have one value only, a bit each; most of those of a heap's sites
 * do. Row by row, so that each is read from memory once, and not once for each column.
 */
static uint64_t constant_columns(const struct file_table *t, const void *rows, uint64_t count)
{
	uint64_t same = t->nr_columns < 64 ? (1ull << t->nr_columns) - 1 : UINT64_MAX;

	for (uint64_t row = 1; same && row < count; row++)
		for (uint64_t left = same; left; left &= left - 1) {
			unsigned i = (unsigned)__builtin_ctzll(left);
			struct column c = column_of(t, i, rows, count);

			if (column_get(&c, row) != column_get(&c, 0))
				same &= ~(left & -left);
		}
	return same;
}

void pack_columns(struct pack *p, const struct file_table *t, const void *rows, uint64_t count)
{
	uint64_t constant = count ? constant_columns(t, rows, count) : 0;

	for (unsigned i = 0; count && i < t->nr_columns; i++) {
		struct column c = column_of(t, i, rows, count);

		if (i >= 64)
			pack_column(p, c.base, c.stride, c.bytes, count);
		else if (constant >> i & 1)
			pack_constant(p, &c);
		else
			pack_varied(p, c);
	}
}

/* A section of zeros that no reader needs to know, not compressed. */
void pack_pad(struct pack *p, uint64_t need)
{
	static const uint8_t zeros[4096];
	struct file_section *s = current(p);
	uint64_t n = 0;

	while (file_budget(p->offset + n) < need)
		n += sizeof(zeros);
	if (!n)
		return;
	*s = (struct file_section){.id = "PADD", .stored_bytes = n, .raw_bytes = n};
	for (uint64_t i = 0; i < n; i += sizeof(zeros))
		s->payload_crc = file_crc(s->payload_crc, zeros, sizeof(zeros));
	s->crc = file_crc(0, s, offsetof(struct file_section, crc));
	p->toc[p->nr_toc].offset = p->offset;
	put(p, s, sizeof(*s));
	for (uint64_t i = 0; i < n; i += sizeof(zeros))
		put(p, zeros, sizeof(zeros));
	p->nr_toc++;
}

/* ---- the end ------------------------------------------------------------------------------- */

int pack_finish(struct pack *p)
{
	struct file_section s = {.id = "TOC ", .flags = FILE_REQUIRED, .count = p->nr_toc};
	struct file_end end = {.toc_offset = p->offset, .magic = FILE_END_MAGIC};

	s.stored_bytes = s.raw_bytes = p->nr_toc * sizeof(p->toc[0]);
	s.payload_crc = file_crc(0, p->toc, s.stored_bytes);
	s.crc = file_crc(0, &s, offsetof(struct file_section, crc));
	end.crc = file_crc(0, &end, offsetof(struct file_end, crc));
	put(p, &s, sizeof(s));
	put(p, p->toc, s.stored_bytes);
	put(p, &end, sizeof(end));
	errno = 0;
	if (!p->rc && fflush(p->f))
		pack_fail(p, errno ? -errno : -EIO);
	return p->rc;
}
