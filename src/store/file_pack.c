/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing sections of a .pmm capture, see file_pack.h.
 */
#include "src/store/file_pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* 3 makes large captures 3 % smaller, and takes half as long again to compress */
#define LEVEL 2
#define NUMBER_BYTES 10		/* at most */
#define PART_NUMBERS 512
/* Numbers by which a column's coding is chosen: so many ... */
#define SAMPLE_NUMBERS PART_NUMBERS
#define SAMPLE_EVERY (8 * SAMPLE_NUMBERS) /* ... of so many, where there are more */
#define ROWS_AHEAD 16		/* that memory is asked for */
#define MOST_COPIES 16		/* of columns, at a time ... */
#define COPIES_BYTES (2u << 20) /* ... and how large all of them are, unless one is larger */
/* Of fewer bytes a frame is made here: to get a compressor ready takes more than it would save. */
#define SMALL_BYTES 512

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
	free(p->copies);
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

/* A frame of one block that is stored as it is (RFC 8878, 3.1.1), and not a checksum more. */
static size_t frame_store(uint8_t *out, const uint8_t *in, size_t n)
{
	static const uint8_t magic[] = {0x28, 0xb5, 0x2f, 0xfd};
	uint32_t block = (uint32_t)n << 3 | 1;	/* raw, the last */
	uint8_t *to = out + sizeof(magic);

	memcpy(out, magic, sizeof(magic));
	if (n < 256) {
		*to++ = 0x20;	/* a single segment, whose size is a byte */
		*to++ = (uint8_t)n;
	} else {
		*to++ = 0x60;	/* ... two bytes */
		*to++ = (uint8_t)(n - 256);
		*to++ = (uint8_t)((n - 256) >> 8);
	}
	for (unsigned i = 0; i < 24; i += 8)
		*to++ = (uint8_t)(block >> i);
	memcpy(to, in, n);
	return (size_t)(to - out) + n;
}

static bool is_ready(struct pack *p)
{
	if (p->zstd)
		return true;
	p->zstd = ZSTD_createCCtx();
	if (!p->zstd)
		pack_fail(p, -ENOMEM);
	else if (ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, LEVEL)) ||
		 ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1)))
		pack_fail(p, -ENOTSUP);
	return !p->rc;
}

