/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/cmd/cmd_kmod.c, cmd_kmod_module.c, whole.c: what is refused, and what is said where the
 * module is not loaded. The session is tests/unit/sessions/cmd_kmod.t. Runs: pmm.
 */
#include "tests/unit/cmd_session.h"

int main(void)
{
	return session_run("cmd_kmod");
}
