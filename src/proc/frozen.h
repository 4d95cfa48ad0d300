/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a process is frozen with its control group: no thread of it runs, or can be made to. */
#ifndef PROC_FROZEN_H
#define PROC_FROZEN_H

#include <sys/types.h>

#include "src/base/err.h"

/* 0, also when its group cannot be seen from here; -EBUSY with `e`: it is. */
int frozen_not(pid_t pid, struct err *e);

#endif
