/* SPDX-License-Identifier: MIT */
/*
 * Pieces: runs of up to four frames at fixed places of a stack (frames 0 to 3 from the outermost, 4
 * to 7, ...), through which a context numbers stacks with one look-up for four frames instead of
 * one for each.
 *
 * A piece is found by the hash of the stack from the outermost frame to the piece's innermost, so
 * all pieces of a stack can be fetched at once; it is verified in full: its frames' pcs and the
 * node outside it. A pc stands for a frame as long as agent.code_gen is the same.
 */
#ifndef AGENT_PIECE_H
#define AGENT_PIECE_H

#include <stdint.h>

#include "agent/unwind/unwind.h"

#define PIECE_FRAMES	4
#define PIECE_BITS	13	/* of the number of sets, at first */
#define PIECE_MOST_BITS	19	/* ... and at most */
#define PIECE_WAYS	2u

struct piece {
	uint64_t pcs[3];	/* four of 48 bits, outermost first, 0 = no frame */
	/* node of the frame outside it; with PIECE_LEAF the number is a site */
	uint32_t outside;
	uint32_t number;	/* node of its innermost frame, or site; 0 = unused */
};

#define PIECE_LEAF	(1u << 31)

struct piece_cache {
	uint32_t bits;		/* of the number of sets in use; the others are unused */
	uint32_t mask;
	uint32_t most_bits;	/* ... that there are */
	uint32_t lost;		/* pieces met again that were in no set any more, lately */
	bool missed;		/* the stack looked up last had such, or new ones */
	/* a set fills a line of the processor's cache */
	struct piece set[][PIECE_WAYS] __attribute__((aligned(64)));
};

/* A cache for a context; NULL: there is no room. */
struct piece_cache *piece_cache_new(uint32_t bits);

/* Code came or went, or what is in the cache may be half written. */
void piece_forget(struct piece_cache *cache);

/* The site of the context's memo, whose new frames have no node yet. 0 when there is no room. */
uint32_t piece_site(struct tctx *c, uint32_t site_flags);

#endif
