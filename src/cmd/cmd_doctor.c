/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmm doctor: what works on this machine, what does not, and what helps. */
#include <signal.h>
#include <stdio.h>

#include "src/cmd/cmd.h"
#include "src/cmd/emit.h"
#include "src/session/doctor/doctor.h"

static bool as_json;

static const struct opt doctor_opts[] = {
	{ "json", 0, OPT_FLAG, NULL, "print JSON", &as_json },
	{ 0 }
};

static int doctor_run(int argc, char **argv)
{
	struct emit to;
	struct err e = { .text = "" };
	int rc;

	(void)argc;
	(void)argv;
	/* a file size limit is something to report, not to die of */
	signal(SIGXFSZ, SIG_IGN);
	emit_init(&to, stdout, as_json);
	rc = doctor(&to.sink, &e);
	if (rc < 0)
		return cmd_fail(&e);
	return rc ? CMD_OK : CMD_FOUND;
}

static const struct cmd_pair doctor_exits[] = {
	{ "0", "'pmm run' can work on this machine" },
	{ "1", "it cannot; the line marked 'no' says why" },
	{ "2", "wrong usage" },
	{ "3", "could not be determined" },
	{ 0 }
};

const struct cmd cmd_doctor = {
	.name = "doctor",
	.summary = "say what works on this machine, and why not",
	.usage = "[options]",
	.description =
		"Tries what pmm uses: whether a program can be tracked at all (by tracking one), "
		"what "
		"the kernel allows to see of other processes, where symbols come from, and which "
		"limits will be met. Every line that is not 'ok' says what helps.",
	.opts = doctor_opts,
	.exits = doctor_exits,
	.run = doctor_run,
};
