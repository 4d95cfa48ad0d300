/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions that a function can come to.
 */
#ifndef ENTRIES_FLOW_H
#define ENTRIES_FLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FLOW_MOST	256

struct flow {
	uint64_t at[FLOW_MOST];
	unsigned nr;
};

/*
 * Follow the code at `address` through relative branches and jumps, and through relative calls of
 * its own but not those of what it calls. What is further on than FLOW_MOST instructions is left
 * out.
 */
void flow_follow(pid_t pid, uint64_t address, struct flow *f);

/* Does an instruction that is reached begin at `pc`? */
bool flow_has(const struct flow *f, uint64_t pc);

#endif
