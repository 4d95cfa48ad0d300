/* SPDX-License-Identifier: MIT */
/*
 * Libraries that come by dlopen() and call the allocator's own functions (own_called.h).
 */
#ifndef AGENT_PRELOAD_OWN_LATE_H
#define AGENT_PRELOAD_OWN_LATE_H

#include <stdbool.h>

/* ---- what each form of the agent does in its own way */

/* Does a look at a block matter? */
extern const bool own_late_looks __attribute__((visibility("hidden")));

/* Such a library is there: before the program gets to call it by a name. May come twice. */
void own_late_met(void);

/* ---- what they share */

/* dlopen() is about to be called. */
void own_late_open(const char *path, int flags);

/*
 * dlopen() may have come back: look at what has come. `handle` is dlsym()'s, NULL = there is none.
 */
void own_late_look(const void *handle);

/* The program ends. */
void own_late_end(void);

#endif
