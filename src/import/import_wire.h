/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading messages in Protocol Buffers' wire format. */
#ifndef IMPORT_IMPORT_WIRE_H
#define IMPORT_IMPORT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is left of a message. `bad`: it makes no sense. */
struct import_wire {
	const uint8_t *at, *end;
	bool bad;
};

struct import_field {
	uint32_t number;
	uint64_t value;			/* of a varint, else 0 (fields of fixed size are skipped) */
	const uint8_t *bytes;		/* of text, messages and lists; else NULL */
	uint64_t nr_bytes;
};

/* The next field. False at the end, and where the message makes no sense. */
bool import_field(struct import_wire *w, struct import_field *f);

bool import_varint(struct import_wire *w, uint64_t *to);

/* The message that a field holds. */
static inline struct import_wire import_message(const struct import_field *f)
{
	return (struct import_wire){ f->bytes, f->bytes ? f->bytes + f->nr_bytes : NULL,
				     !f->bytes };
}

#endif
