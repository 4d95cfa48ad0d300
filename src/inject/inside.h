/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the threads of a stopped process are, and where they will come back to from signal
 * handlers.
 */
#ifndef INJECT_INSIDE_H
#define INJECT_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/entries/attached.h"
#include "src/proc/proc.h"
#include "src/ptrace/stop.h"

/*
 * Call `seen(arg, pc, sp)` for every place that thread `t` is at or will come back to from a
 * signal handler, until it says true. `maps` are the process's. Returns whether it did.
 */
bool inside_each(const struct stopped *s, const struct stop_thread *t, const struct proc_maps *maps,
		 bool (*seen)(void *arg, uint64_t pc, uint64_t sp), void *arg);

/* Is any thread in the agent, or will it come back to it? */
bool inside_agent(const struct stopped *s, const struct attached *a);

#endif
