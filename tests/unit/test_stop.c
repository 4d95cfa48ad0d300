/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/ptrace/stop.c, seize.c, remote.c, divert.c, gadget.c, task.c, leash.c, altstack.c, permit.c,
 * register_words.c, tracer.c, withheld.c: threads stopped and made to work, in victims that check
 * themselves. The session is tests/unit/sessions/stop.t. Runs: stop_driver.
 */
#include "tests/unit/cmd_session.h"

int main(void)
{
	return session_run("stop");
}
