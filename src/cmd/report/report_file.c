/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of --report. */
#include "src/cmd/report/report_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "src/cmd/cmd.h"

int report_file_where(const char **report, const char *output, const char *source, struct err *e)
{
	if (!source)
		return 0;
	if (output && *report)
		return cmd_refuse(e, "'--report' and '--output' name two files",
				  "leave out one of them");
	if (output && !*output)
		return cmd_refuse(e, "the name after '-o' is empty", "name a file");
	if (output)
		*report = strcmp(output, "-") ? output : NULL;
	return *report ? report_file_apart(*report, source, e) : 0;
}

int report_file_apart(const char *name, const char *source, struct err *e)
{
	struct stat to, from;

	if (!source || stat(name, &to) || stat(source, &from) || to.st_dev != from.st_dev ||
	    to.st_ino != from.st_ino)
		return 0;
	err_set(e, -EINVAL, "'%s' is the capture itself", name);
	err_hint(e, "name another file with -o");
	e->exit_code = CMD_USAGE;
	return -EINVAL;
}

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
