/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Can an access that is stopped be told by a signal handler in this process, and the access be let
 * go on?
 */
#ifndef PROC_SEGV_CHECK_H
#define PROC_SEGV_CHECK_H

#include <sys/types.h>

#include "src/base/err.h"

/*
 * 0; -ENOTSUP with `e`: a thread blocks SIGSEGV, the process ignores it, a seccomp filter judges
 * its system calls; -ESRCH.
 */
int guardable(pid_t pid, struct err *e);

#endif
