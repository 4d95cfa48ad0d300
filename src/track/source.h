/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which source serves a FILE|PID argument, and the source that reads running processes.
 */
#ifndef TRACK_SOURCE_H
#define TRACK_SOURCE_H

#include "src/store/capture.h"

/* A tracked process: its ledger, and the allocator's own figures out of its memory. */
extern const struct capture_ops capture_ledger;

/*
 * The source for a command line's FILE|PID argument: all digits and no such file: ledger;
 * "fake:...": fake; else file.
 */
const struct capture_ops *capture_for(const char *what);

#endif
