/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Streaming JSON writer. */
#include "src/base/json.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/utf8.h"

void json_init(struct json *j, FILE *out)
{
	*j = (struct json){ .out = out, .first = true };
}

static void put_escaped(FILE *out, uint32_t c)
{
	static const char from[] = "\b\f\n\r\t\"\\", to[] = "bfnrt\"\\";
	const char *p = c && c < 0x80 ? strchr(from, (int)c) : NULL;

	if (p)
		fprintf(out, "\\%c", to[p - from]);
	else if (c < 0x10000)
		fprintf(out, "\\u%04x", c);
	else
		fprintf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
			0xdc00 + ((c - 0x10000) & 0x3ff));
}

static void put_string(FILE *out, const char *text, size_t n)
{
	size_t i = 0, plain = 0;

	putc('"', out);
	while (i < n) {
		uint32_t c;
		size_t len = utf8_decode(text + i, n - i, &c);

		if (len && utf8_harmless(c) && c != '"' && c != '\\') {
			i += len;
			continue;
		}
		fwrite(text + plain, 1, i - plain, out);
		if (len)
			put_escaped(out, c);
		else
			fputs("\xef\xbf\xbd", out);
		plain = i += len ? len : 1;
	}
	fwrite(text + plain, 1, n - plain, out);
	putc('"', out);
}

static bool flat(const struct json *j)
{
	return j->flat && j->depth >= j->flat;
}

static void new_line(struct json *j)
{
	unsigned i;

	putc('\n', j->out);
	for (i = 0; i < j->depth; i++)
		fputs("  ", j->out);
}

/* Comma, line and key before a value. False when no value may be here. */
static bool before(struct json *j, const char *key)
{
	bool object = j->depth && j->closer[j->depth - 1] == '}';

	if (object != !!key || (!j->depth && !j->first)) {
		j->misused = true;
		return false;
	}
	if (!j->first)
		putc(',', j->out);
	if (j->depth && !flat(j))
		new_line(j);
	else if (!j->first)
		putc(' ', j->out);
	j->first = false;
	if (key) {
		put_string(j->out, key, strlen(key));
		fputs(": ", j->out);
	}
	return true;
}

static void open_level(struct json *j, const char *key, char opener, char closer, bool one_line)
{
	if (j->depth >= JSON_MAX_DEPTH) {
		j->misused = true;
		return;
	}
	if (!before(j, key))
		return;
	putc(opener, j->out);
	j->closer[j->depth++] = closer;
	j->first = true;
	if (one_line && !j->flat)
		j->flat = j->depth;
}

void json_object(struct json *j, const char *key)
{
	open_level(j, key, '{', '}', false);
}

void json_array(struct json *j, const char *key)
{
	open_level(j, key, '[', ']', false);
}

void json_object_flat(struct json *j, const char *key)
{
	open_level(j, key, '{', '}', true);
}

void json_array_flat(struct json *j, const char *key)
{
	open_level(j, key, '[', ']', true);
}

void json_end(struct json *j)
{
	bool empty = j->first, line;

	if (!j->depth) {
		j->misused = true;
		return;
	}
	line = !flat(j) && !empty;
	if (j->flat == j->depth)
		j->flat = 0;
	j->depth--;
	if (line)
		new_line(j);
	putc(j->closer[j->depth], j->out);
	j->first = false;
}

void json_strn(struct json *j, const char *key, const char *text, size_t n)
{
	if (!before(j, key))
		return;
	if (text)
		put_string(j->out, text, n);
	else
		fputs("null", j->out);
}

void json_str(struct json *j, const char *key, const char *text)
{
	json_strn(j, key, text, text ? strlen(text) : 0);
}

void json_u64(struct json *j, const char *key, uint64_t n)
{
	if (before(j, key))
		fprintf(j->out, "%" PRIu64, n);
}

void json_i64(struct json *j, const char *key, int64_t n)
{
	if (before(j, key))
		fprintf(j->out, "%" PRId64, n);
}

/* So many significant digits give the same number again. */
static bool digits_give(double x, int digits, char *text, size_t size)
{
	snprintf(text, size, "%.*g", digits, x);
	return strtod(text, NULL) == x;
}

void json_double(struct json *j, const char *key, double x)
{
	char text[32];
	int digits;

	if (!isfinite(x)) {
		json_null(j, key);
		return;
	}
	if (!before(j, key))
		return;
	/* Where DBL_DIG digits are too few, fewer are, too: such decimals are further apart than
	 * doubles. */
	digits = digits_give(x, DBL_DIG, text, sizeof(text)) ? 1 : DBL_DIG + 1;
	while (!digits_give(x, digits, text, sizeof(text)) && digits < 17)
		digits++;
	fputs(text, j->out);
}

void json_bool(struct json *j, const char *key, bool b)
{
	if (before(j, key))
		fputs(b ? "true" : "false", j->out);
}

void json_null(struct json *j, const char *key)
{
	if (before(j, key))
		fputs("null", j->out);
}

void json_hex(struct json *j, const char *key, uint64_t n)
{
	if (before(j, key))
		fprintf(j->out, "\"0x%" PRIx64 "\"", n);
}

int json_finish(struct json *j)
{
	if (j->depth || j->first || j->misused)
		return -EINVAL;
	putc('\n', j->out);
	errno = 0;
	if (fflush(j->out))
		return errno ? -errno : -EIO;
	return ferror(j->out) ? -EIO : 0;
}
