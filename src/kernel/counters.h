/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why this machine has none of the hardware's counters (perf events). */
#ifndef KERNEL_COUNTERS_H
#define KERNEL_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>

/* perf_event_open() has answered -errno: is there no such counter? Else it is refused. */
bool counters_is_missing(int rc);

/* A sentence without its full stop. `root` goes before /proc and /sys. */
void counters_why_none(const char *root, int rc, char *why, size_t room);

#endif
