/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocators of a program's own, as they are named on the command line.
 */
#ifndef ENTRIES_ENTRIES_CUSTOM_H
#define ENTRIES_ENTRIES_CUSTOM_H

#include <stdbool.h>
#include <stdint.h>

#include "src/entries/entries.h"
#include "src/entries/objects.h"

/* Does it name this symbol? */
bool entries_custom_names(const struct entries_custom *c, const char *symbol);

/* ... in this object? */
bool entries_custom_object(const struct entries_custom *c, const struct object *o);

/* Is its name an address in the file? */
bool entries_custom_address(const struct entries_custom *c, uint64_t *address);

#endif
