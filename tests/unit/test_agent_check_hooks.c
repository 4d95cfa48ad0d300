/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/check/check_hooks.c, hooks_call.c, hooks_collate.c, check_hooks_cxx.c, hooks_format.c,
 * hooks_fortify.c, hooks_io.c, hooks_memory.c, hooks_path.c, hooks_print.c, hooks_stdio.c,
 * hooks_string.c, hooks_token.c, hooks_vector.c, hooks_wide.c, format.c, strings.c, passing.c,
 * bounds.c, bounds_tell.c, bounce.c: string functions and their like, right and wrong by a byte, in
 * programs that say what must be found. The session is tests/unit/sessions/agent_check_hooks.t.
 * Runs: pmm, libpmm_check.so.
 */
#include "tests/unit/cmd_session.h"

int main(void)
{
	return session_run("agent_check_hooks");
}
