/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files written under a temporary name, and renamed. */
#include "src/store/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/nanotime.h"
#include "src/base/str.h"

int replace_failed(struct err *e, int rc, const char *what, const char *name)
{
	err_set(e, rc, "cannot write the %s '%s': %s", what, name, strerror(-rc));
	if (rc == -ENOSPC || rc == -EDQUOT || rc == -EFBIG)
		err_hint(e, "make room there, or name a file elsewhere with -o");
	else if (rc == -EACCES || rc == -EPERM || rc == -EROFS)
		err_hint(e, "name a file in a directory that you may write to with -o");
	else if (rc == -ENOENT || rc == -ENOTDIR)
		err_hint(e, "make the directory first, or name a file elsewhere with -o");
	return rc;
}

/* Create a file of a free name in the directory of `path`. The descriptor, or -errno. */
static int temporary_open(const char *path, struct str *name)
{
	const char *slash = strrchr(path, '/');
	int fd = -1;

	for (unsigned i = 0; fd < 0 && i < 1000; i++) {
		str_clear(name);
		str_addn(name, path, slash ? (size_t)(slash + 1 - path) : 0);
		str_addf(name, ".pmm-%d-%lx%u.tmp", (int)getpid(),
			 (unsigned long)(nanotime() % 1000000000), i);
		if (str_error(name))
			return -ENOMEM;
		fd = open(str_text(name), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			return -errno;
	}
	return fd < 0 ? -EEXIST : fd;
}

/* What must not be replaced: anything but a file. */
static int target_check(const char *path, const char *what, struct err *e)
{
	struct stat st;

	if (!*path)
		return err_set(e, -EINVAL, "cannot write a %s: its name is empty", what);
	if (stat(path, &st))
		return 0;
	if (S_ISDIR(st.st_mode)) {
		err_set(e, -EISDIR, "cannot write the %s '%s': it is a directory", what, path);
		err_hint(e, "name a file in it");
		return -EISDIR;
	}
	if (!S_ISREG(st.st_mode)) {
		err_set(e, -EINVAL, "cannot write the %s '%s': it is not a regular file",
			what, path);
		err_hint(e,
			 "a %s replaces its file when complete; name a file and copy it on", what);
		return -EINVAL;
	}
	return 0;
}

/*
 * What a link of the caller or of root leads to (free()); NULL: it is no such link. A link of
 * another user, who may have guessed the name, is replaced and never followed: proc_sys_fs(5),
 * protected_symlinks.
 */
static char *follow(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct str to = STR_INIT;
	char target[PATH_MAX], *real;
	struct stat st;
	ssize_t n = -1;
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISLNK(st.st_mode) && (!st.st_uid || st.st_uid == geteuid()))
		n = readlinkat(fd, "", target, sizeof(target));
	close(fd);
	if (n <= 0 || n == sizeof(target))
		return NULL;
	if (*target != '/')
		str_addn(&to, path, slash ? (size_t)(slash + 1 - path) : 0);
	str_addn(&to, target, (size_t)n);
	real = str_error(&to) ? NULL : realpath(str_text(&to), NULL);
	str_fini(&to);
	return real;
}

int replace_file(const char *path, const char *what, bool durable, replace_write *write, void *arg,
		 struct err *e)
{
	struct str name = STR_INIT;
	int rc = target_check(path, what, e), fd;
	char *real;
	FILE *f;

	if (rc)
		return rc;
	real = follow(path);
	if (real)
		path = real;
	fd = temporary_open(path, &name);
	if (fd < 0) {
		rc = replace_failed(e, fd, what, path);
		goto out;
	}
	f = fdopen(fd, "w");
	if (!f) {
		rc = replace_failed(e, -ENOMEM, what, path);
		close(fd);
		goto remove;
	}
	rc = write(arg, f, e);
	/* or a machine that fails may leave the new name with none of what was written */
	if (!rc && durable && (fflush(f) || (fsync(fileno(f)) && errno != EINVAL)))
		rc = replace_failed(e, -errno, what, path);
	if (fclose(f) && !rc)
		rc = replace_failed(e, -errno, what, path);
	if (!rc && rename(str_text(&name), path))
		rc = replace_failed(e, -errno, what, path);
remove:
	if (rc)
		unlink(str_text(&name));
out:
	str_fini(&name);
	free(real);
	return rc;
}
