/* SPDX-License-Identifier: MIT */
/*
 * Which function releases what which one allocated.
 */
#ifndef AGENT_CHECK_PAIR_H
#define AGENT_CHECK_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/check/agent_check.h"

/*
 * Is something said at the release of a block (enum pmm_kind, PMM_KIND_NONE = not known; align 0 =
 * not known) not so? Then *other is the wrong size or alignment, 0 where it is the function.
 */
bool pair_disagrees(uint32_t kind, size_t size, size_t align, const struct check_said *said,
		    uint64_t *other);

#endif
