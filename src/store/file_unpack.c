/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading sections of a .pmm capture, see file_unpack.h.
 */
#include "src/store/file_unpack.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fmt.h"

#define WINDOW_LOG_MAX 24	  /* 16 MiB; the writer's is 2 MiB */
/* decompressed bytes of a section beyond the memory it may take */
#define RAW_SLACK      (1u << 20)

int unpack_damaged(struct unpack *u, const char *fmt, ...)
{
	char what[256];
	va_list args;

	if (u->rc)
		return u->rc;
	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	u->rc = err_set(u->e, -EBADMSG, "the capture '%s' is damaged (%s): %s", u->name, u->where,
			what);
	err_hint(u->e, "its bytes were changed after it was written; get another copy");
	return u->rc;
}

static int truncated(struct unpack *u)
{
	if (u->rc)
		return u->rc;
	u->rc = err_set(u->e, -ENODATA, "the capture '%s' is cut short (%s)", u->name, u->where);
	err_hint(u->e, "the copy was incomplete, or its disk full; get a whole one");
	return u->rc;
}

/* n bytes from the file; none when there is trouble. */
static int read_bytes(struct unpack *u, void *bytes, size_t n)
{
	if (u->rc)
		return u->rc;
	errno = 0;
	if (fread(bytes, 1, n, u->f) != n) {
		if (ferror(u->f) && errno)
			return u->rc = err_set(u->e, -errno, "cannot read the capture '%s': %s",
					       u->name, strerror(errno));
		return truncated(u);
	}
	u->offset += n;
	return 0;
}

static int no_capture(struct unpack *u)
{
	u->rc = err_set(u->e, -EINVAL, "'%s' is not a pmm capture", u->name);
	err_hint(u->e,
		 "captures are written by 'pmm run' and 'pmm snapshot'; their names end in .pmm");
	return u->rc;
}

/* The header's fields up to its checksum stay as they are in every version. */
static void read_header(struct unpack *u)
{
	struct file_header h = {0};

	u->where = "header";
	if (!u->file_bytes) {
		u->rc = err_set(u->e, -ENODATA, "the capture '%s' is empty", u->name);
		err_hint(u->e, "the disk may have been full when it was copied; get a whole one");
		return;
	}
	if (u->file_bytes < sizeof(h)) {
		if (fread(&h, 1, u->file_bytes, u->f) &&
		    !memcmp(h.magic, FILE_MAGIC,
			    u->file_bytes < sizeof(h.magic) ? u->file_bytes : sizeof(h.magic)))
			truncated(u);
		else
			no_capture(u);
		return;
	}
	if (read_bytes(u, &h, sizeof(h)))
		return;
	if (memcmp(h.magic, FILE_MAGIC, sizeof(h.magic))) {
		no_capture(u);
		return;
	}
	if (h.crc != file_crc(0, &h, offsetof(struct file_header, crc))) {
		unpack_damaged(u, "its checksum does not match");
		return;
	}
	u->major = h.major;
	u->minor = h.minor;
	if (h.major < FILE_MAJOR)
		unpack_damaged(u, "there is no format %u", h.major);
	if (h.major > FILE_MAJOR) {
		u->rc = err_set(u->e, -EPROTO,
				"the capture '%s' was made by a newer pmm (format %u.%u, this one "
				"reads %u)",
				u->name, h.major, h.minor, FILE_MAJOR);
		err_hint(u->e, "read it with the pmm that made it, or update this one");
	}
}

struct unpack *unpack_new(FILE *f, uint64_t file_bytes, uint64_t max_bytes, const char *name,
			  struct err *e)
{
	struct unpack *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->f = f;
	u->file_bytes = file_bytes;
	u->budget = file_budget(file_bytes);
	u->max_bytes = max_bytes;
	u->name = name;
	u->e = e;
	u->zstd = ZSTD_createDCtx();
	if (!u->zstd ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX))) {
		unpack_free(u);
		return NULL;
	}
	read_header(u);
	return u;
}

void unpack_free(struct unpack *u)
{
	if (!u)
		return;
	ZSTD_freeDCtx(u->zstd);
	free(u);
}

