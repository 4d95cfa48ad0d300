/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/fault/fault.c, reserved.c, step.c, inherit.c, ancestor.c, guarded.c, hooks_exec.c,
 * hooks_load.c, hooks_mask.c, hooks_protect.c, hooks_raw.c, check_hooks.c, check_hooks_cxx.c,
 * heads.c, place.c, pair.c, own.c, area.c, guard_pages.c, check_plain.c,
 * agent/preload/hooks_signal.c, agent/preload/hooks_limit.c: accesses that the kernel stops,
 * signals, processes that a checked program makes. The session is
 * tests/unit/sessions/agent_check_fault.t. Runs: pmm, libpmm_check.so.
 */
#include "tests/unit/cmd_session.h"

int main(void)
{
	return session_run("agent_check_fault");
}
