/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals of pmm while it runs a program several times: those that ask it to end go to the run
 * under way, and no further run begins.
 */
#ifndef CMD_RUNS_SIGNALS_H
#define CMD_RUNS_SIGNALS_H

#include "src/session/check/check_exhaustive.h"

extern const struct check_exhaustive_ops runs_signals;

#endif
