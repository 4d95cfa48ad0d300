/* SPDX-License-Identifier: MIT */
/*
 * Functions of an allocator's own, beside those of the C library: jemalloc's, tcmalloc's and
 * mimalloc's. What a program allocates and releases by them passes unseen, so that it does is said.
 */
#ifndef AGENT_PRELOAD_OWN_CALLED_H
#define AGENT_PRELOAD_OWN_CALLED_H

struct link_map;

/*
 * A name of such a function that an object calls which the program is started with, that object's
 * path to *caller; NULL: none does. `allocator`: the object that has it.
 */
const char *own_called(const struct link_map *allocator, const char **caller);

#endif
