/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent taken out of a process.
 */
#ifndef INJECT_EJECT_H
#define INJECT_EJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/entries/attached.h"
#include "src/ptrace/remote.h"

/*
 * inject_detach() of what is written down only, without asking stop_allowed(). *pause_ns becomes
 * the longest stop if that is longer. `of`: nothing where a monitor other than that watches the
 * process, -EALREADY; 0: whichever does. -ESTALE: another pmm has attached meanwhile.
 */
int eject(pid_t pid, pid_t of, bool *removed, uint64_t *pause_ns, struct err *e);

/* This one, as far as one can. Errors are of no use to anybody. */
void eject_this(struct attached *a);

/*
 * Unmap one's memory and undo the limit, through a thread of the process: no jump leads there, no
 * thread is in it, no other pmm works on it. It may be started again, whichever process is killed
 * meanwhile. 0 or -errno with `e`.
 */
int eject_memory(struct attached *a, struct remote *r, struct err *e);

#endif
