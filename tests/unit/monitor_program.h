/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs that test_monitor launches: itself in a child, in one of several modes.
 */
#ifndef TESTS_UNIT_MONITOR_PROGRAM_H
#define TESTS_UNIT_MONITOR_PROGRAM_H

/*
 * Does what the mode says and mostly does not return; `self` is the executable. The exit status of
 * a mode that is not known.
 */
int monitor_program(const char *mode, char *self);

#endif
