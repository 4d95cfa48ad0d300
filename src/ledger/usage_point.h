/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's figures of a process as points of its heap. */
#ifndef LEDGER_USAGE_POINT_H
#define LEDGER_USAGE_POINT_H

#include <stdint.h>
#include <sys/types.h>

#include "src/model/heap.h"
#include "src/proc/process_figures.h"

/* What process_figures_*() returned, as enum heap_usage_why. */
uint8_t usage_why(int rc);

/* Put those figures into a point that belong to `known`, bits of enum heap_usage_known. */
void usage_point_fill(struct heap_usage_point *p, const struct process_figures *f, uint8_t known);

/*
 * Resident bytes by kind and swapped ones, under the number that has them: *pid changes where the
 * process's first thread has ended. As process_figures_status().
 */
int usage_sizes(pid_t *pid, struct process_figures *f);

/*
 * All figures of a running process as they are now, PSS among them, as its heap's only point. 0 or
 * -ENOMEM.
 */
int usage_now(pid_t pid, struct heap *h);

#endif
