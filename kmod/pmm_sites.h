/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places in the source that a process's records name: each once, with a number, from 1 on. The
 * caller locks. A place stays until all of them go; their numbers are not used again, so that a
 * record of before has no place rather than a wrong one.
 */
#ifndef KMOD_PMM_SITES_H
#define KMOD_PMM_SITES_H

#include "pmm_os.h"

#define PMM_SITES_MAX	65535

struct pmm_site {
	struct hlist_node node;
	u32 id, line, hash;
	u16 function_bytes;		/* with the 0 byte; the file begins behind it */
	char text[];			/* function, file */
};

struct pmm_sites {
	struct hlist_head *buckets;	/* NULL: none yet */
	u32 bits;
	struct pmm_site **by_id;	/* [id - before - 1] */
	u32 nr, room;
	u32 before;			/* numbers of those that have gone */
	u64 seed;			/* of the hash, random: names cannot be chosen to collide */
};

/* All of it gone, but the seed. One with nothing but a seed needs no other initialisation. */
void pmm_sites_clear(struct pmm_sites *sites);

/*
 * The place of these strings, which end inside their arrays; a new one if need be. NULL: no memory
 * or too many.
 */
struct pmm_site *pmm_sites_add(struct pmm_sites *sites, const char *function, const char *file,
			       u32 line);

/* NULL: there is none */
static inline struct pmm_site *pmm_sites_at(const struct pmm_sites *sites, u32 id)
{
	return id > sites->before && id - sites->before <= sites->nr ?
		       sites->by_id[id - sites->before - 1] :
		       NULL;
}

static inline const char *pmm_site_function(const struct pmm_site *site)
{
	return site ? site->text : "";
}

static inline const char *pmm_site_file(const struct pmm_site *site)
{
	return site ? site->text + site->function_bytes : "";
}

#endif
