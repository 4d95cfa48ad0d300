/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process and all that descends from it, by the parents that /proc names. */
#ifndef PROC_DESCENDANTS_H
#define PROC_DESCENDANTS_H

#include <sys/types.h>

#include "src/base/vec.h"

struct pid_list {
	VEC(pid_t) pids;
};

/* Add all processes that there are. 0 or -errno. Release: vec_fini(&list->pids). */
int pid_list_all(struct pid_list *list);

/*
 * Add what descends from the processes in the list, each once, behind them. One that is born
 * meanwhile may be missing; one whose parent has ended is another's child by then. 0 or -errno.
 * Release: vec_fini(&list->pids).
 */
int descendants_add(struct pid_list *list);

#endif
