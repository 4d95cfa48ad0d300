/* SPDX-License-Identifier: MIT */
/*
 * System calls that the program makes by syscall(): those that are about signals.
 */
#ifndef AGENT_FAULT_HOOKS_RAW_H
#define AGENT_FAULT_HOOKS_RAW_H

/*
 * What is to be called in place of syscall() for system call `nr`, with the same arguments; NULL:
 * itself. The real one is known.
 */
void *raw_instead(long nr);

#endif
