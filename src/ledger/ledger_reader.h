/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One reading of a ledger: what its parts share. Each part is called once, in this order:
 *
 *	ledger_read_findings()	ledger_findings.c	sites still by the ledger's numbers
 *	ledger_read_blocks()	ledger_blocks.c		likewise
 *	ledger_read_guards()	ledger_guards.c		likewise
 *	ledger_read_sites()	ledger_sites.c		totals; sites get the heap's numbers
 *	ledger_read_nodes()	ledger_stacks.c
 *	ledger_read_srclocs()	ledger_srclocs.c
 *	ledger_read_modules()	ledger_stacks.c
 *	ledger_read_threads()	ledger_threads.c
 *
 * What is published first is read last (a block names a site that names a node that names a
 * module), so that in a running process whatever is named is found. Damage is left out and counted,
 * never followed.
 */
#ifndef LEDGER_LEDGER_READER_H
#define LEDGER_LEDGER_READER_H

#include <errno.h>

#include "src/ledger/ledger_heap.h"

#define LEDGER_SITE_MAPPING (1u << 31)	/* in site_index: the number is one of map_sites */

struct ledger_reader {
	struct ledger_map *m;
	const struct ledger_options *o;
	struct heap *h;			/* being filled */
	struct pmm_ledger *l;		/* copy of the header, by ledger_reader_refresh() */
	uint32_t *site_index;		/* ledger's site number -> index in sites or map_sites */
	uint32_t nr_site_index;
	struct pmm_stamp *stamps;	/* [nr_stamps], as far as they were needed */
	uint32_t nr_stamps;
	uint64_t max_bytes, used_bytes;	/* of memory: allowed, taken by what there can be much of */
	uint64_t damaged;		/* things left out */
	uint64_t drift;			/* inconsistencies a running process caused */
	uint64_t stuck_off, stuck_seq;	/* a context that stays in the middle of an event */
	uint32_t waits;			/* spent on such contexts so far */
};

/* Count something that makes no sense: in a running process the reading's fault, else damage. */
static inline void ledger_reader_odd(struct ledger_reader *r)
{
	if (r->o->running)
		r->drift++;
	else
		r->damaged++;
}

/* Before memory is taken: 0, or -EFBIG when that is more than is allowed. */
static inline int ledger_reader_take(struct ledger_reader *r, uint64_t bytes)
{
	r->used_bytes += bytes;
	return r->used_bytes > r->max_bytes ? -EFBIG : 0;
}

/* Copy the header anew. 0 or -EBADMSG. */
int ledger_reader_refresh(struct ledger_reader *r);

/* Bytes of arena to be found: bounds every count and every list. */
uint64_t ledger_reader_arena(const struct ledger_reader *r);

/*
 * Copy a record of context `ctx`, and its lifetimes if it has any, as they were between two events.
 * Gives up after a while (the thread was stopped in the middle), which counts as drift. 0 or
 * -EFAULT.
 */
int ledger_reader_record(struct ledger_reader *r, pmm_ref ctx, pmm_ref ref, struct pmm_record *to,
			 struct pmm_lifetimes *lifetimes);

/* Context number i. 0, or -ENOENT when there is none. */
int ledger_reader_ctx(struct ledger_reader *r, uint32_t i, struct pmm_ctx *ctx);

/* Copy the stamps there are by now; what cannot be read is zero. 0 or -errno. */
int ledger_reader_stamps(struct ledger_reader *r);

/* A part of what may be frozen: from the frozen copy where there is one. 0, or -EFAULT, -EIO. */
int ledger_reader_part(struct ledger_reader *r, uint64_t off, void *to, size_t size);

/*
 * The same of what the agent may be changing: copied until two copies agree, for a while (else that
 * counts as drift). `again` has room for the other copy.
 */
int ledger_reader_part_settled(struct ledger_reader *r, uint64_t off, void *to, void *again,
			       size_t size);

/* Events recorded so far, all contexts. */
uint64_t ledger_reader_events(struct ledger_reader *r);

/*
 * Where entry `nr` of a chunked array is: its chunk's reference and its index there. false: no such
 * chunk.
 */
bool ledger_reader_entry(const pmm_ref *dir, uint32_t nr, uint32_t shift, pmm_ref *chunk,
			 uint32_t *index);

/*
 * A string of the ledger as valid UTF-8 (bad bytes and controls become '?'), caller frees; "" if
 * none. NULL: no memory.
 */
char *ledger_reader_string(struct ledger_reader *r, pmm_ref ref, uint32_t length);

/* Arguments separated by NUL as one line, quoted for a shell where needed; as above. */
char *ledger_reader_cmdline(struct ledger_reader *r, pmm_ref ref, uint32_t length);

/* A fixed-size name made valid UTF-8 and NUL-terminated; `to` has size + 1 bytes. */
void ledger_reader_name(char *to, const char *from, size_t size);

/* The parts. 0, -EFBIG or -ENOMEM. */
int ledger_read_findings(struct ledger_reader *r);
int ledger_read_blocks(struct ledger_reader *r);
int ledger_read_guards(struct ledger_reader *r);
int ledger_read_sites(struct ledger_reader *r);
int ledger_read_nodes(struct ledger_reader *r);
int ledger_read_srclocs(struct ledger_reader *r);
int ledger_read_modules(struct ledger_reader *r);
int ledger_read_threads(struct ledger_reader *r);

#endif
