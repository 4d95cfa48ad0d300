/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The main thread's stack where the limit on stacks (ulimit -s) leaves it less than pmm, and the
 * libraries that it uses, may need.
 *
 * The limit itself stays: what pmm launches gets it as it was.
 */
#ifndef BASE_STACK_H
#define BASE_STACK_H

/*
 * function(arg), on a stack of 8 MiB: the one there is, or one of our own. Threads that libraries
 * make get no smaller ones than a small limit would give them. Where there is no memory for that,
 * all is as it was. Returns what the function returns.
 */
int stack_run(int (*function)(void *arg), void *arg);

#endif
