/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does SIGSEGV reach a handler in a process, and may the handler make the system calls that let the
 * access continue? Guarded blocks need both.
 */
#ifndef PROC_SEGV_CHECK_H
#define PROC_SEGV_CHECK_H

#include <sys/types.h>

#include "src/base/err.h"

/*
 * 0; -ENOTSUP with `e`: a thread blocks SIGSEGV, the process ignores it, a seccomp filter judges
 * its system calls; -ESRCH.
 */
int segv_check(pid_t pid, struct err *e);

#endif
