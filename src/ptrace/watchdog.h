/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small process beside ours that looks after a process we work on.
 *
 *     we are stopped  (SIGSTOP, a debugger, a frozen control group) while threads of it are held:
 *                     we are killed, whereupon the kernel lets them go
 *     we have died    what we left is taken away
 *
 * It is a fork in a session of its own, so that what the terminal sends to us does not reach it; it
 * ignores signals, keeps no descriptor and no directory of ours, and ends with us.
 */
#ifndef PTRACE_WATCHDOG_H
#define PTRACE_WATCHDOG_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/base/err.h"

struct watchdog {
	pid_t pid;			/* 0 = there is none */
	int fd;				/* closed when we die; a byte says that all is well */
};

/*
 * Start one for process `target`, before anything is done to it; none where there is no such
 * process. clean(target, arg) runs in it once we have died: 0 or -errno; -EAGAIN, -EBUSY,
 * -ETIMEDOUT: it is tried again for a while. 0 or -errno with `e`.
 */
int watchdog_start(struct watchdog *w, pid_t target, int (*clean)(pid_t target, void *arg),
		   void *arg, struct err *e);

/*
 * We are done with it. `well`: nothing of ours is left there that should not be; else it cleans up
 * as if we had died. All zero is fine.
 */
void watchdog_end(struct watchdog *w, bool well);

#endif
