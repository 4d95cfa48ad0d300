/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The signals of pmm while it is between a program and the shell (src/track/child.h): terminal
 * signals are ignored, since the program's group gets them from the kernel; what is sent to pmm
 * alone is made a descriptor, for the monitor to pass on.
 */
#ifndef CMD_RUN_SIGNALS_H
#define CMD_RUN_SIGNALS_H

#include "src/track/child.h"

extern const struct child_signals run_signals;

#endif
