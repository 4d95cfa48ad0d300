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
	free(p->coded);
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

void pack_number(struct pack *p, uint64_t n)
{
	if (sizeof(p->in) - p->nr_in < FILE_NUMBER_BYTES)
		squeeze(p, ZSTD_e_continue);
	p->nr_in = (size_t)(pack_put_number(p->in + p->nr_in, n) - p->in);
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

/* ---- the end ------------------------------------------------------------------------------- */

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
