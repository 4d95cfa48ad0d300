/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/ptrace/process_copy.c, process_copy_read.c, copy.c, apart.c, room.c, divert.c, leash.c,
 * segv_check.c: copies of running processes that check themselves. The session is
 * tests/unit/sessions/process_copy.t. Runs: copy_driver.
 */
#include "tests/unit/cmd_session.h"

int main(void)
{
	return session_run("process_copy");
}
