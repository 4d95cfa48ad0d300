/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/cmd/main.c, cmd_help.c, manual.c, completion.c, msg.c: what pmm says of itself, and slips at
 * the command line. The session is tests/unit/sessions/cmd_help.t. Runs: pmm.
 */
#include "tests/unit/cmd_session.h"

int main(void)
{
	return session_run("cmd_help");
}
