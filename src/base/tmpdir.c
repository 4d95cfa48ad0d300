/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directories for files of a while. */
#include "src/base/tmpdir.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int tmpdir_make(const char *name, char **dir, struct err *e)
{
	const char *parent = getenv("TMPDIR");
	int rc;

	if (asprintf(dir, "%s/pmm-%s-XXXXXX", parent && *parent ? parent : "/tmp", name) < 0) {
		*dir = NULL;
		return err_set(e, -ENOMEM, "out of memory");
	}
	if (mkdtemp(*dir))
		return 0;
	rc = -errno;
	err_set(e, rc, "cannot make the directory '%s': %s", *dir, strerror(-rc));
	err_hint(e, "name a directory that you may write to in TMPDIR");
	free(*dir);
	*dir = NULL;
	return rc;
}

void tmpdir_remove(char *dir)
{
	DIR *d = dir ? opendir(dir) : NULL;
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
	if (dir)
		rmdir(dir);
	free(dir);
}
