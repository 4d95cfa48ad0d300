/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/cmd/cmd_doctor.c, emit.c, src/session/doctor/doctor.c, doctor_add.c, doctor_attach.c,
 * doctor_kernel.c, doctor_limits.c, doctor_program.c: what is said of this machine and of programs.
 * The session is tests/unit/sessions/cmd_doctor.t. Runs: pmm, libpmm.so, libpmm_inject.so.
 */
#include "tests/unit/cmd_session.h"

int main(void)
{
	return session_run("cmd_doctor");
}
