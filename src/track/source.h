/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The heap that a command line's FILE|PID argument names: that of a tracked process, of a capture
 * or of another tool's profile, so that everything above works on all.
 */
#ifndef TRACK_SOURCE_H
#define TRACK_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/model/heap.h"

/* Is the argument a process? All digits and no such file. */
bool source_is_process(const char *what);

/*
 * Read the argument's heap into *out, owned by the caller (heap_free()). 0 or -errno with `e` set;
 * `max_bytes` and the errors are those of capture_read() (src/store/capture.h) and import_read()
 * (src/import/import.h).
 */
int source_read(const char *what, uint64_t max_bytes, struct heap **out, struct err *e);

#endif
