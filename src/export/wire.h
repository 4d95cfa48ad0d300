/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages in Protocol Buffers' wire format
 * (https://protobuf.dev/programming-guides/encoding): fields are a number and a type, then a
 * varint or so many bytes. Fields of value 0 are left out, as readers expect.
 */
#ifndef EXPORT_WIRE_H
#define EXPORT_WIRE_H

#include <stdint.h>

#include "src/base/str.h"

void wire_number(struct str *s, unsigned field, uint64_t value);
/* Bytes, text, or a message; empty ones are written. */
void wire_bytes(struct str *s, unsigned field, const char *bytes, size_t n);
/* A list of numbers in one field. */
void wire_numbers(struct str *s, unsigned field, const uint64_t *value, size_t nr);

#endif
