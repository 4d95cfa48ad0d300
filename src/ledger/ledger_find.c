/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the ledger of a running process is.
 *
 * The mapping "/memfd:pmm-ledger" in /proc/PID/maps says that there is one and which inode it is.
 * The file itself is opened in the first of three ways that is allowed to this user; proc(5) says
 * which capability each asks for.
 */
#include "src/ledger/ledger_find.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "include/pmm/channel.h"
#include "src/base/io.h"
#include "src/base/str.h"
#include "src/entries/attached.h"
#include "src/proc/proc.h"
#include "src/proc/task.h"

#define MAP_NAME "/memfd:" PMM_MEMFD_NAME
#define BOARD_NAME "/memfd:" PMM_BOARD_NAME
#define TRIES 20
#define MAX_ENVIRON (1u << 20)

static bool is_ours(const struct proc_map *m)
{
	return (m->perms & PROC_MAP_SHARED) && m->ino && str_starts(m->path, MAP_NAME);
}

/* The board of the monitor that it was launched under. NULL: there is none. */
static const struct proc_map *board_map(const struct proc_maps *maps)
{
	for (size_t i = 0; i < maps->nr; i++)
		if (maps->v[i].perms & PROC_MAP_SHARED && maps->v[i].ino && !maps->v[i].offset &&
		    str_starts(maps->v[i].path, BOARD_NAME))
			return &maps->v[i];
	return NULL;
}

/*
 * The highest mapping of a ledger below another one, of another file; `above` NULL: of all. NULL:
 * none.
 */
static const struct proc_map *map_below(const struct proc_maps *maps, const struct proc_map *above)
{
	for (size_t i = above ? (size_t)(above - maps->v) : maps->nr; i-- > 0;)
		if (is_ours(&maps->v[i]) && (!above || maps->v[i].ino != above->ino))
			return &maps->v[i];
	return NULL;
}

static const struct proc_map *map_at(const struct proc_maps *maps, uint64_t start)
{
	for (size_t i = 0; i < maps->nr; i++)
		if (maps->v[i].start == start)
			return &maps->v[i];
	return NULL;
}

static int open_either(const char *path, bool *writable)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	*writable = fd >= 0;
	return fd >= 0 ? fd : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* The file through one of its mappings; each has the same file. -1: none could be opened. */
static int open_map_file(pid_t pid, const struct proc_maps *maps, uint64_t ino, bool *writable)
{
	char path[96];
	int fd = -1;

	for (size_t i = 0; i < maps->nr && fd < 0; i++) {
		const struct proc_map *m = &maps->v[i];

		if (!is_ours(m) || m->ino != ino)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
			 (int)task_proc(pid), m->start, m->end);
		fd = open_either(path, writable);
		if (fd < 0 && errno != ENOENT)
			return -1;
	}
	return fd;
}

/* The monitor's pid in the environment the process was started with, 0 = not there. */
static pid_t monitor_of(pid_t pid)
{
	char path[64], *line = NULL;
	size_t room = 0, seen = 0;
	pid_t monitor = 0;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)task_proc(pid));
	f = fopen(path, "re");
	if (!f)
		return 0;
	for (; seen < MAX_ENVIRON && (n = getdelim(&line, &room, '\0', f)) > 0; seen += (size_t)n)
		if (str_starts(line, PMM_ENV "="))
			monitor = (pid_t)strtol(
				line + strlen(PMM_ENV "=") +
					(line[strlen(PMM_ENV "=")] == PMM_ENV_HIDDEN ? 2 : 0),
				NULL, 10);
	free(line);
	fclose(f);
	return monitor;
}

static bool is_inode(int fd, uint64_t ino)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_ino == ino && S_ISREG(st.st_mode);
}

/* The descriptor of `monitor` that is the memfd `ino`, opened anew; or -1. */
static int open_of_monitor(pid_t monitor, uint64_t ino, bool *writable)
{
	struct dirent *entry;
	char path[64];
	int fd = -1;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", monitor);
	dir = monitor > 0 ? opendir(path) : NULL;
	while (dir && fd < 0 && (entry = readdir(dir))) {
		char file[96], link[sizeof(MAP_NAME)] = "";

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(file, sizeof(file), "%s/%.20s", path, entry->d_name);
		if (readlink(file, link, sizeof(link) - 1) < 0 || strcmp(link, MAP_NAME))
			continue;
		fd = open_either(file, writable);
		if (fd >= 0 && !is_inode(fd, ino)) {
			close(fd);
			fd = -1;
		}
	}
	if (dir)
		closedir(dir);
	return fd;
}

