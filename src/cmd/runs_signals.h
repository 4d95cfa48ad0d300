/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals of pmm while it runs a program several times: those that ask it to end go to the run
 * under way, and no further run begins.
 */
#ifndef CMD_RUNS_SIGNALS_H
#define CMD_RUNS_SIGNALS_H

#include <signal.h>

#include "src/session/check/check_exhaustive.h"

#define RUNS_NR_SIGNALS 4

/* Their argument: what the signals did before. */
struct runs_signals_before {
	struct sigaction action[RUNS_NR_SIGNALS];
};

extern const struct check_exhaustive_ops runs_signals;

#endif
