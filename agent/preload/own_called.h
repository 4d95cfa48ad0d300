/* SPDX-License-Identifier: MIT */
/*
 * Functions of an allocator's own, beside those of the C library: jemalloc's, tcmalloc's and
 * mimalloc's; and glibc's __libc_malloc and its kin. What a program allocates and releases by them
 * passes unseen, so that it does is said.
 */
#ifndef AGENT_PRELOAD_OWN_CALLED_H
#define AGENT_PRELOAD_OWN_CALLED_H

#include <stdbool.h>

struct link_map;

struct own_called {
	const char *function;	/* the name of one; NULL = none is called */
	const char *caller;	/* path of the object that calls it; "" = the program */
	/* it only looks at blocks (their size), and so do all others that are called */
	bool looks;
};

/*
 * What the objects call that the program is started with. `allocator`: the object that has these
 * functions.
 */
void own_called(const struct link_map *allocator, struct own_called *found);

#endif