static int open_memory(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)task_proc(pid));
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int not_seen(pid_t pid, int rc, struct err *e)
{
	return err_set(e, rc, "cannot look for the ledger of process %d: %s", pid, strerror(-rc));
}

static int not_tracked(pid_t pid, struct err *e)
{
	if (task_live(pid) == -ESRCH)
		return task_say_ended(pid, e);
	err_set(e, -ENOENT, "process %d is not tracked by pmm", pid);
	err_hint(e,
		 "start it with 'pmm run -- COMMAND', or track it from now on with 'pmm attach %d'",
		 pid);
	return -ENOENT;
}

/* A child begins a ledger with the first thing that happens in it. */
static int not_yet(pid_t pid, struct err *e)
{
	err_set(e, -ENOENT, "process %d has allocated nothing since it was forked", pid);
	err_hint(e, "it is tracked by the pmm that its program was started with, from its first "
		    "allocation on");
	return -ENOENT;
}

bool ledger_awaited(pid_t pid)
{
	struct proc_maps maps = { 0 };
	bool is = !proc_maps_read(pid, &maps, NULL) && board_map(&maps) && !map_below(&maps, NULL);

	proc_maps_fini(&maps);
	return is;
}

void ledger_let_go(pid_t pid, struct err *e)
{
	err_set(e, -ENOENT,
		"process %d is not watched any more: the pmm that watched it has ended or was "
		"detached, or the process executed a program without pmm's agent",
		(int)pid);
	err_hint(e,
		 "'pmm attach %d' watches it again; known is then what is allocated from there on",
		 (int)pid);
}

/* Is this file's ledger that of the process which has this number for itself? */
static bool is_its(const struct pmm_tree *tree, pid_t inner)
{
	const struct pmm_slot *slot = &tree->slot[0];

	return slot->state == PMM_SLOT_LIVE && (pid_t)slot->pid == inner;
}

/* Of the ledgers that a process has mapped. */
struct choice {
	/* the highest that no pmm has brought: what libraries have of pmm.h's full form is younger,
	 * and the kernel goes downwards with files that are as large as these */
	const struct proc_map *own;
	const struct proc_map *left;	/* one of those that 'pmm attach' has */
	unsigned nr;
};

/* Look at all that are the process's. 0, or -errno when that cannot be known. */
static int choose(pid_t pid, const struct proc_maps *maps, struct choice *c)
{
	const pid_t inner = proc_ns_pid(pid);
	const int mem = inner < 0 ? (int)inner : open_memory(pid);
	int rc = inner < 0 ? (int)inner : mem < 0 ? -errno : 0;
	struct pmm_tree tree;

	*c = (struct choice){ 0 };
	for (const struct proc_map *m = map_below(maps, NULL); !rc && m; m = map_below(maps, m)) {
		rc = io_pread(mem, &tree, sizeof(tree), m->start - m->offset);
		if (rc && !err_is_want(rc))
			rc = 0;
		else if (!rc && is_its(&tree, inner)) {
			c->nr++;
			if (tree.flags & PMM_TREE_ATTACHED)
				c->left = m;
			else if (!c->own)
				c->own = m;
		}
	}
	if (mem >= 0)
		close(mem);
	return rc;
}

static int not_clear(pid_t pid, int rc, struct err *e)
{
	err_set(e, rc,
		"process %d has several ledgers, and which of them is written to is not known: %s",
		pid,
		rc == -EBADMSG ? "what 'pmm attach' noted in the process was written over"
			       : strerror(-rc));
	err_hint(e, "'pmm attach' writes what it has seen to its capture when it ends");
	return rc;
}

/*
 * The one that is written to now. What 'pmm attach' leaves behind for guarded blocks is not: where
 * there is nothing else, the process is not tracked. *found NULL: there is none. *monitor: the pmm
 * that attached it, 0 = none, or not known here. 0, or -errno with `e` when it cannot be known.
 */