/* Compress what has gathered; at the end of the section write all of it out. */
static void squeeze(struct pack *p, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = {p->in, p->nr_in, 0};
	bool small = how == ZSTD_e_end && !current(p)->raw_bytes && p->nr_in <= SMALL_BYTES;
	size_t left;

	current(p)->raw_bytes += p->nr_in;
	p->nr_in = 0;
	if (p->rc)
		return;
	if (small) {
		payload_put(p, frame_store(p->out, p->in, in.size), true);
		return;
	}
	if (!is_ready(p))
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

/* Room for it is there. */
static uint8_t *put_number(uint8_t *to, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		*to++ = (uint8_t)(n | 0x80);
	*to++ = (uint8_t)n;
	return to;
}

void pack_number(struct pack *p, uint64_t n)
{
	if (sizeof(p->in) - p->nr_in < NUMBER_BYTES)
		squeeze(p, ZSTD_e_continue);
	p->nr_in = (size_t)(put_number(p->in + p->nr_in, n) - p->in);
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

static uint64_t zigzag(uint64_t n)
{
	return n << 1 ^ -(n >> 63);
}

static unsigned varint_bytes(uint64_t n)
{
	return (9 * (64 - (unsigned)__builtin_clzll(n | 1)) + 64) / 64;	/* (bits + 6) / 7 */
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

/* A column that has more than one value, on its way to the file. */
struct varied {
	struct column c;
	uint64_t *copy;			/* its numbers; NULL: they are side by side, or no memory */
	uint64_t unit;			/* they are in multiples of it; 0 until it is known */
	uint64_t part[PART_NUMBERS];	/* some of them */
};

/* Numbers from the `from`th on, *nr of them. */
static const uint64_t *varied_get(struct varied *v, uint64_t from, uint64_t *nr)
{
	uint64_t left = v->c.count - from;

	*nr = v->copy || left < PART_NUMBERS ? left : PART_NUMBERS;
	if (v->copy)
		return v->copy + from;
	for (uint64_t i = 0; i < *nr; i++) {
		v->part[i] = column_get(&v->c, from + i);
		if (v->unit > 1)
			v->part[i] /= v->unit;
	}
	return v->part;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/*
 * The greatest number that divides all; they are not all 0. Most columns have unit 1, and a
 * division costs more than all the rest.
 */
static void find_unit(struct varied *v)
{
	uint64_t unit = 0, nr;

	for (uint64_t at = 0; at < v->c.count && unit != 1; at += nr) {
		const uint64_t *n = varied_get(v, at, &nr);

		for (uint64_t i = 0; i < nr && unit != 1; i++)
			if (!unit || n[i] % unit)
				unit = common_divisor(n[i], unit);
	}
	v->unit = unit;
	for (uint64_t i = 0; v->copy && unit > 1 && i < v->c.count; i++)
		v->copy[i] /= unit;
}

/*
 * The shorter of both codings: of all numbers where they are few, else of a run of them in each
 * SAMPLE_EVERY.
 */
static enum file_coding find_coding(struct varied *v)
{
	const uint64_t step = v->c.count > SAMPLE_EVERY ? SAMPLE_EVERY : SAMPLE_NUMBERS;
	uint64_t plain = 0, delta = 0, last = 0, nr;

	for (uint64_t at = 0; at < v->c.count; at += step) {
		const uint64_t *n = varied_get(v, at, &nr);

		nr = nr < SAMPLE_NUMBERS ? nr : SAMPLE_NUMBERS;
		for (uint64_t i = 0; i < nr; i++) {
			plain += varint_bytes(n[i]);
			delta += varint_bytes(zigzag(n[i] - last));
			last = n[i];
		}
	}
	return delta < plain ? FILE_DELTA : FILE_PLAIN;
}

/* `nr` numbers; `last`: the one before them. */
static void pack_numbers(struct pack *p, const uint64_t *n, uint64_t nr, enum file_coding coding,
			 uint64_t last)
{
	for (uint64_t i = 0; i < nr;) {
		const uint8_t *end = p->in + sizeof(p->in) - NUMBER_BYTES;
		uint8_t *to = p->in + p->nr_in;

		for (; i < nr && to <= end; i++) {
			to = put_number(to, coding == FILE_DELTA ? zigzag(n[i] - last) : n[i]);
			last = n[i];
		}
		p->nr_in = (size_t)(to - p->in);
		if (i < nr)
			squeeze(p, ZSTD_e_continue);
	}
}

/* `copy`: of the column, and spent; or NULL. */
static void pack_varied(struct pack *p, const struct column *c, uint64_t *copy)
{
	struct varied v;
	enum file_coding coding;
	uint64_t last = 0, nr;

	v.c = *c;
	v.copy = copy;
	v.unit = 0;
	find_unit(&v);
	coding = find_coding(&v);
	pack_number(p, coding);
	pack_number(p, v.unit);
	for (uint64_t at = 0; at < c->count; at += nr) {
		const uint64_t *n = varied_get(&v, at, &nr);

		pack_numbers(p, n, nr, coding, last);
		last = n[nr - 1];
	}
}

/* Columns of one table, `nr` of them, side by side: those of a row are near each other. */
static void copy_columns(const struct column *c, unsigned nr, uint64_t *to)
{
	const size_t stride = c->stride, ahead = ROWS_AHEAD * stride;
	const uint64_t count = c->count;

	for (uint64_t i = 0; i < count; i++) {
		__builtin_prefetch(c[0].base + i * stride + ahead);
		__builtin_prefetch(c[nr - 1].base + i * stride + ahead);
		for (unsigned k = 0; k < nr; k++)
			to[k * count + i] = column_get(&c[k], i);
	}
}

/* How many columns are copied at a time: at least one. */
static unsigned copies_at_once(uint64_t count)
{
	uint64_t nr = COPIES_BYTES / sizeof(uint64_t) / count;

	return nr < 1 ? 1 : nr < MOST_COPIES ? (unsigned)nr : MOST_COPIES;
}

/* Room for `nr` numbers, which stays for the next columns; NULL: there is no memory. */
static uint64_t *copies_room(struct pack *p, uint64_t nr)
{
	uint64_t *copies;

	if (nr <= p->room)
		return p->copies;
	copies = nr > SIZE_MAX / sizeof(*copies) ? NULL : malloc(nr * sizeof(*copies));
	if (!copies)
		return NULL;
	free(p->copies);
	p->copies = copies;
	p->room = nr;
	return copies;
}

/* Columns of one table that vary, `nr` of them. */
static void pack_together(struct pack *p, const struct column *c, unsigned nr)
{
	bool apart = c->stride > sizeof(uint64_t);
	uint64_t *copies = apart ? copies_room(p, nr * c->count) : NULL;

	if (copies)
		copy_columns(c, nr, copies);
	for (unsigned i = 0; i < nr; i++)
		pack_varied(p, &c[i], copies ? copies + i * c->count : NULL);
}

void pack_column(struct pack *p, const void *base, size_t stride, unsigned bytes, uint64_t count)
{
	const struct column c = {base, stride, bytes, count};

	if (!count)
		return;
	if (column_constant(&c))
		pack_constant(p, &c);
	else
		pack_together(p, &c, 1);
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
	const uint64_t constant = count ? constant_columns(t, rows, count) : 0;
	const unsigned most = count ? copies_at_once(count) : 0;
	struct column varied[MOST_COPIES];
	unsigned nr = 0;

	for (unsigned i = 0; count && i < t->nr_columns; i++) {
		struct column c = column_of(t, i, rows, count);
		bool is_constant = i < 64 ? constant >> i & 1 : column_constant(&c);

		if (nr && (is_constant || nr == most)) {
			pack_together(p, varied, nr);
			nr = 0;
		}
		if (is_constant)
			pack_constant(p, &c);
		else
			varied[nr++] = c;
	}
	if (nr)
		pack_together(p, varied, nr);
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
