/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The modules of a running process for the heap of its log: files whose code its records call from.
 */
#ifndef KMOD_KMOD_MAPS_H
#define KMOD_KMOD_MAPS_H

#include <sys/types.h>

#include "src/base/err.h"
#include "src/model/heap.h"

/*
 * Give a heap the modules of a process, out of /proc/PID/maps and the files named there, and its
 * nodes without one the module that their address is in. Modules that no node is in are left out. 0
 * or -ENOMEM; a process that cannot be looked at gives none.
 */
int kmod_maps_add(struct heap *h, pid_t pid);

#endif
