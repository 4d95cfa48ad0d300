/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which source serves a FILE|PID argument.
 */
#include "src/capture/capture.h"

#include <string.h>
#include <unistd.h>

const struct capture_ops *capture_for(const char *what)
{
	if (!strncmp(what, "fake:", 5))
		return &capture_fake;
	if (*what && what[strspn(what, "0123456789")] == '\0' && access(what, F_OK))
		return &capture_ledger;
	return &capture_file;
}
