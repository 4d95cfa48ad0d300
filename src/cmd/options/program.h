/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An operand that names a program, where '--' was to stand before it. */
#ifndef CMD_OPTIONS_PROGRAM_H
#define CMD_OPTIONS_PROGRAM_H

#include <stdbool.h>

/* No option, no number, no directory; an executable file, or none that is here. */
bool program_meant(const char *word);

#endif