/* Not damaged as far as can be seen, but more than the caller wants to spend on it. */
static int too_large(struct unpack *u, uint64_t bytes)
{
	uint64_t asked = u->used_bytes + bytes > u->asked_bytes ? u->used_bytes + bytes
								: u->asked_bytes;

	u->rc = err_set(
		u->e, -EFBIG, "the capture '%s' of %s asks for %s of memory, and the limit is %s",
		u->name, fmt_bytes(u->file_bytes).s, fmt_bytes(asked).s, fmt_bytes(u->max_bytes).s);
	err_hint(u->e, "if you trust it and the memory is there, raise the limit with "
		       "--memory-limit SIZE");
	return u->rc;
}

int unpack_take(struct unpack *u, uint64_t n, size_t size)
{
	uint64_t bytes;

	if (u->rc)
		return u->rc;
	if (__builtin_mul_overflow(n, size, &bytes) || bytes > u->budget)
		return unpack_damaged(u, "it declares more than such a file can hold");
	if (bytes > u->max_bytes - u->used_bytes) {
		too_large(u, bytes);
		return u->rc;
	}
	u->budget -= bytes;
	u->used_bytes += bytes;
	return 0;
}

int unpack_no_memory(struct unpack *u)
{
	if (!u->rc)
		u->rc = err_set(u->e, -ENOMEM, "cannot read the capture '%s': out of memory",
				u->name);
	return u->rc;
}

void *unpack_alloc(struct unpack *u, uint64_t n, size_t size)
{
	void *p;

	if (unpack_take(u, n, size))
		return NULL;
	p = calloc(n ? n : 1, size);
	if (!p)
		unpack_no_memory(u);
	return p;
}

/* ---- sections ------------------------------------------------------------------------------ */

static int read_end(struct unpack *u, uint64_t toc_offset)
{
	const struct file_section *s = &u->section;
	struct file_end end;
	size_t n = u->nr_toc * sizeof(u->toc[0]);
	char *listed;

	u->where = "table of contents";
	if (s->count != u->nr_toc || s->stored_bytes != n || s->raw_bytes != n ||
	    s->flags != FILE_REQUIRED)
		return unpack_damaged(u, "it lists other sections than there are");
	listed = unpack_alloc(u, n + 1, 1);
	if (!listed)
		return u->rc;
	read_bytes(u, listed, n);
	if (!u->rc && (file_crc(0, listed, n) != s->payload_crc || memcmp(listed, u->toc, n)))
		unpack_damaged(u, "it lists other sections than there are");
	free(listed);
	u->where = "end mark";
	if (read_bytes(u, &end, sizeof(end)))
		return u->rc;
	if (memcmp(end.magic, FILE_END_MAGIC, sizeof(end.magic)) || end.toc_offset != toc_offset ||
	    end.crc != file_crc(0, &end, offsetof(struct file_end, crc)))
		return unpack_damaged(u, "its bytes are wrong");
	if (u->offset != u->file_bytes)
		return unpack_damaged(u, "something follows it");
	return 0;
}

uint32_t unpack_peek(struct unpack *u)
{
	struct file_section toc;
	struct file_end end;
	uint32_t nr = 0;

	if (u->rc || u->file_bytes < sizeof(end) + sizeof(toc) || u->file_bytes > INT64_MAX ||
	    fseeko(u->f, (off_t)(u->file_bytes - sizeof(end)), SEEK_SET))
		return 0;
	if (fread(&end, sizeof(end), 1, u->f) == 1 &&
	    end.crc == file_crc(0, &end, offsetof(struct file_end, crc)) &&
	    end.toc_offset < u->file_bytes && !fseeko(u->f, (off_t)end.toc_offset, SEEK_SET) &&
	    fread(&toc, sizeof(toc), 1, u->f) == 1 &&
	    toc.crc == file_crc(0, &toc, offsetof(struct file_section, crc)) &&
	    toc.count <= FILE_MAX_SECTIONS &&
	    fread(u->toc, sizeof(u->toc[0]), toc.count, u->f) == toc.count)
		nr = (uint32_t)toc.count;
	if (fseeko(u->f, (off_t)u->offset, SEEK_SET))
		truncated(u);
	return nr;
}

