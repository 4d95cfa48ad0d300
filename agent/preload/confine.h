/* SPDX-License-Identifier: MIT */
/*
 * The program is about to have its system calls filtered (seccomp): which of the agent's would
 * survive?
 */
#ifndef AGENT_PRELOAD_CONFINE_H
#define AGENT_PRELOAD_CONFINE_H

#include <stdint.h>

/* The modes of prctl(PR_SET_SECCOMP), which those of seccomp() are one less than. */
enum confine_mode { CONFINE_STRICT = 1, CONFINE_FILTER = 2 };

/*
 * Call this before the system call that does it, with its flags (0 for prctl) and its struct
 * sock_fprog. What would be no such call, as libraries make to find out what the kernel knows, does
 * nothing, nor does that of a child made by vfork, whose memory is its parent's.
 *
 * From then on the agent is `confined` (agent/agent.h), and does without what the filter does not
 * simply allow: a ledger that grows (no_growth, no_break), files for ledgers of children (no_files,
 * and PMM_ENV_CLOSED for programs that are executed), asking what can be read (no_asking), handlers
 * that return (no_return), pages of the guard pool opened and closed, and signals kept for them
 * (no_guards).
 */
void confine(uint64_t mode, uint64_t flags, const void *program);

#endif
