/* SPDX-License-Identifier: MIT */
/*
 * Pieces: runs of up to four frames at fixed places of a stack (frames 0 to 3 from the outermost, 4
 * to 7, ...), through which a context numbers stacks with one look-up for four frames instead of
 * one for each.
 *
 * A piece is verified in full: its frames' pcs and the node outside it. A pc stands for a frame as
 * long as agent.code_gen is the same.
 */
#ifndef AGENT_PIECE_H
#define AGENT_PIECE_H

#include <stdint.h>

#include "agent/unwind/unwind.h"

#define PIECE_FRAMES	4
#define PIECE_BITS	13	/* of the number of sets */

struct piece {
	uint64_t pcs[3];	/* four of 48 bits, outermost first, 0 = no frame */
	/* node of the frame outside it; with PIECE_LEAF the number is a site */
	uint32_t outside;
	uint32_t number;	/* node of its innermost frame, or site; 0 = unused */
};

#define PIECE_LEAF	(1u << 31)

/* A set fills a line of the processor's cache. */
struct piece_cache {
	struct piece set[1 << PIECE_BITS][2];
};

/*
 * The site of the context's memo, whose frames from memo[first] inwards have no numbers yet. 0 when
 * there is no room.
 */
uint32_t piece_site(struct tctx *c, uint32_t first, uint32_t site_flags);

#endif
