/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/preload/hooks.c, hooks_cxx.c, hooks_leave.c, hooks_limit.c, hooks_map.c, hooks_signal.c, hooks_confine.c,
 * confine.c, life.c, link.c, resolve.c, tree.c, channel.c, agent/hook.c, core.c, ctx.c, record.c, segment.c, module.c, stack.c,
 * clock.c: what is recorded of programs of which it is known to the byte.
 * The session is tests/unit/sessions/agent_hooks.t. Runs: pmm, libpmm.so.
 */
#include "tests/unit/session.h"

int main(void)
{
	return session_run("agent_hooks");
}
