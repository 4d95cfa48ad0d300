/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What Valgrind's memcheck says in its XML (protocol 4: docs/internals/xml-output-protocol4.txt in
 * its sources), read as it is written, as heap errors of a heap.
 *
 * Stacks come with their names; a frame's node in the heap leads to them. Frames inlined into
 * others have the same address as these.
 */
#ifndef STORE_VALGRIND_H
#define STORE_VALGRIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/model/heap.h"

struct valgrind;

/* A function at an address; strings NULL: not known. */
struct valgrind_frame {
	const char *function, *file, *object;
	uint32_t line;			/* 0: not known */
};

/* NULL when out of memory. */
struct valgrind *valgrind_new(void);
void valgrind_free(struct valgrind *v);

/*
 * More of the text; `now_ns` is when what it reports was detected. 0, -EBADMSG with `e`: it is no
 * such XML (what was read before stays), -ENOMEM.
 */
int valgrind_feed(struct valgrind *v, const char *text, size_t bytes, uint64_t now_ns,
		  struct err *e);

/*
 * The heap so far: command, findings and their stacks; nothing else. Belongs to `v`; changes with
 * more text.
 */
struct heap *valgrind_heap(struct valgrind *v);

/* Has the program's end been reported? */
bool valgrind_ended(const struct valgrind *v);

/*
 * The functions at a node, innermost inlined one first. Their number, 0 for unknown nodes. Valid
 * until more text comes.
 */
unsigned valgrind_frames(const struct valgrind *v, uint32_t node,
			 const struct valgrind_frame **out);

#endif
