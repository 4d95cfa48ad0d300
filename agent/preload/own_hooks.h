/* SPDX-License-Identifier: MIT */
/*
 * Functions of the allocator's own (own_names.h): where the program's objects are bound to them,
 * they are bound to hooks instead. No such name is a symbol of ours: programs look for these names
 * to find out which allocator they have.
 */
#ifndef AGENT_PRELOAD_OWN_HOOKS_H
#define AGENT_PRELOAD_OWN_HOOKS_H

#include <stdbool.h>

struct link_map;

/*
 * A name of such a function that an object calls which the program is started with, that object's
 * path to *caller; NULL: none does. `allocator`: the object that has it.
 */
const char *own_called(const struct link_map *allocator, const char **caller);

/*
 * In the objects that the program was started with, all of which the loader has finished. Once.
 */
void own_start(void);

/*
 * The same before constructors other than ours, where the allocator is not the C library's; called
 * by __gmon_start__(), which the start files' code in each object calls before its constructors.
 */
void own_early(void);

/* May libraries that are loaded later call such functions? */
bool own_wanted(void);

/* One is about to be loaded. */
void own_loading(void);

/* In all that is loaded now. One thread at a time. */
void own_loaded(void);

#endif
