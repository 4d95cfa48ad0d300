/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that code of traced processes comes from.
 *
 * /proc/PID/map_files leads to the file that is mapped, whatever is at its path now; it takes
 * CAP_CHECKPOINT_RESTORE. Without, the file is opened by its path as the process sees it, and is
 * the right one if its number is that of the mapping.
 */
#include "src/kernel/modules.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "src/base/nanotime.h"
#include "src/base/str.h"

/* ---- opening --------------------------------------------------------------------------------- */

#define HOW	(O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/*
 * Device numbers of mappings and of files differ where one file system lies in others (btrfs,
 * overlayfs), and one of them has no major number then.
 */
static bool same_file(const struct stat *st, const struct proc_map *map)
{
	bool odd = !map->dev_major || !major(st->st_dev);

	return st->st_ino == map->ino && (odd || st->st_dev == makedev(map->dev_major,
								       map->dev_minor));
}

static enum module_state state_of(int rc)
{
	switch (rc) {
	case ENOENT: case ENOTDIR: case ESRCH: case ELOOP: case ENXIO:
		return MODULE_GONE;
	case EACCES: case EPERM:
		return MODULE_DENIED;
	}
	return MODULE_UNREADABLE;
}

/*
 * Stamps of files lag behind by a tick of the kernel's coarse clock: what has one of close to the
 * mapping may have been written after it.
 */
#define STAMP_NS	10000000

static bool older_than(const struct stat *st, uint64_t mapped_ns)
{
	uint64_t age_ns = nanotime() - mapped_ns, now_ns = nanotime_of(CLOCK_REALTIME);
	int64_t changed_ns = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec;

	return changed_ns < (int64_t)(now_ns - age_ns) - STAMP_NS;
}

static int open_mapped(struct modules *ms, pid_t pid, const struct proc_map *map,
		       uint64_t mapped_ns)
{
	char path[96];
	struct stat st;
	int fd;

	if (ms->no_map_files)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
		 map->start, map->end);
	fd = open(path, HOW);
	ms->no_map_files = fd < 0 && errno == EPERM;
	if (fd >= 0 && mapped_ns && (fstat(fd, &st) || !same_file(&st, map))) {
		close(fd);			/* of the program after it */
		fd = -1;
	}
	return fd;
}

static int open_at(const char *path, const struct proc_map *map, uint64_t mapped_ns,
		   enum module_state *state)
{
	struct stat st;
	int fd;

	if (stat(path, &st)) {		/* opening a device or a pipe could have effects */
		*state = state_of(errno);
		return -1;
	}
	*state = MODULE_REPLACED;
	if (!S_ISREG(st.st_mode) || !same_file(&st, map) ||
	    (mapped_ns && !older_than(&st, mapped_ns)))
		return -1;
	fd = open(path, HOW);
	if (fd < 0)
		*state = state_of(errno);
	else if (fstat(fd, &st) || !same_file(&st, map)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int open_at_path(pid_t pid, const struct proc_map *map, uint64_t mapped_ns,
			enum module_state *state)
{
	char path[PATH_MAX];
	int fd;

	*state = MODULE_GONE;
	if (map->path[0] != '/' || str_ends(map->path, " (deleted)"))
		return -1;
	if (snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, map->path) >=
	    (int)sizeof(path))
		return -1;
	fd = open_at(path, map, mapped_ns, state);
	/* its number alone would not do: the path may lead elsewhere here */
	if (fd < 0 && mapped_ns && map->dev_major)
		fd = open_at(map->path, map, mapped_ns, state);
	return fd;
}

/* A descriptor, and the file as it is now; -1: `state` says why not. */
static int open_file(struct modules *ms, pid_t pid, const struct proc_map *map,
		     uint64_t mapped_ns, struct stat *st, enum module_state *state)
{
	int fd = open_mapped(ms, pid, map, mapped_ns);

	if (fd < 0)
		fd = open_at_path(pid, map, mapped_ns, state);
	if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode))) {
		close(fd);
		fd = -1;
		*state = MODULE_NOT_ELF;
	}
	return fd;
}

/* ---- what is in memory ----------------------------------------------------------------------- */

static void module_close(struct modules *ms, struct module *m)
{
	if (m->fd >= 0) {
		close(m->fd);
		ms->nr_open--;
	}
	m->fd = -1;
	if (m->ino && m->file.cfi.start) {
		ms->cfi_bytes -= m->file.bytes;
		unwind_file_unload(&m->file);
	}
}

/* Close what was used longest ago, but for `keep`. False: there is nothing to close. */
static bool close_one(struct modules *ms, const struct module *keep)
{
	struct module *oldest = NULL;

	for (size_t i = 1; i < ms->v.nr; i++) {
		struct module *m = ms->v.v[i];

		if (m != keep && m->fd >= 0 && (!oldest || m->used < oldest->used))
			oldest = m;
	}
	if (oldest)
		module_close(ms, oldest);
	return oldest;
}

