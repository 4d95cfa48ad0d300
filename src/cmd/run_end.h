/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of `pmm run`: the program and what was watched with it are gone, captures are written,
 * and only telling is left.
 */
#ifndef CMD_RUN_END_H
#define CMD_RUN_END_H

#include "src/track/child.h"

/*
 * From here on SIGINT, SIGQUIT, SIGTERM and SIGHUP end us at once, unless they were ignored when we
 * were started: with the program's exit code, or with 128+N where that is 0 and would seem to be a
 * verdict. What came before was meant for the program.
 */
void run_may_end(const struct child *c);

#endif
