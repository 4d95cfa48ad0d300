/*
 * Live bytes of the process and the exact moment of their peak.
 */
#ifndef AGENT_TOTAL_H
#define AGENT_TOTAL_H

#include <stdint.h>

struct tctx;

/* Add to (remove from) the process's live bytes. Returns the epoch the event belongs to. */
uint64_t total_add(struct tctx *c, uint64_t bytes);
uint64_t total_sub(struct tctx *c, uint64_t bytes);

#endif