static int64_t mtime_of(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

/* Is what is behind the number still what was opened? */
static bool unchanged(const struct module *m, const struct stat *st)
{
	return m->mtime_ns == mtime_of(st) && m->size_bytes == (uint64_t)st->st_size;
}

static void hold(struct modules *ms, struct module *m, int fd, const struct stat *st)
{
	m->fd = fd;
	m->mtime_ns = mtime_of(st);
	m->size_bytes = (uint64_t)st->st_size;
	m->used = ++ms->uses;
	if (++ms->nr_open > MODULES_MAX_OPEN)
		close_one(ms, m);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static uint32_t add(struct modules *ms, struct module *m)
{
	bool first = !ms->v.nr;

	if (!m || !m->path || ms->v.nr >= MODULES_MAX || (first && vec_push(&ms->v, NULL)) ||
	    vec_push(&ms->v, m)) {
		if (m)
			free(m->path);
		free(m);
		return 0;
	}
	return (uint32_t)ms->v.nr - 1;
}

static struct module *module_new(const char *path)
{
	struct module *m = calloc(1, sizeof(*m));

	if (m) {
		m->fd = -1;
		m->path = strdup(path);
	}
	return m;
}

static uint32_t add_file(struct modules *ms, const struct proc_map *map, uint32_t *newest)
{
	struct module *m = module_new(map->path);
	uint32_t number;

	if (m) {
		m->dev_major = map->dev_major;
		m->dev_minor = map->dev_minor;
		m->ino = map->ino;
		m->older = *newest;
	}
	number = add(ms, m);
	if (number)
		*newest = number;
	return number;
}

/* A module of this file that needs not be opened to be known as it. 0: none. */
static uint32_t find_open(struct modules *ms, const struct proc_map *map, uint32_t newest)
{
	for (uint32_t i = newest; i; i = ms->v.v[i]->older) {
		struct module *m = ms->v.v[i];
		struct stat st;

		if (m->ino == map->ino && m->dev_major == map->dev_major &&
		    m->dev_minor == map->dev_minor && m->fd >= 0 && !fstat(m->fd, &st) &&
		    unchanged(m, &st)) {
			m->used = ++ms->uses;
			return i;
		}
	}
	return 0;
}

/* A module of this file that is not open, and is what the file is now (fd -1: it cannot be). */
static uint32_t find_closed(struct modules *ms, const struct proc_map *map, uint32_t newest, int fd,
			    const struct stat *st)
{
	for (uint32_t i = newest; i; i = ms->v.v[i]->older) {
		struct module *m = ms->v.v[i];

		if (m->ino == map->ino && m->dev_major == map->dev_major &&
		    m->dev_minor == map->dev_minor && m->fd < 0 && !strcmp(m->path, map->path) &&
		    (fd < 0 || (m->mtime_ns ? unchanged(m, st) : m->state != MODULE_OK)))
			return i;
	}
	return 0;
}

uint32_t modules_add(struct modules *ms, pid_t pid, const struct proc_map *map,
		     uint64_t mapped_ns)
{
	uint64_t key = hash_u64(map->ino) ^ ((uint64_t)map->dev_major << 32 | map->dev_minor);
	uint32_t *newest = hash_add(&ms->by_file, key, 0, NULL), number;
	enum module_state state = MODULE_UNSEEN;
	struct module *m;
	struct stat st;
	int fd;

	if (!newest)
		return 0;
	number = find_open(ms, map, *newest);
	if (number)
		return number;
	fd = open_file(ms, pid, map, mapped_ns, &st, &state);
	number = find_closed(ms, map, *newest, fd, &st);
	if (!number)
		number = add_file(ms, map, newest);
	if (!number) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	m = ms->v.v[number];
	if (fd >= 0) {
		if (m->state != MODULE_OK)
			m->state = MODULE_UNSEEN;
		hold(ms, m, fd, &st);
	} else if (m->state == MODULE_UNSEEN) {
		m->state = state;
	}
	return number;
}

uint32_t modules_vdso(struct modules *ms)
{
	struct module *m;

	if (ms->vdso)
		return ms->vdso;
	m = module_new("[vdso]");
	if (m)
		m->state = unwind_file_open_vdso(&m->file) ? MODULE_NOT_ELF : MODULE_OK;
	ms->vdso = add(ms, m);
	return ms->vdso;
}

bool modules_reopen(struct modules *ms, uint32_t number, pid_t pid, uint64_t start, uint64_t end)
{
	struct module *m = ms->v.v[number];
	const struct proc_map map = {
		.start = start,
		.end = end,
		.ino = m->ino,
		.dev_major = m->dev_major,
		.dev_minor = m->dev_minor,
		.path = m->path,
	};
	enum module_state state;
	struct stat st;
	int fd;

	if (m->fd >= 0 || !m->ino)
		return true;
	fd = open_file(ms, pid, &map, 0, &st, &state);
	if (fd >= 0 && unchanged(m, &st))
		hold(ms, m, fd, &st);
	else if (fd >= 0)
		close(fd);
	return m->fd >= 0;
}

enum module_state modules_load(struct modules *ms, uint32_t number)
{
	struct module *m = ms->v.v[number];
	int rc;

	m->used = ++ms->uses;
	if (m->fd < 0)
		return m->state;
	if (m->state == MODULE_UNSEEN) {
		rc = unwind_file_open(&m->file, m->fd, m->path);
		if (rc == -ENOEXEC && str_starts(m->path, "/memfd:"))
			rc = unwind_file_open_image(&m->file, m->fd);
		m->state = !rc ? MODULE_OK : rc == -ENOEXEC ? MODULE_NOT_ELF : MODULE_UNREADABLE;
	}
	if (m->state != MODULE_OK || m->file.cfi.start || !m->file.bytes || m->file.too_large)
		return m->state;
	while (ms->cfi_bytes + m->file.bytes > MODULES_MAX_BYTES && close_one(ms, m))
		;
	if (unwind_file_load(&m->file, m->fd))
		m->state = MODULE_UNREADABLE;
	else
		ms->cfi_bytes += m->file.bytes;
	return m->state;
}

void modules_fini(struct modules *ms)
{
	for (size_t i = 1; i < ms->v.nr; i++) {
		struct module *m = ms->v.v[i];

		module_close(ms, m);
		unwind_file_unload(&m->file);
		free(m->path);
		free(m);
	}
	vec_fini(&ms->v);
	hash_fini(&ms->by_file);
	*ms = (struct modules){ 0 };
}
