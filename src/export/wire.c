/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages in Protocol Buffers' wire format. */
#include "src/export/wire.h"

enum { VARINT = 0, BYTES = 2 };

static void add_varint(struct str *s, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		str_addc(s, (char)(value | 0x80));
	str_addc(s, (char)value);
}

static void add_tag(struct str *s, unsigned field, unsigned type)
{
	add_varint(s, (uint64_t)field << 3 | type);
}

void wire_number(struct str *s, unsigned field, uint64_t value)
{
	if (!value)
		return;
	add_tag(s, field, VARINT);
	add_varint(s, value);
}

void wire_bytes(struct str *s, unsigned field, const char *bytes, size_t n)
{
	add_tag(s, field, BYTES);
	add_varint(s, n);
	str_addn(s, bytes, n);
}

void wire_numbers(struct str *s, unsigned field, const uint64_t *value, size_t nr)
{
	struct str packed = STR_INIT;

	for (size_t i = 0; i < nr; i++)
		add_varint(&packed, value[i]);
	s->failed |= packed.failed;
	wire_bytes(s, field, str_text(&packed), packed.len);
	str_fini(&packed);
}
