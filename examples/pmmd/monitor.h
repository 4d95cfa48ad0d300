/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What pmm.h gives to this program; nothing in a build without it. All #ifdef PMM of the program is
 * in monitor.c.
 */
#ifndef PMMD_MONITOR_H
#define PMMD_MONITOR_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* Is it compiled in? */
bool monitor_is_in(void);
/* First of all, in every process: nothing is reported unless monitor_start() says so. */
void monitor_silence(void);
/*
 * In the daemon: findings go to the log, and all tables at SIGUSR1; the blocks in use and the
 * totals at exit.
 */
void monitor_start(void);
/*
 * Requests are logged to the kernel module, or not any more. False: why they cannot be, in a text
 * of `room` bytes.
 */
bool monitor_log(bool on, char *why, size_t room);
/* Adds SIGUSR1, where the program has to answer it itself. */
void monitor_signals(sigset_t *set);
/* All tables to the log. */
void monitor_dump(void);
/* Damaged blocks; each is told in the log. */
size_t monitor_check(void);
/* A line on what it knows; `text` of `room` bytes. */
void monitor_stats(char *text, size_t room);

#endif
