/*
 * Call stacks as numbers, and the counters of each.
 */
#ifndef AGENT_SITE_H
#define AGENT_SITE_H

#include <stdint.h>

struct tctx;
struct pmm_record;

/* The node for `frame` below `parent`. 0 when there is no room. */
uint32_t node_get(uint32_t parent, uint64_t frame);

/* The site whose stack ends at `node`; 0 when there is no room. */
uint32_t site_get(uint32_t node, uint32_t flags);

/* The context's record of a site, with its peak part brought up to `epoch` (0: left as it is). NULL when there is no room. */
struct pmm_record *site_record(struct tctx *c, uint32_t site, uint64_t epoch);

#endif