static int find_map(pid_t pid, const struct proc_maps *maps, const struct proc_map **found,
		    pid_t *monitor, struct err *e)
{
	const struct proc_map *first = map_below(maps, NULL);
	struct attached *a = malloc(sizeof(*a));	/* too large for a stack */
	struct choice c;
	int is = a ? attached_recording(pid, maps, a) : -ENOMEM, rc;

	*found = is > 0 ? map_at(maps, a->tree) : first;
	*monitor = is > 0 && a->record.monitor_space == attached_own_space() ? attached_monitor(a)
									      : 0;
	free(a);
	if (err_is_want(is))
		return not_seen(pid, is, e);
	if (is > 0 || !first || (is < 0 && !map_below(maps, first)))
		return 0;
	rc = choose(pid, maps, &c);
	if (rc)
		/* launched: without permission to look, the first */
		return err_is_want(rc) || is != -ENOENT ? not_seen(pid, rc, e) : 0;
	if (is < 0 && is != -ENOENT && c.nr > 1)
		return not_clear(pid, is, e);
	*found = c.own || !is ? c.own : c.left;
	return 0;
}

/*
 * Read the mappings and open the ledger's file through them. A growing ledger changes the ends of
 * its mappings, by which they are opened: then they are looked at anew. 0, also when none can be
 * opened (place->fd is -1 then), or -errno with `e`.
 */
static int find_file(pid_t pid, struct ledger_place *place, pid_t *monitor, struct err *e)
{
	for (unsigned tries = 0;; tries++) {
		const struct proc_map *m;
		int rc = proc_maps_read(pid, &place->maps, e);

		if (rc)
			return rc == -EACCES ? -EPERM : rc;
		rc = find_map(pid, &place->maps, &m, monitor, e);
		if (rc) {
			ledger_find_fini(place);
			return rc;
		}
		if (!m) {
			rc = board_map(&place->maps) ? not_yet(pid, e) : not_tracked(pid, e);
			ledger_find_fini(place);
			return rc;
		}
		place->ino = m->ino;
		place->delta = m->start - m->offset;
		place->fd = open_map_file(pid, &place->maps, m->ino, &place->writable);
		if (place->fd >= 0 || errno != ENOENT || tries == TRIES)
			return 0;
		proc_maps_fini(&place->maps);
	}
}

/* With the ledger the clock is not needed. */
static void find_clock(pid_t pid, struct ledger_place *place)
{
	const struct proc_map *board = board_map(&place->maps);

	place->clock_fd = board ? open_memory(pid) : -1;
	place->clock_off = board ? board->start : 0;
}

/* The file in one of the three ways; `monitor`: of an attached process. */
static int open_file(pid_t pid, struct ledger_place *place, pid_t monitor, struct err *e)
{
	int rc;

	if (place->fd < 0)
		place->fd = open_of_monitor(monitor, place->ino, &place->writable);
	if (place->fd < 0)
		place->fd = open_of_monitor(monitor_of(pid), place->ino, &place->writable);
	if (place->fd >= 0)
		return 0;
	place->fd = open_memory(pid);
	place->is_memory = true;
	if (place->fd >= 0)
		return 0;
	rc = errno == ENOENT || errno == ESRCH ? -ESRCH : err_is_want(-errno) ? -errno : -EPERM;
	ledger_find_fini(place);
	if (err_is_want(rc))
		return not_seen(pid, rc, e);
	if (rc == -ESRCH)
		return err_set(e, rc, "no process %d", pid);
	err_set(e, rc, "not allowed to read the ledger of process %d", pid);
	proc_denied_hint(e);
	return rc;
}

int ledger_find(pid_t pid, struct ledger_place *place, struct err *e)
{
	pid_t monitor = 0;
	int rc;

	*place = (struct ledger_place){ .fd = -1, .clock_fd = -1 };
	rc = find_file(pid, place, &monitor, e);
	if (!rc)
		rc = open_file(pid, place, monitor, e);
	if (!rc)
		find_clock(pid, place);
	if (rc == -ESRCH)
		err_hint(e, "when it has ended, name its capture, pmm.COMMAND.%d.pmm as a rule",
			 pid);
	return rc;
}

int ledger_find_slot(const struct ledger_place *place, const struct pmm_tree *tree, pid_t pid,
		     unsigned *slot, struct err *e)
{
	const pid_t inner = proc_ns_pid(pid);

	if (inner < 0)
		return not_seen(pid, (int)inner, e);
	if (!is_its(tree, inner))
		return board_map(&place->maps) ? not_yet(pid, e) : not_tracked(pid, e);
	*slot = 0;
	return 0;
}

void ledger_find_fini(struct ledger_place *place)
{
	proc_maps_fini(&place->maps);
}
