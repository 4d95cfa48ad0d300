/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process's list of mappings given to the agent in the tree's file, for a process whose root
 * directory has no /proc.
 */
#ifndef INJECT_MAPS_TEXT_H
#define INJECT_MAPS_TEXT_H

#include <sys/types.h>

#include "include/pmm/inject.h"

/*
 * Write it behind the ledger, where it needs none later, and say so in `args`; nothing where it is
 * not needed or does not work.
 */
void maps_text_put(pid_t pid, int tree_fd, struct pmm_inject_args *args);

/* Take it out again. */
void maps_text_remove(int tree_fd, const struct pmm_inject_args *args);

#endif
