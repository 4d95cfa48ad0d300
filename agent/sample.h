/* SPDX-License-Identifier: MIT */
/*
 * Poisson sampling by bytes: distances, weights, and which pages hold samples.
 */
#ifndef AGENT_SAMPLE_H
#define AGENT_SAMPLE_H

#include <stdint.h>

#include "agent/agent.h"
#include "agent/sys.h"

#define AGENT_FILTER_SLOTS	32768

struct tctx;

/* Bytes until the next sample: exponentially distributed with the mean asked for. */
uint64_t sample_next(struct tctx *c);

/*
 * How many allocations of this size one sample stands for, rounded at random but the same for the
 * same block.
 */
uint64_t sample_weight(uint64_t size, uint64_t address);

/* ... and how many bytes. */
uint64_t sample_bytes(uint64_t size);

extern uint8_t sample_pages[AGENT_FILTER_SLOTS] __attribute__((visibility("hidden")));

/* How many live samples are on pages that share this address's slot; 255 = many, for ever. */
static inline uint8_t *sample_filter(uint64_t address)
{
	return &sample_pages[(address >> 12) % AGENT_FILTER_SLOTS];
}

static inline void sample_enter(uint64_t address)
{
	uint8_t *filter = sample_filter(address), old = LOAD(*filter);

	while (old < 255 && !CAS(*filter, old, old + 1))
		;
}

static inline void sample_leave(uint64_t address)
{
	uint8_t *filter = sample_filter(address), old = LOAD(*filter);

	while (old && old < 255 && !CAS(*filter, old, old - 1))
		;
}

#endif
