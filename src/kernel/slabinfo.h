/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's slab caches, from /proc/slabinfo: exact, of all processes, but for root only. */
#ifndef KERNEL_SLABINFO_H
#define KERNEL_SLABINFO_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/base/vec.h"

#define SLAB_NAME_BYTES	40

struct slab_cache {
	char name[SLAB_NAME_BYTES];	/* cut where it is longer */
	uint64_t used, objects;		/* used ones; all that there is room for */
	uint64_t object_bytes;
	uint64_t slabs, slab_bytes;	/* how many slabs, and what one takes */
};

struct slabinfo {
	VEC(struct slab_cache) v;	/* by name */
};

/* Read it anew. 0; -EACCES: for root only; -ENOENT: this kernel has none; with `e`. */
int slabinfo_read(struct slabinfo *s, struct err *e);

/* Read text of that form instead of the file. 0, -EINVAL or -ENOMEM. */
int slabinfo_parse(struct slabinfo *s, char *text, struct err *e);

/* NULL: there is no cache of that name. */
const struct slab_cache *slabinfo_find(const struct slabinfo *s, const char *name);

void slabinfo_fini(struct slabinfo *s);

#endif
