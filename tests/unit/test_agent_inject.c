/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/inject/inject_borrow.c, guards.c, inject_hooks.c, inject_hooks_confine.c, hooks_custom.c,
 * inject_hooks_cxx.c, inject_hooks_map.c, thread_end.c, agent_inject.c, guards_fault.c: the
 * injected form in a process that puts it into itself and compares. The session is
 * tests/unit/sessions/agent_inject.t. Runs: inject_self, libpmm_inject.so.
 */
#include "tests/unit/cmd_session.h"

int main(void)
{
	return session_run("agent_inject");
}
