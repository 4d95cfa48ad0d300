/* SPDX-License-Identifier: MIT */
/*
 * How much of this process's memory is resident, as the kernel knows it.
 */
#ifndef AGENT_RESIDENT_H
#define AGENT_RESIDENT_H

#include "agent/agent.h"

/*
 * Note in the ledger what is resident now and the most that ever was (VmRSS and VmHWM of proc(5)'s status): a process may begin and end between two
 * looks of its monitor. Opens a file; where it cannot, nothing is noted.
 */
void resident_note(struct pmm_ledger *l);

#endif
