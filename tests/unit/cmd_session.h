/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sessions at a command line, as unit tests: each command of tests/unit/sessions/NAME.t with the
 * output and status it must have.
 *
 *	# a comment, as is an empty line
 *	$ pmm report x.pmm | head -1
 *	> a command's further lines
 *	  what it prints, standard output and messages, two columns in
 *	  a line with a pattern of fnmatch(3): took * ms (*)
 *	[2]
 *
 * What is printed goes through `sh words' first when the session has made a file of that name: for
 * numbers that differ each time.
 *
 * A command is run by sh, in an empty directory that all commands of the session share; [0] is left
 * out. $BUILD is the build tree, $PROG its victims, $SOURCE the source tree; pmm and
 * mkcapture are those of the build tree. SESSION_UPDATE=1 in the environment writes what was
 * printed into the file, to be read before it is committed; SESSION_STOP=1 ends it at the first
 * difference.
 */
#ifndef TESTS_UNIT_CMD_SESSION_H
#define TESTS_UNIT_CMD_SESSION_H

/* Run the session as cmocka tests, one each command. Returns what main() returns. */
int session_run(const char *name);

#endif
