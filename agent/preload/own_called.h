/* SPDX-License-Identifier: MIT */
/*
 * Functions of an allocator's own, beside those of the C library: jemalloc's, tcmalloc's and
 * mimalloc's; and glibc's __libc_malloc and its kin. What a program allocates and releases by them
 * passes unseen, so that it does is said.
 */
#ifndef AGENT_PRELOAD_OWN_CALLED_H
#define AGENT_PRELOAD_OWN_CALLED_H

#include <stdbool.h>
#include <stdint.h>

struct link_map;

struct own_called {
	/* the name of one; NULL = none is called. Set last */
	const char *function;
	const char *caller;	/* path of the object that calls it; "" = the program */
	/* it only looks at blocks (their size), and so do all others that are called */
	bool looks;
	uint32_t late;		/* enum pmm_own_late */
};

/*
 * What the objects call that the program is started with. `allocator`: the object that has these
 * functions. Once, before anything is loaded later.
 */
void own_called(const struct link_map *allocator, struct own_called *found);

/* The last of those objects; NULL: that is not known yet. */
const struct link_map *own_called_last(void);

/* Is a handle that dlsym() is given the object's struct link_map? Looks names up. */
bool own_called_handles(void);

/*
 * What an object calls that came later; false: nothing, where `looks_too` is not set nothing but
 * looks, or it was there from the start.
 */
bool own_called_by(const struct link_map *object, bool looks_too, struct own_called *found);

#endif
