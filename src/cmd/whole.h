/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file written whole, whatever signals come: one in the middle would leave a part under another
 * name. Signals wait meanwhile.
 */
#ifndef CMD_WHOLE_H
#define CMD_WHOLE_H

#include <sys/types.h>

#include "src/base/err.h"
#include "src/model/heap.h"
#include "src/store/replace.h"

/*
 * Write it to the name that `output` gives a process's capture (output_name()); `name`, of PATH_MAX
 * bytes, has it afterwards. 0 or -errno with `e`, which has no text when memory ran out.
 */
int whole_write(const struct heap *h, const char *output, pid_t pid, char *name, struct err *e);

/* The same of a report that `write` writes. 0 or -errno with `e`. */
int whole_write_report(const char *name, replace_write *write, void *arg, struct err *e);

#endif
