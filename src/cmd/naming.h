/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bridge from symbol/ to analyze/: a heap's frames get their names.
 */
#ifndef CMD_NAMING_H
#define CMD_NAMING_H

#include <sys/types.h>

#include "src/names/names.h"
#include "src/symbol/symbol.h"

/*
 * A symbolizer for the modules of a heap; the caller's. NULL when out of memory. `o` as
 * symbolizer_new().
 */
struct symbolizer *naming_symbols(const struct heap *h, const struct symbolizer_options *o);

/*
 * What a report says without names although there may be some, for want of memory or descriptors.
 * `sym` NULL: there was not even memory for it.
 */
void naming_note_failed(const struct symbolizer *sym, const struct names *n);

/*
 * What lookups had to leave out, one note a file. `option`: how to allow more; "" = the command has
 * none.
 */
void naming_note_losses(struct symbolizer *sym, const struct heap *h, const char *option);

/* For names_init(); its context is the symbolizer. */
unsigned naming_resolve(void *sym, const struct heap *h, uint32_t node, struct frame_name *out,
			unsigned max);

/*
 * Where paths of a process that lives in another file system tree begin; "" = here. A chroot's
 * paths may be told as we see them.
 */
void naming_root(pid_t pid, const struct heap *h, char root[64]);

#endif
