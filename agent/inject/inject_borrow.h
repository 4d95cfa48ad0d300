/* SPDX-License-Identifier: MIT */
/*
 * Frames of hooks that the program's own unwinder can walk through.
 */
#ifndef AGENT_INJECT_INJECT_BORROW_H
#define AGENT_INJECT_INJECT_BORROW_H

/*
 * Find code to borrow. Once, at the start, with the list of modules read; without any, exceptions
 * end at hooks.
 */
void borrow_find(void);

#endif
