/* SPDX-License-Identifier: GPL-2.0-or-later */ /* A library whose own relocation, which comes before the agent's, needs the function that is chosen. */
int early(void);

int (*early_pointer)(void) = early;
