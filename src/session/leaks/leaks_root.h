/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the root that an entry's blocks hang on is called, in a few words and without debug
 * information.
 */
#ifndef SESSION_LEAKS_LEAKS_ROOT_H
#define SESSION_LEAKS_LEAKS_ROOT_H

#include "src/analyze/leaks.h"
#include "src/base/str.h"

struct symbolizer;

/* Its context: a symbolizer (NULL: no names) and the heap. */
struct leaks_root { struct symbolizer *sym; const struct heap *heap; };

/* Append it; nothing where it is not known. For leaks_view_options. */
void leaks_root_text(void *context, const struct leak_entry *e, struct str *s);

#endif
