/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports in the forms of other tools: to a file with a name of their own, or to stdout. */
#ifndef CMD_REPORT_REPORT_EXPORT_H
#define CMD_REPORT_REPORT_EXPORT_H

#include <stdio.h>

#include "src/cmd/cmd.h"
#include "src/cmd/report/report_command.h"

/* Do the other options go with the form? 0, or -EINVAL with `e` (a usage error). */
int report_export_check(const struct report_command *c, struct err *e);

/* Does the report go to stdout? */
bool report_to_stdout(const struct report_command *c);

/* On stderr: what the figures lack. */
void report_say_losses(const struct heap *h);

/* On stderr: of how many stacks frames are left out, if so. */
void report_say_cut(const struct stack_cut *cut);

/* On stderr: that nothing of the heap passes the filter, if that is so. */
void report_say_empty(const struct heap *h, const struct selection *s);

/* On stderr: that the figures are estimates, if they are. */
void report_say_estimates(const struct report_command *c, const struct heap *h);

/* Write a report; 0 or -errno. */
typedef int report_write(void *arg, FILE *f);

/*
 * Have a report written to where it goes: a file is there whole or not at all. 0, or -errno with
 * `e`, which has no text when memory ran out.
 */
int report_put(const struct report_command *c, const struct heap *h, report_write *write,
	       void *arg, struct err *e);

/*
 * Write a heap as c->form says, to c->output (NULL: the form's own name, "-": stdout). What the
 * figures lack is said on stderr. 0, or -errno with `e` set or without text (out of memory).
 */
int report_export(const struct report_command *c, const struct heap *h, struct names *n,
		  struct err *e);

#endif
