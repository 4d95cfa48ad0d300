/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fuzz target's input as a stream of bytes that numbers are taken from.
 */
#ifndef TESTS_FUZZ_INPUT_H
#define TESTS_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct input {
	const uint8_t *data;
	size_t size;
};

/* Bytes of the input; what is there stays when it has ended. */
static inline void take(struct input *in, void *at, size_t bytes)
{
	if (bytes > in->size)
		bytes = in->size;
	memcpy(at, in->data, bytes);
	in->data += bytes;
	in->size -= bytes;
}

/* The fields of a struct from one to another. */
#define TAKE(in, first, last)									\
	take(in, &(first), (size_t)((uint8_t *)(&(last) + 1) - (uint8_t *)&(first)))

#endif
