/* SPDX-License-Identifier: MIT */
/*
 * Call stacks as numbers, and the counters of each.
 */
#ifndef AGENT_SITE_H
#define AGENT_SITE_H

#include <stdint.h>

#define SITE_PAGE_SHIFT	10
/* sites below that are found by one level of pages */
#define SITE_NEAR	(1u << (2 * SITE_PAGE_SHIFT))

struct tctx;
struct pmm_record;

/* The site whose stack ends at `node`; 0 when there is no room, or no node. */
uint32_t site_get(uint32_t node, uint32_t flags);

/* Give a site that there is a flag (enum pmm_site_flags). */
void site_mark(uint32_t site, uint32_t flag);

/*
 * The context's record of a site, with its peak part brought up to `epoch` (0: left as it is). NULL
 * for site 0 and when there is no room: then the event counts for ...
 */
struct pmm_record *site_record(struct tctx *c, uint32_t site, uint64_t epoch);

/* The context's record of the site will be asked for soon. */
void site_fetch_record(const struct tctx *c, uint32_t site);

/* ... the context's record of site 0, which there always is. */
struct pmm_record *site_record_none(struct tctx *c, uint64_t epoch);

/*
 * The context was left in the middle of an event: a record that is in its list already is noted as
 * that of its site, so that there is never a second one.
 */
void site_recover(struct tctx *c);

/*
 * Blocks of the record were released that lived longer than a tick: count them by lifetime. Where
 * there is no room for that, with those of site 0.
 */
void site_count_lives(struct tctx *c, struct pmm_record *r, unsigned lifetime, uint64_t blocks);

#endif
