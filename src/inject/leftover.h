/*
 * What a pmm left in a process that was killed before the agent was there to be found: an open memory file, mapped memory.
 */
#ifndef INJECT_LEFTOVER_H
#define INJECT_LEFTOVER_H

#include <sys/types.h>

#include "src/base/err.h"
#include "src/inject/image.h"
#include "src/target/remote.h"

/*
 * Close and unmap it, where the process has no agent: `im` tells the agent's image among other memory. Waits until no thread is at work in
 * it; stop_allowed() was asked before. Number of things removed, 0 = there was nothing, or -errno with `e`: -EAGAIN if one stays at work.
 */
int leftover_remove(pid_t pid, const struct image *im, struct err *e);

/* Close the open files alone, through a thread of the process. Number of files. */
unsigned leftover_close(pid_t pid, struct remote *r);

/*
 * Only one pmm at a time works on a process. A descriptor that holds the lock until it is closed, -1 where locks cannot be had; -EBUSY
 * with `e` when another has it.
 */
int leftover_lock(pid_t pid, struct err *e);

#endif
