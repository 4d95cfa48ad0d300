/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers, strings and columns in a section of a .pmm capture, see file_unpack.h.
 */
#include "src/store/file_unpack.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/utf8.h"

/* A number that may run past the end of `out`. */
static uint64_t number_slow(struct unpack *u)
{
	uint64_t n = 0;

	for (unsigned shift = 0; !u->rc; shift += 7) {
		uint8_t byte;

		if (u->out_at == u->nr_out &&
		    (u->ended || unpack_more(u) || u->out_at == u->nr_out)) {
			unpack_damaged(u, "its data end early");
			break;
		}
		byte = u->out[u->out_at++];
		if (shift == 63 && byte > 1) {
			unpack_damaged(u, "a number is too large");
			break;
		}
		n |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return n;
	}
	return 0;
}

uint64_t unpack_number(struct unpack *u)
{
	const uint8_t *p = u->out + u->out_at;

	if (u->nr_out - u->out_at < 10)
		return number_slow(u);
	if (p[0] < 0x80) {
		u->out_at++;
		return p[0];
	}
	if (p[1] < 0x80) {
		u->out_at += 2;
		return (uint64_t)p[1] << 7 | (p[0] & 0x7f);
	}
	return number_slow(u);
}

void unpack_bytes(struct unpack *u, void *bytes, size_t n)
{
	uint8_t *to = bytes;

	while (n && !u->rc) {
		size_t part = u->nr_out - u->out_at;

		if (!part) {
			if (u->ended)
				unpack_damaged(u, "its data end early");
			else
				unpack_more(u);
			continue;
		}
		if (part > n)
			part = n;
		memcpy(to, u->out + u->out_at, part);
		u->out_at += part;
		to += part;
		n -= part;
	}
}

char *unpack_text(struct unpack *u)
{
	uint64_t n = unpack_number(u);
	char *text;

	if (n > FILE_MAX_TEXT)
		unpack_damaged(u, "a string is too long");
	text = unpack_alloc(u, n + 1, 1);
	if (!text)
		return NULL;
	unpack_bytes(u, text, n);
	if (u->rc) {
		free(text);
		return NULL;
	}
	utf8_mask(text, n, '?');
	return text;
}

static void store(uint8_t *to, unsigned bytes, uint64_t n)
{
	switch (bytes) {
	case 1:
		*to = (uint8_t)n;
		break;
	case 2:
		*(uint16_t *)to = (uint16_t)n;
		break;
	case 4:
		*(uint32_t *)to = (uint32_t)n;
		break;
	case 8:
		*(uint64_t *)to = n;
		break;
	}
}

static void store_lived(struct unpack *u, struct heap_site *s, unsigned bucket, uint64_t n)
{
	uint64_t *to;

	if (!n || (!s->lifetimes && unpack_take(u, 1, sizeof(struct heap_lifetimes))))
		return;
	to = heap_lifetime_at(u->heap, s, bucket);
	if (to)
		*to = n;
	else
		unpack_no_memory(u);
}

void unpack_column(struct unpack *u, void *base, size_t stride, const struct file_column *c,
		   uint64_t count)
{
	uint64_t max = c->is_bool ? 1 : UINT64_MAX >> (64 - 8 * c->bytes);
	uint64_t coding, unit = 1, n = 0, value;

	if (!count)
		return;
	coding = unpack_number(u);
	if (coding >= FILE_NR_CODINGS) {
		unpack_damaged(u, "a column has an unknown coding");
		return;
	}
	if (coding != FILE_CONSTANT)
		unit = unpack_number(u);
	else
		n = unpack_number(u);
	for (uint64_t i = 0; i < count && !u->rc; i++) {
		if (coding == FILE_PLAIN) {
			n = unpack_number(u);
		} else if (coding == FILE_DELTA) {
			uint64_t z = unpack_number(u);

			n += z >> 1 ^ -(z & 1);
		}
		if (__builtin_mul_overflow(n, unit, &value) || value > max) {
			unpack_damaged(u, "a number is out of range");
			return;
		}
		if (c->lived)
			store_lived(u, (struct heap_site *)(void *)((uint8_t *)base + i * stride),
				    c->offset, value);
		else
			store((uint8_t *)base + i * stride, c->bytes, value);
	}
}
