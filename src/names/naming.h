/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols joined to heaps: the symbolizer of a heap's modules, and the names of its frames by it.
 */
#ifndef NAMES_NAMING_H
#define NAMES_NAMING_H

#include <sys/types.h>

#include "src/names/names.h"
#include "src/symbol/symbol.h"

/*
 * A symbolizer for the modules of a heap; the caller's. NULL when out of memory. `o` as
 * symbolizer_new().
 */
struct symbolizer *naming_symbols(const struct heap *h, const struct symbolizer_options *o);

/* For names_init(); its context is the symbolizer. */
unsigned naming_resolve(void *sym, const struct heap *h, uint32_t node, struct frame_name *out,
			unsigned max);

/*
 * Where paths of a process that lives in another file system tree begin; "" = here. A chroot's
 * paths may be told as we see them.
 */
void naming_root(pid_t pid, const struct heap *h, char root[64]);

#endif
