/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of a file: plain, or packed by gzip (RFC 1952) or zstd (RFC 8878). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "src/import/import_priv.h"

#define WINDOW_LOG_MAX	27		/* 128 MiB: zstd --long's default */
#define CHUNK_BYTES	(128u << 10)

struct import_input {
	int fd;
	z_stream *gzip;			/* one of the two, or none */
	ZSTD_DCtx *zstd;
	bool gzip_ended;		/* a member has; another one may follow */
	bool whole;			/* a frame of zstd's is, so far */
	bool at_end;			/* of the file */
	size_t at, nr;			/* of `raw` */
	size_t line_at, line_nr;	/* of `text` */
	bool text_ended;
	bool line_open;			/* the last line had no line feed */
	struct str line;
	unsigned char raw[CHUNK_BYTES];
	char text[CHUNK_BYTES];
};

static ssize_t fill(struct import_input *in)
{
	ssize_t n;

	if (in->at < in->nr || in->at_end)
		return (ssize_t)(in->nr - in->at);
	do
		n = read(in->fd, in->raw, sizeof(in->raw));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	in->at = 0;
	in->nr = (size_t)n;
	in->at_end = !n;
	return n;
}

static int begin(struct import_input *in)
{
	static const unsigned char zstd_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
	ssize_t n = fill(in);

	if (n < 0)
		return (int)n;
	in->whole = true;
	if (n >= 2 && in->raw[0] == 0x1f && in->raw[1] == 0x8b) {
		in->gzip = calloc(1, sizeof(*in->gzip));
		return in->gzip && inflateInit2(in->gzip, 16 + MAX_WBITS) == Z_OK ? 0 : -ENOMEM;
	}
	if (n >= 4 && !memcmp(in->raw, zstd_magic, sizeof(zstd_magic))) {
		in->zstd = ZSTD_createDCtx();
		if (!in->zstd || ZSTD_isError(ZSTD_DCtx_setParameter(
					 in->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX)))
			return -ENOMEM;
	}
	return 0;
}

int import_open(const char *path, struct import_input **out)
{
	struct import_input *in = calloc(1, sizeof(*in));
	struct stat st;
	int rc;

	if (!in)
		return -ENOMEM;
	in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	rc = in->fd < 0 || fstat(in->fd, &st) ? -errno : 0;
	if (!rc && !S_ISREG(st.st_mode))
		rc = -EINVAL;
	if (!rc)
		rc = begin(in);
	if (rc)
		import_close(in);
	else
		*out = in;
	return rc;
}

bool import_packed(const struct import_input *in)
{
	return in->gzip || in->zstd;
}

bool import_zstd(const struct import_input *in)
{
	return in->zstd;
}

bool import_line_open(const struct import_input *in)
{
	return in->line_open;
}

void import_close(struct import_input *in)
{
	if (!in)
		return;
	if (in->gzip)
		inflateEnd(in->gzip);
	free(in->gzip);
	ZSTD_freeDCtx(in->zstd);
	if (in->fd >= 0)
		close(in->fd);
	str_fini(&in->line);
	free(in);
}

/* Each of these unpacks some bytes: their number, which may be 0, or -errno. */

static ssize_t inflate_some(struct import_input *in, char *to, size_t size)
{
	z_stream *z = in->gzip;
	int rc;

	if (in->gzip_ended && inflateReset(z) != Z_OK)
		return -EBADMSG;
	in->gzip_ended = false;
	z->next_in = in->raw + in->at;
	z->avail_in = (unsigned)(in->nr - in->at);
	z->next_out = (unsigned char *)to;
	z->avail_out = (unsigned)size;
	rc = inflate(z, Z_NO_FLUSH);
	in->at = in->nr - z->avail_in;
	in->gzip_ended = in->whole = rc == Z_STREAM_END;
	if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
		return rc == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
	return (ssize_t)(size - z->avail_out);
}

static ssize_t unzstd_some(struct import_input *in, char *to, size_t size)
{
	ZSTD_inBuffer from = { in->raw, in->nr, in->at };
	ZSTD_outBuffer out = { to, size, 0 };
	size_t rc = ZSTD_decompressStream(in->zstd, &out, &from);

	in->at = from.pos;
	if (ZSTD_isError(rc))
		return ZSTD_getErrorCode(rc) == ZSTD_error_memory_allocation ? -ENOMEM : -EBADMSG;
	in->whole = !rc;
	return (ssize_t)out.pos;
}

static ssize_t copy_some(struct import_input *in, char *to, size_t size)
{
	size_t n = in->nr - in->at;

	n = n < size ? n : size;
	memcpy(to, in->raw + in->at, n);
	in->at += n;
	return (ssize_t)n;
}

ssize_t import_bytes(struct import_input *in, char *to, size_t size)
{
	size_t done = 0;

	size = size < INT32_MAX ? size : INT32_MAX;
	while (done < size) {
		ssize_t n = fill(in);
		bool more = n > 0;

		if (n < 0)
			return n;
		if (!more && in->whole)
			break;
		n = in->gzip   ? inflate_some(in, to + done, size - done)
		    : in->zstd ? unzstd_some(in, to + done, size - done)
			       : copy_some(in, to + done, size - done);
		if (n < 0)
			return n;
		done += (size_t)n;
		if (!more && !n && !in->whole)
			return done ? (ssize_t)done : -ENODATA;
	}
	return (ssize_t)done;
}

/* More text. 1, 0 at the end, -errno. */
static int more_text(struct import_input *in)
{
	ssize_t n;

	if (in->text_ended)
		return 0;
	n = import_bytes(in, in->text, sizeof(in->text));
	if (n < 0)
		return (int)n;
	in->line_at = 0;
	in->line_nr = (size_t)n;
	in->text_ended = !n;
	return n > 0;
}

/* It may contain NUL, and ends there for the reader. */
int import_line(struct import_input *in, char **line)
{
	bool any = false;
	int rc;

	str_clear(&in->line);
	for (;;) {
		const char *from, *end;
		size_t n;

		if (in->line_at == in->line_nr) {
			rc = more_text(in);
			if (rc < 0)
				return rc;
			if (!rc)
				break;
		}
		any = true;
		from = in->text + in->line_at;
		end = memchr(from, '\n', in->line_nr - in->line_at);
		n = end ? (size_t)(end - from) : in->line_nr - in->line_at;
		if (in->line.len + n > IMPORT_MAX_LINE)
			return -EBADMSG;
		str_addn(&in->line, from, n);
		in->line_at += n + !!end;
		in->line_open = !end;
		if (end)
			break;
	}
	if (str_error(&in->line))
		return -ENOMEM;
	if (!any)
		return 0;
	*line = in->line.s;
	return 1;
}
