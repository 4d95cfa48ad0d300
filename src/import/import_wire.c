/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading Protocol Buffers' wire format (https://protobuf.dev/programming-guides/encoding): a
 * message is fields, each a number with a type, then a varint, 8 or 4 bytes, or so many bytes.
 */
#include "src/import/import_wire.h"

#include <string.h>

enum { VARINT, FIXED64, BYTES, FIXED32 = 5 };

bool import_varint(struct import_wire *w, uint64_t *to)
{
	*to = 0;
	for (unsigned shift = 0; shift < 64 && w->at < w->end; shift += 7) {
		uint8_t byte = *w->at++;

		*to |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	w->bad = true;
	return false;
}

static bool take(struct import_wire *w, uint64_t n)
{
	if (n > (uint64_t)(w->end - w->at)) {
		w->bad = true;
		return false;
	}
	w->at += n;
	return true;
}

bool import_field(struct import_wire *w, struct import_field *f)
{
	uint64_t key, n;

	*f = (struct import_field){ 0 };
	if (w->bad || w->at == w->end || !import_varint(w, &key))
		return false;
	f->number = (uint32_t)(key >> 3);
	switch (key & 7) {
	case VARINT:
		return import_varint(w, &f->value);
	case FIXED64:
		return take(w, 8);
	case FIXED32:
		return take(w, 4);
	case BYTES:
		if (!import_varint(w, &n))
			return false;
		f->bytes = w->at;
		f->nr_bytes = n;
		return take(w, n);
	default:
		w->bad = true;
		return false;
	}
}
