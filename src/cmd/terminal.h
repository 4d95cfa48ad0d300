/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the terminal, or whatever takes its place, can show.
 */
#ifndef CMD_TERMINAL_H
#define CMD_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct style;

/*
 * An option for commands that print documents. Without it: COLUMNS of the environment, else the
 * terminal's own width; a file or pipe gets lines as long as they are.
 */
extern uint64_t terminal_columns;
#define TERMINAL_WIDTH_WITH(files, ...)                                                            \
	{                                                                                          \
		"width", 0, OPT_UINT, "N",                                                         \
			"columns of a line of text (default the terminal's; as long as need be "   \
			"in files and pipes" files ")",                                            \
			&terminal_columns, .min = 40, .max = 100000, __VA_ARGS__                   \
	}
#define TERMINAL_WIDTH(...)	TERMINAL_WIDTH_WITH("", __VA_ARGS__)

/* Of check and leaks, which break sentences at 80 columns in any case. */
#define TERMINAL_WIDTH_80(...)                                                                     \
	TERMINAL_WIDTH_WITH(", but for sentences: 80", __VA_ARGS__)

/* Width, colours (NO_COLOR, TERM) and letters (locale) for a stream (src/document/doc.h). */
struct style terminal_style(FILE *out);

/*
 * Open what the caller has closed of descriptors 0, 1 and 2, so that none of our own becomes one of
 * those.
 */
void terminal_open_std(void);

/* Has the reader of a pipe or socket gone, so that what was written to it failed for that? */
bool terminal_reader_gone(int fd);

#endif
