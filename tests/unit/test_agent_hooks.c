/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/preload/preload_hooks.c, preload_hooks_cxx.c, hooks_leave.c, hooks_limit.c,
 * preload_hooks_map.c, hooks_signal.c, preload_hooks_confine.c, confine.c, life.c, link.c,
 * resolve.c, preload_tree.c, preload_channel.c, agent/hook.c, agent_core.c, ctx.c, record.c,
 * segment.c, module.c, agent_stack.c, clock.c: what is recorded of programs of which it is known to
 * the byte. The session is tests/unit/sessions/agent_hooks.t. Runs: pmm, libpmm.so.
 */
#include "tests/unit/cmd_session.h"

int main(void)
{
	return session_run("agent_hooks");
}
