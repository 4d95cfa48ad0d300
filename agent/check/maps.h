/* SPDX-License-Identifier: MIT */
/*
 * The process's mappings as the kernel lists them: read when an error is there, so it may take its
 * time.
 */
#ifndef AGENT_CHECK_MAPS_H
#define AGENT_CHECK_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "include/pmm/check.h"

struct mapping {
	uint64_t start, end;
	uint32_t access;		/* 1 read, 2 write, 4 execute */
	bool stack, heap;
	char path[PMM_DEATH_TEXT];	/* "" = none; of a long one the end */
};

/* Mappings in order of address, until `fn` returns false. False: they cannot be read. */
bool maps_each(bool (*fn)(void *arg, const struct mapping *m), void *arg);

/*
 * The mapping that holds an address. False: there is none, or they cannot be read (*readable is
 * false then).
 */
bool maps_find(uint64_t address, struct mapping *m, bool *readable);

/* Does a thread that is known, but the first, have its stack in there, above `address`? */
bool maps_is_threads_stack(const struct mapping *m, uint64_t address);

#endif
