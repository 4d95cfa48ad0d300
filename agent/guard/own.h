/* SPDX-License-Identifier: MIT */
/*
 * What memory is the agent's own (struct pmm_own), for who searches the process from outside.
 */
#ifndef AGENT_GUARD_OWN_H
#define AGENT_GUARD_OWN_H

#include <stddef.h>

#include "include/pmm/check.h"

/* Note a private mapping that stays for good. Any thread. */
void own_note(enum pmm_own_what what, const void *start, size_t bytes);

#endif
