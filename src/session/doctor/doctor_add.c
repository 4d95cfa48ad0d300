/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings as the probes make them. */
#include "src/session/doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void doctor_add(struct doctor *d, const char *check, enum doctor_state state, bool needed,
		const char *remedy, const char *fmt, ...)
{
	struct doctor_finding f = { check, state, needed, NULL,
				    state == DOCTOR_OK ? NULL : remedy };
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&f.found, fmt, ap) < 0)
		f.found = NULL;
	va_end(ap);
	if (f.found && vec_push(&d->findings, f))
		free(f.found);
}
