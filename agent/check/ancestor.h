/*
 * What a forked process can still learn from the ledgers before its own: those of the processes that it was forked from, one from the other.
 *
 * Their slots of the tree's file are mapped here as they were there at the fork, and the monitor leaves them as they are for as long as it
 * can (pmm_slot.parent). Numbers of sites that blocks of before a fork bear never change their meaning; whatever else is in such a ledger
 * its owner may be changing.
 */
#ifndef AGENT_CHECK_ANCESTOR_H
#define AGENT_CHECK_ANCESTOR_H

#include <stdint.h>

#include "include/pmm/ledger.h"

/* A process's slot, noted by itself. */
struct ancestor_slot {
	struct pmm_slot *slot;
	uint32_t use;			/* pmm_slot.use when it took the slot */
	uint32_t pid;
};

/* In a forked child, whose own ledger is there: the one it had until now was of that generation and that slot. */
void ancestor_add(struct pmm_ledger *l, uint32_t generation, const struct ancestor_slot *of);

/* Have our block tables cover what its tables covered, so that blocks of before the fork are looked for: up to 4 GiB of heap. */
void ancestor_cover(uint32_t generation);

/* Who was it? 0: not known any more. Generations count modulo 2^16 here. */
uint32_t ancestor_pid(uint32_t generation);

/*
 * The stack that was call site `site` there, as a call site of our own ledger. 0: it cannot be had. For the moment of an error: the first time
 * for a site takes some microseconds.
 */
uint32_t ancestor_site(uint32_t generation, uint32_t site);

#endif
