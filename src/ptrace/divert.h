/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a stopped thread can be made to do something else for a while: whether there is memory
 * below its stack pointer that is its own, and whether it is where it can be left and returned to
 * to.
 */
#ifndef PTRACE_DIVERT_H
#define PTRACE_DIVERT_H

#include <stdint.h>

#include "src/base/err.h"
#include "src/ptrace/stop.h"

/*
 * On the tracing thread. 0, with the lowest address of the stack in *low (may be NULL); -EAGAIN
 * with `e`: not this thread, or not now.
 */
int divert_check(pid_t pid, const struct stop_thread *thread, uint64_t *low, struct err *e);

#endif
