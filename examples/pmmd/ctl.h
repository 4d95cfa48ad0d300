/* SPDX-License-Identifier: GPL-2.0-or-later */ /* The client: one command, its answer. */
#ifndef PMMD_CTL_H
#define PMMD_CTL_H

/*
 * Sends the words as a line and prints what comes. Returns the exit status: 0, or 1 if the daemon
 * refuses or cannot be asked.
 */
int ctl_run(const char *socket, int nr, char **word);

#endif
