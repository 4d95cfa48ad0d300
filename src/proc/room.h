/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether there is room for a copy of a process: memory, one process more; and whether the program
 * would be notified of it.
 */
#ifndef PROC_ROOM_H
#define PROC_ROOM_H

#include <sys/types.h>

#include "src/base/err.h"

/*
 * 0; or with `e` -ENOMEM, -EDQUOT a limit on processes, -ENOTSUP. A copy costs its page tables at
 * once, and a page for each that the program changes while it is there. Under a limit on memory
 * where all are killed together there must be room for all of it.
 */
int room_for_copy(pid_t pid, struct err *e);

#endif
