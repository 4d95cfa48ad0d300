/* SPDX-License-Identifier: MIT */
/*
 * What a forked process still knows of the processes that it was forked from, one from the other:
 * their pids, and the stacks that blocks from before the fork bear the numbers of.
 *
 * Their ledgers are out of reach. So each process keeps its stacks a second time in private memory,
 * which fork copies: 16 bytes a node of the call tree, 4 a call site. What it adds after the fork
 * its children never see, which is right: no block that they have names it.
 */
#ifndef AGENT_GUARD_ANCESTOR_H
#define AGENT_GUARD_ANCESTOR_H

#include <stdint.h>

/*
 * This process begins: of that generation (ledgers before its own, since exec) and that pid. Stacks
 * are kept from now on.
 */
void ancestor_begin(uint32_t generation, uint32_t pid);

/*
 * Have our block tables cover what its tables covered, so that blocks from before the fork are
 * looked for: up to 4 GiB of heap.
 */
void ancestor_cover(uint32_t generation);

/* Who was it? 0: not known any more. Generations count modulo 2^16 here. */
uint32_t ancestor_pid(uint32_t generation);

/*
 * The stack that was call site `site` there, as a call site of our own ledger. 0: it cannot be had.
 * For the moment of an error: the first time for a site takes some microseconds.
 */
uint32_t ancestor_site(uint32_t generation, uint32_t site);

#endif
