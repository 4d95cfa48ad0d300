/*
 * The agent taken out of a process, by whoever works on the process already.
 */
#ifndef INJECT_EJECT_H
#define INJECT_EJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/inject/attached.h"

/* inject_detach() without its lock and without asking stop_allowed(). */
int eject(pid_t pid, bool *removed, uint64_t *pause_ns, struct err *e);

/* The same where it is certain that no jump is in place, or else as far as one can see. Errors are of no use to anybody. */
void eject_unused(struct attached *a);

#endif
