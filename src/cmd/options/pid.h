/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operands that name a process.
 */
#ifndef CMD_OPTIONS_PID_H
#define CMD_OPTIONS_PID_H

#include <sys/types.h>

#include "src/base/err.h"

/* A process number. 0, or -EINVAL with `e` (a usage error). */
int cmd_parse_pid(const char *text, pid_t *pid, struct err *e);

#endif
