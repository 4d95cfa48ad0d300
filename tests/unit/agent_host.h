/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's modules outside a traced process: a ledger in ordinary memory, for unit tests.
 */
#ifndef TESTS_UNIT_AGENT_HOST_H
#define TESTS_UNIT_AGENT_HOST_H

#include <stddef.h>

#include "agent/agent.h"
#include "agent/agent_arena.h"
#include "agent/block.h"
#include "agent/ctx.h"
#include "agent/sample.h"
#include "agent/site.h"
#include "agent/total.h"

/*
 * Set up A with an empty ledger of this arena size, exact mode, "several threads". Ends the test
 * program on failure.
 */
void agent_host_init(size_t arena_bytes);

/* The same in memory that lies there already, zeroed, `bytes` of it. */
void agent_host_init_at(void *base, size_t bytes);

/* Release what agent_host_init() mapped. */
void agent_host_fini(void);

/*
 * What each form of the agent does in its own way (agent/segment.h, agent/limit.h) is done by
 * these, zeroed: segment_file() fails unless `file` is set, the rest is counted.
 */
struct agent_host_form {
	int (*file)(void);
	unsigned files, published, lost;
	bool new_image;			/* as segment_publish() was told last */
	uint32_t inherited;		/* what limit_inherited() says */
};

extern struct agent_host_form agent_host_form;

/* A context of its own, as a new thread would get. */
struct tctx *agent_host_ctx(void);

/* Sum of live bytes, and of the bytes at the peak, over all records of all contexts. */
int64_t agent_host_live(void);
int64_t agent_host_at_peak(void);

/* Live bytes as the total word and the credits say. */
uint64_t agent_host_total(void);

/* Blocks that got a canary, over all contexts. */
uint64_t agent_host_canaried(void);

#endif
