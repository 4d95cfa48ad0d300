/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of `pmm check` that do not go with what is to be done. */
#include "src/cmd/options/check_uses.h"

#include <errno.h>
#include <string.h>

#include "src/cmd/cmd.h"
#include "src/cmd/options/program.h"

static const char *const level[] = { "--level=light", "--level=guard", "--level=sampled" };

#define NR_LEVELS (sizeof(level) / sizeof(*level))
_Static_assert(FOR_COMMAND == (1 << NR_LEVELS) - 1, "a name for each");

static const char *level_of(unsigned uses)
{
	for (unsigned i = 0; i < NR_LEVELS; i++)
		if (uses & 1u << i)
			return level[i];
	return "";
}

/* A COMMAND is run, the option is for something else. */
static void refuse_for_command(const struct opt *o, unsigned what, struct err *e)
{
	if (what == FOR_VALGRIND) {
		err_set(e, -EINVAL, "'--uninit' runs Valgrind, which has no '--%s'",
			o->name);
		err_hint(e, "leave out one of them");
	} else if (o->uses & FOR_COMMAND) {
		err_set(e, -EINVAL, "'--%s' does nothing with '%s'", o->name, level_of(what));
		err_hint(e, "leave it out, or choose '%s'", level_of(o->uses));
	} else {
		err_set(e, -EINVAL, "'--%s' is for running processes", o->name);
		err_hint(e, "leave it out: a COMMAND is checked until it ends");
	}
}

/* A process or capture is looked at. */
static void refuse_for_look(const struct opt *o, unsigned what, const char *operand, struct err *e)
{
	if (o->uses & FOR_PROCESS) {
		err_set(e, -EINVAL, "'--%s' is for running processes", o->name);
		err_hint(e, "leave it out: a capture has what canary scans had found by then");
		return;
	}
	err_set(e, -EINVAL, "'--%s' is for a COMMAND", o->name);
	if (program_meant(operand))
		err_hint(e, "a program is run with '--' before it: pmm check --%s ... -- %s",
			 o->name, operand);
	else if (!strcmp(o->name, "output"))
		err_hint(e, what == FOR_PROCESS
				    ? "'pmm snapshot PID' writes a capture of a running process"
				    : "a capture can be copied");
	else
		err_hint(e,
			 "it takes effect when a program is started: pmm check --%s ... -- COMMAND",
			 o->name);
}

int check_uses(unsigned what, const char *operand, struct err *e)
{
	const struct opt *o;

	for (unsigned i = 0; (o = opt_met(i)); i++) {
		if (!o->uses || o->uses & what)
			continue;
		if (what & (FOR_PROCESS | FOR_CAPTURE))
			refuse_for_look(o, what, operand, e);
		else
			refuse_for_command(o, what, e);
		e->exit_code = CMD_USAGE;
		return -EINVAL;
	}
	return 0;
}
