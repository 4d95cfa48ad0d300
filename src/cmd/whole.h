/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file written whole, whatever signals come: a signal in the middle would leave a part under
 * another name. Signals wait meanwhile. */
#ifndef CMD_WHOLE_H
#define CMD_WHOLE_H

#include <stddef.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/model/heap.h"

/*
 * Write it to the name that `output` gives a process's capture (output_name()); `name`, of PATH_MAX
 * bytes, has it afterwards. 0 or -errno with `e`, which has no text when memory ran out.
 */
int whole_write(const struct heap *h, const char *output, pid_t pid, char *name, struct err *e);

/* Write a report. 0 or -errno with `e`. */
int whole_write_bytes(const char *bytes, size_t nr, const char *name, struct err *e);

#endif
