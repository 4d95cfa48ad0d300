/*
 * What a pmm left in a process that was killed before the agent was there to be found: an open memory file, mapped memory.
 */
#ifndef INJECT_LEFTOVER_H
#define INJECT_LEFTOVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/inject/image.h"
#include "src/target/remote.h"

/* Is any of it there? Only looks. `im` tells the agent's image among other memory, NULL = look for files only. */
bool leftover_seen(pid_t pid, const struct image *im);

/* Does a thread still do what a pmm made it do that was killed meanwhile? Once none does, none comes back there. */
bool leftover_in_use(const struct stopped *all, const struct image *im);

/*
 * Close and unmap it through a thread of the process. With an image only where the process has no agent and
 * nothing of it is in use. Number of things removed.
 */
unsigned leftover_clear(pid_t pid, struct remote *r, const struct image *im);

/*
 * Only one pmm at a time works on a process. A descriptor that holds the lock until it is closed, -1 where locks cannot be had; -EBUSY
 * with `e` when another has it.
 */
int leftover_lock(pid_t pid, struct err *e);

#endif
