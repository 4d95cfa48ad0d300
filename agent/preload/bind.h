/* SPDX-License-Identifier: MIT */
/*
 * The words of an object that its loader has set to the addresses of functions, set to others.
 */
#ifndef AGENT_PRELOAD_BIND_H
#define AGENT_PRELOAD_BIND_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/preload/link.h"

/* Where an object is. */
struct bind_object {
	const struct link_object *o;
	uint64_t start, end;
	uint64_t relro_start, relro_end;
};

void bind_bounds(struct bind_object *b, const struct link_object *o);

/* The allocator's own object, whose internal calls are not recorded, or the loader. */
bool bind_apart(const struct bind_object *b);

/* Is it a word of the object? */
bool bind_inside(const struct bind_object *b, const uint64_t *at);

/*
 * Set a word of the object. One that is to be read-only once the loader is done with it (RELRO) is
 * left alone as long as it is writable, as another thread is just loading that object; `settled`:
 * none is. False: it stays as it is.
 */
bool bind_word(const struct bind_object *b, uint64_t *at, uint64_t value, bool settled);

#endif
