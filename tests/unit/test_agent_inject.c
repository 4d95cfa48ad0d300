/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/inject/borrow.c, guards.c, hooks.c, hooks_confine.c, hooks_custom.c, hooks_cxx.c, hooks_map.c, inject.c,
 * guards_fault.c: the injected form in a process that puts it into itself and compares.
 * The session is tests/unit/sessions/agent_inject.t. Runs: inject_self, libpmm_inject.so.
 */
#include "tests/unit/session.h"

int main(void)
{
	return session_run("agent_inject");
}
