/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Man pages and shell completions, made from the tables of commands and options. */
#ifndef CMD_HELP_MANUAL_H
#define CMD_HELP_MANUAL_H

#include <stdio.h>

#include "src/base/str.h"
#include "src/cmd/cmd.h"

#define PMM_SUMMARY "shows what a program does with its memory, without rebuilding it"

/* Write the page of a command as roff, or pmm(1) for NULL. */
void manual_print(FILE *out, const struct cmd *cmd);

/* Write the script that completes `pmm` in a shell. */
void completion_print_bash(FILE *out);
void completion_print_zsh(FILE *out);

#endif
