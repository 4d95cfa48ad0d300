/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of --report. */
#include "src/cmd/report/report_file.h"

#include <errno.h>
#include <string.h>

FILE *report_file_open(const char *path, const char *option, struct err *e)
{
	FILE *f = fopen(path, "we");

	if (!f) {
		err_set(e, -errno, "cannot write to '%s': %s", path, strerror(errno));
		err_hint(e, "name a file in a directory that you may write to with %s",
			 option);
	}
	return f;
}

int report_file_close(FILE *f, const char *path, int rc, struct err *e)
{
	if (fclose(f) && rc >= 0)
		rc = err_set(e, -errno, "cannot write to '%s': %s", path, strerror(errno));
	return rc;
}
