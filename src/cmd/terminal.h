/*
 * What the terminal, or whatever takes its place, can show.
 */
#ifndef CMD_TERMINAL_H
#define CMD_TERMINAL_H

#include <stdio.h>

struct style;

/* Width, colours (NO_COLOR, TERM) and letters (locale) for a stream (src/view/doc.h). */
struct style terminal_style(FILE *out);

/* Open what the caller has closed of descriptors 0, 1 and 2, so that none of our own becomes one of those. */
void terminal_guard(void);

#endif
