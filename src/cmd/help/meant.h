/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a word on the command line is meant to be where it is not what is asked for.
 */
#ifndef CMD_HELP_MEANT_H
#define CMD_HELP_MEANT_H

#include <sys/types.h>

#include "src/cmd/cmd.h"

/*
 * The command meant by a process number or a capture's name alone ('pmm 4711'); NULL: it is
 * neither.
 */
const struct cmd *meant_command(const char *word);

/* May the word name a program to run? */
bool meant_program(const char *word);

/*
 * The process meant by a number: of a pmm that has launched a program ('pmm run ./server & pmm
 * report $!') that program, which is reported; else the same.
 */
pid_t meant_process(pid_t pid);

/*
 * The same of an operand; `room` holds the text where it is another. What is no number is returned
 * as it is.
 */
#define MEANT_BYTES 16
char *meant_operand(char *text, char room[MEANT_BYTES]);

#endif
