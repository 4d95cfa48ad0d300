/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that are not to be attached to: the preloaded agent records already what a process does
 * that was started under pmm, and so does one that a program brings along.
 */
#ifndef LEDGER_LAUNCHED_H
#define LEDGER_LAUNCHED_H

#include <sys/types.h>

#include "src/base/err.h"

/* 0: none records, nor will. -EBUSY with `e`: it does, or will from the first event on. */
int launched_refuse(pid_t pid, struct err *e);

#endif
