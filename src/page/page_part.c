/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A part of the page: a stream that is compressed, encoded and written as it comes. */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "src/page/page_priv.h"

#define WINDOW_BITS	(-15)	/* of raw DEFLATE */
#define ROOM		24576	/* a multiple of 3: encoded without padding */

struct part {
	FILE *out;
	z_stream z;
	unsigned char packed[ROOM];
	char encoded[ROOM / 3 * 4];
};

/* Encode what is packed so far; at the end also what does not fill three bytes. */
static int encode(struct part *t, bool end)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789+/";
	size_t nr = ROOM - t->z.avail_out, whole = nr - nr % 3, n = 0;
	const unsigned char *b = t->packed;

	for (size_t i = 0; i < whole; i += 3) {
		t->encoded[n++] = digit[b[i] >> 2];
		t->encoded[n++] = digit[(b[i] & 3) << 4 | b[i + 1] >> 4];
		t->encoded[n++] = digit[(b[i + 1] & 15) << 2 | b[i + 2] >> 6];
		t->encoded[n++] = digit[b[i + 2] & 63];
	}
	if (end && nr > whole) {
		unsigned second = nr - whole == 2 ? b[whole + 1] : 0;

		t->encoded[n++] = digit[b[whole] >> 2];
		t->encoded[n++] = digit[(b[whole] & 3) << 4 | second >> 4];
		t->encoded[n++] = nr - whole == 2 ? digit[(second & 15) << 2] : '=';
		t->encoded[n++] = '=';
	}
	t->z.next_out = t->packed;
	t->z.avail_out = ROOM;
	return fwrite(t->encoded, 1, n, t->out) == n ? 0 : -1;
}

/* Room is a multiple of three, so only the end has a rest. */
static int pack(struct part *t, int flush)
{
	for (;;) {
		int rc = deflate(&t->z, flush);

		if (rc == Z_STREAM_ERROR)
			return -1;
		if (rc == Z_STREAM_END)
			return encode(t, true);
		if (t->z.avail_out)
			return 0;
		if (encode(t, false))
			return -1;
	}
}

static ssize_t part_write(void *cookie, const char *bytes, size_t n)
{
	struct part *t = cookie;

	t->z.next_in = (Bytef *)(uintptr_t)bytes;
	t->z.avail_in = (uInt)n;
	if (!n || !pack(t, Z_NO_FLUSH))
		return (ssize_t)n;
	return 0;
}

static int part_close(void *cookie)
{
	struct part *t = cookie;
	int rc;

	t->z.avail_in = 0;
	rc = pack(t, Z_FINISH);
	deflateEnd(&t->z);
	free(t);
	return rc;
}

FILE *page_part(struct page *p, const char *name)
{
	static const cookie_io_functions_t io = { .write = part_write, .close = part_close };
	struct part *t = p->rc ? NULL : calloc(1, sizeof(*t));
	FILE *f;

	if (t && deflateInit2(&t->z, Z_BEST_COMPRESSION, Z_DEFLATED, WINDOW_BITS, 9,
			      Z_DEFAULT_STRATEGY) != Z_OK) {
		free(t);
		t = NULL;
	}
	f = t ? fopencookie(t, "w", io) : NULL;
	if (!f) {
		if (t)
			deflateEnd(&t->z);
		free(t);
		p->rc = p->rc ? p->rc : -ENOMEM;
		return NULL;
	}
	t->out = p->out;
	t->z.next_out = t->packed;
	t->z.avail_out = ROOM;
	fprintf(p->out, "<script type=\"application/octet-stream;base64\" id=\"pmm-data-%s\">",
		name);
	return f;
}

void page_part_end(struct page *p, FILE *f)
{
	errno = 0;
	if (f && fclose(f) && !p->rc)
		p->rc = errno ? -errno : -EIO;
	if (f)
		fputs("</script>\n", p->out);
}

void page_number(FILE *f, uint64_t n)
{
	while (n > 127) {
		putc_unlocked((int)(n & 127) | 128, f);
		n >>= 7;
	}
	putc_unlocked((int)n, f);
}

void page_signed(FILE *f, int64_t n)
{
	page_number(f, (uint64_t)n << 1 ^ (n < 0 ? UINT64_MAX : 0));
}
