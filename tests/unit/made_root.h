/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A directory in place of "/", with the files of /proc and /sys that a test makes. */
#ifndef TESTS_UNIT_MADE_ROOT_H
#define TESTS_UNIT_MADE_ROOT_H

#include "tests/unit/unit.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

static inline int root_begin(void **state)
{
	(void)state;
	strcpy(root, "/tmp/pmm-test-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static inline int root_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline int root_end(void **state)
{
	(void)state;
	return nftw(root, root_remove, 8, FTW_DEPTH | FTW_PHYS);
}

/* A file with this text, in place of what was there; NULL: a directory. With those around it. */
static inline void root_put(const char *path, const char *text)
{
	char full[4096];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0700);
		*p = '/';
	}
	if (!text) {
		mkdir(full, 0700);
		return;
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static inline void root_drop(const char *path)
{
	char full[4096];

	snprintf(full, sizeof(full), "%s%s", root, path);
	unlink(full);
}

#endif
