/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stack that is an array, whose checks are made up, and a context that knows it or not. */
#ifndef TESTS_UNIT_KNOWN_STACKS_H
#define TESTS_UNIT_KNOWN_STACKS_H

#include "tests/unit/agent_host.h"

#include "agent/known.h"
#include "tests/unit/unit.h"

#define WORDS		512
#define RA		0x401001
#define MOST		(KNOWN_CHAIN * KNOWN_WORDS)

static uint64_t words[WORDS];
static struct check checks[MOST + 1];
static struct frame memo;
static struct tctx *ctx;
static struct known *known;
static struct caller from;

static inline int begin(void **state)
{
	(void)state;
	ctx = calloc(1, sizeof(*ctx) + 64);
	known = aligned_alloc(64, (sizeof(*known) + 63) / 64 * 64);
	assert_true(ctx && known);
	memset(known, 0, sizeof(*known));
	ctx->known = known;
	ctx->checks = checks;
	ctx->memo = &memo;
	ctx->memo_nr = 1;
	memo = (struct frame){ 0 };
	from = (struct caller){ RA, (uint64_t)words, 0x5555 };
	for (unsigned i = 0; i < WORDS; i++)
		words[i] = 1000 + i;
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	free(known);
	free(ctx);
	return 0;
}

/* The stack hangs on the first nr words as they are: words[0] is the innermost. */
static inline void hang_on(unsigned nr)
{
	known_memo_changed(known, 0);
	for (unsigned i = 0; i < nr; i++)
		checks[nr - 1 - i] = (struct check){ (uint64_t)&words[i], words[i] };
	memo.nr_checks = (uint16_t)nr;
}

static inline void note(uint32_t site)
{
	ctx->last_site = site;
	known_note(ctx, &from);
}

/* Known from here on, if there is room. */
static inline void learn(uint32_t site, unsigned nr)
{
	hang_on(nr);
	note(site);
	note(site);
}

static inline uint32_t site(void)
{
	return known_site(known, &from);
}

/* Stack `n` of one caller: a word far out says which. */
static inline void be(unsigned n)
{
	words[8] = 5000 + n;
}

static inline struct known_stack *way_of(uint32_t number)
{
	struct known_stack *set = known->stack[known_set(&from)];

	for (unsigned i = 0; i < KNOWN_WAYS; i++)
		if (set[i].site == number)
			return &set[i];
	return NULL;
}

#endif
