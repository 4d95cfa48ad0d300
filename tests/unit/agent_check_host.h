/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The check form's engine outside a traced process, for unit tests: level light with a quarantine
 * of 1 MiB, unless a test says otherwise before its first block.
 */
#ifndef TESTS_UNIT_AGENT_CHECK_HOST_H
#define TESTS_UNIT_AGENT_CHECK_HOST_H

#include "agent/check/agent_check.h"
#include "agent/check/checker.h"
#include "tests/unit/agent_host.h"

extern struct pmm_tree tree;		/* its options are read at the first block */
extern struct tctx *ctx;		/* this thread's */
extern uint64_t stack[64];		/* where all callers' frames are */
extern unsigned real_frees;		/* blocks that went back to the real allocator */

/* Set up and tear down, for cmocka. */
int begin(void **state);
int end(void **state);

/* One of eight functions of a program, each with a stack of its own. */
struct caller caller(unsigned i);

/* Allocate; release: as one of these functions. how: enum pmm_release. */
void *get(size_t size, uint32_t kind, unsigned who);
void give(void *p, uint32_t how, unsigned who);

/* What was found. */
uint32_t nr_findings(void);
const struct pmm_finding *finding(uint32_t nr);

#endif