int unpack_next(struct unpack *u)
{
	struct file_section *s = &u->section;
	uint64_t offset = u->offset;

	u->where = "section header";
	if (read_bytes(u, s, sizeof(*s)))
		return u->rc;
	if (s->crc != file_crc(0, s, offsetof(struct file_section, crc)))
		return unpack_damaged(u, "its checksum does not match");
	if (s->stored_bytes > u->file_bytes - u->offset)
		return truncated(u);
	if (!memcmp(s->id, "TOC ", sizeof(s->id)))
		return read_end(u, offset);
	if (u->nr_toc == FILE_MAX_SECTIONS)
		return unpack_damaged(u, "too many sections");
	u->toc[u->nr_toc].offset = offset;
	u->toc[u->nr_toc++].section = *s;
	return 1;
}

void unpack_begin(struct unpack *u, const char *where)
{
	u->where = where;
	u->stored_left = u->section.stored_bytes;
	u->raw_left = u->section.raw_bytes;
	u->crc = 0;
	u->ended = false;
	u->pending = (ZSTD_inBuffer){u->in, 0, 0};
	u->out_at = u->nr_out = 0;
	if (!(u->section.flags & FILE_ZSTD))
		unpack_damaged(u, "it is not compressed");
	if (u->raw_left > u->budget && u->raw_left - u->budget > RAW_SLACK)
		unpack_damaged(u, "it declares more than such a file can hold");
	if (!u->rc && u->raw_left > u->max_bytes && u->raw_left - u->max_bytes > RAW_SLACK)
		too_large(u, u->raw_left);	/* no memory, but time */
	ZSTD_DCtx_reset(u->zstd, ZSTD_reset_session_only);
}

/* The next part of the payload as it is in the file, into `in`. */
static int refill(struct unpack *u)
{
	size_t n = u->stored_left < sizeof(u->in) ? u->stored_left : sizeof(u->in);

	if (read_bytes(u, u->in, n))
		return u->rc;
	u->stored_left -= n;
	u->crc = file_crc(u->crc, u->in, n);
	u->pending = (ZSTD_inBuffer){u->in, n, 0};
	return 0;
}

/*
 * Decompress the next part into `out`, which has been used up. Nothing comes at the end of the
 * frame.
 */
int unpack_more(struct unpack *u)
{
	ZSTD_outBuffer out = {u->out, sizeof(u->out), 0};

	u->out_at = u->nr_out = 0;
	while (!u->rc && !u->ended && !out.pos) {
		bool starved;
		size_t rc;

		if (u->pending.pos == u->pending.size && u->stored_left && refill(u))
			break;
		starved = u->pending.pos == u->pending.size;
		rc = ZSTD_decompressStream(u->zstd, &out, &u->pending);
		if (ZSTD_isError(rc))
			return unpack_damaged(u, "%s", ZSTD_getErrorName(rc));
		u->ended = !rc;
		if (starved && rc && !out.pos)
			return unpack_damaged(u, "its data end early");
	}
	if (!u->rc && out.pos > u->raw_left)
		return unpack_damaged(u, "it holds more than it says");
	if (u->rc)
		return u->rc;
	u->raw_left -= out.pos;
	u->nr_out = out.pos;
	return 0;
}

void unpack_end(struct unpack *u)
{
	bool newer = u->minor > FILE_MINOR;

	do {
		if (!newer && u->out_at != u->nr_out)
			unpack_damaged(u, "it holds more than its rows");
		u->out_at = u->nr_out;
		if (!u->rc && !u->ended)
			unpack_more(u);
	} while (!u->rc && (u->out_at != u->nr_out || !u->ended));
	if (!u->rc && (u->raw_left || u->stored_left || u->pending.pos != u->pending.size))
		unpack_damaged(u, "its sizes do not match");
	if (!u->rc && u->crc != u->section.payload_crc)
		unpack_damaged(u, "its checksum does not match");
}

void unpack_skip(struct unpack *u)
{
	uint32_t crc = 0;

	u->where = "a skipped section";
	for (uint64_t left = u->section.stored_bytes; left && !u->rc;) {
		size_t n = left < sizeof(u->in) ? left : sizeof(u->in);

		read_bytes(u, u->in, n);
		crc = file_crc(crc, u->in, n);
		left -= n;
	}
	if (!u->rc && crc != u->section.payload_crc)
		unpack_damaged(u, "its checksum does not match");
}
