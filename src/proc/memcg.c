/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directories of /sys/fs/cgroup, where systemd and containers mount it. */
#include "src/proc/memcg.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DIRECTORIES	65536
#define MAX_DEPTH	64

/* Where the hierarchy may be, and how its files are called. */
static const struct hierarchy {
	const char *mount, *limit, *usage;
} hierarchies[] = {
	{ "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes" },
	{ "/sys/fs/cgroup", "memory.max", "memory.current" },
	{ "/sys/fs/cgroup/unified", "memory.max", "memory.current" },
};

#define NR_HIERARCHIES	(sizeof(hierarchies) / sizeof(*hierarchies))

/* -EINVAL: it is a directory, but not of the memory controller. */
static int directory_id(const char *path, uint64_t *id)
{
	char file[PATH_MAX];
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	*id = st.st_ino;
	if (snprintf(file, sizeof(file), "%s/memory.stat", path) >= (int)sizeof(file))
		return -ENAMETOOLONG;
	return access(file, F_OK) ? -EINVAL : 0;
}

int memcg_id(const char *root, const char *path, uint64_t *id, struct err *e)
{
	char full[PATH_MAX];
	int rc = -ENOENT;

	for (size_t i = 0; *path && rc && i < NR_HIERARCHIES; i++) {
		int n = snprintf(full, sizeof(full), "%s%s/%s", root, hierarchies[i].mount, path);
		int one = n < (int)sizeof(full) ? directory_id(full, id) : -ENAMETOOLONG;

		rc = one && rc == -EINVAL ? rc : one;
	}
	if (rc && *path == '/') {
		int one = directory_id(path, id);

		rc = one && rc == -EINVAL ? rc : one;
	}
	if (!rc)
		return 0;
	err_set(e, rc, rc == -EINVAL ? "'%s' is not a control group of the memory controller"
				     : "there is no control group '%s'", path);
	err_hint(e, "give its directory, or its path below %s or %s", hierarchies[0].mount,
		 hierarchies[1].mount);
	return rc;
}

/* A number in a file of a directory; `none` where it is "max", or cannot be read. */
static uint64_t read_number(int directory, const char *name, uint64_t none)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	char text[32] = "", *end;
	uint64_t value;
	ssize_t n;

	if (fd < 0)
		return none;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	value = n > 0 ? strtoull(text, &end, 10) : 0;
	return n > 0 && end != text ? value : none;
}

/* Version 1 says "no limit" by the largest number of whole pages. */
#define V1_NO_LIMIT	0x7ffffffffffff000ull

static void read_figures(const struct hierarchy *h, int directory, struct memcg *out)
{
	out->limit_bytes = read_number(directory, h->limit, MEMCG_NO_LIMIT);
	if (out->limit_bytes >= V1_NO_LIMIT)
		out->limit_bytes = MEMCG_NO_LIMIT;
	out->usage_bytes = read_number(directory, h->usage, 0);
}

struct search {
	const struct hierarchy *h;
	uint64_t id;
	unsigned left;			/* directories that may still be looked into */
	size_t mount_bytes;		/* of path[] */
	char path[PATH_MAX];
	struct memcg *out;
};

/* Take over the directory, and look into it and those below. 0: found. */
static int search(struct search *s, int fd, unsigned depth)
{
	size_t length = strlen(s->path);
	struct stat st;
	struct dirent *d;
	DIR *dir;
	int rc = -ENOENT;

	if (!s->left || fstat(fd, &st)) {
		close(fd);
		return -ENOENT;
	}
	s->left--;
	if (st.st_ino == s->id) {
		read_figures(s->h, fd, s->out);
		snprintf(s->out->path, sizeof(s->out->path), "%s",
			 length > s->mount_bytes ? s->path + s->mount_bytes : "/");
		close(fd);
		return 0;
	}
	dir = depth < MAX_DEPTH ? fdopendir(fd) : NULL;
	if (!dir) {
		close(fd);
		return -ENOENT;
	}
	while (rc && (d = readdir(dir))) {
		int below;

		if (d->d_type != DT_DIR || d->d_name[0] == '.' ||
		    length + strlen(d->d_name) + 2 > sizeof(s->path))
			continue;
		below = openat(dirfd(dir), d->d_name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below < 0)
			continue;
		s->path[length] = '/';
		strcpy(s->path + length + 1, d->d_name);
		rc = search(s, below, depth + 1);
		s->path[length] = '\0';
	}
	closedir(dir);
	return rc;
}

int memcg_find(const char *root, uint64_t id, struct memcg *out)
{
	for (size_t i = 0; i < NR_HIERARCHIES; i++) {
		struct search s = { .h = &hierarchies[i], .id = id, .left = MAX_DIRECTORIES,
				    .out = out };
		int n = snprintf(s.path, sizeof(s.path), "%s%s", root, hierarchies[i].mount), fd;

		if (n >= (int)sizeof(s.path))
			continue;
		s.mount_bytes = n;
		fd = open(s.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 && !search(&s, fd, 0))
			return 0;
	}
	return -ENOENT;
}
