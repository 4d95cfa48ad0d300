/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a pmm left in a process that was killed before it wrote down what it had made there: open
 * memory files, memory of such files.
 */
#ifndef INJECT_LEFTOVER_H
#define INJECT_LEFTOVER_H

#include <sys/types.h>

#include "src/base/err.h"
#include "src/ptrace/remote.h"

/*
 * Close and unmap what belongs to no agent. Waits until no thread is at work in it. stop_allowed()
 * was asked before. Number of things removed, 0 = there was nothing, or -errno with `e`: -EAGAIN if
 * a thread stays at work.
 */
int leftover_remove(pid_t pid, struct err *e);

#endif
