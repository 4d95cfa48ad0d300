/*
 * Where the ledger of a running process is.
 *
 * The mapping "/memfd:pmm-ledger" in /proc/PID/maps says that there is one and which inode it is.
 * The file itself is opened in the first of three ways that is allowed to this user; proc(5) says
 * which capability each asks for.
 */
#include "src/capture/ledger_find.h"

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

#include "src/base/str.h"
#include "src/target/task.h"

#define MAP_NAME "/memfd:" PMM_MEMFD_NAME
#define TRIES 20

static bool is_ours(const struct proc_map *m)
{
	return (m->perms & PROC_MAP_SHARED) && m->ino && str_starts(m->path, MAP_NAME);
}

/* The highest mapping of a ledger below another one, of another file; `above` NULL: of all. NULL: none. */
static const struct proc_map *map_below(const struct proc_maps *maps, const struct proc_map *above)
{
	for (size_t i = above ? (size_t)(above - maps->v) : maps->nr; i-- > 0;)
		if (is_ours(&maps->v[i]) && (!above || maps->v[i].ino != above->ino))
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
		snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)task_proc(pid), m->start, m->end);
		fd = open_either(path, writable);
		if (fd < 0 && errno != ENOENT)
			return -1;
	}
	return fd;
}

/* The monitor's pid in the environment the process was started with, 0 = not there. */
static pid_t monitor_of(pid_t pid)
{
	char path[64], text[65536];
	pid_t monitor = 0;
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)task_proc(pid));
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	for (size_t i = 0; i < n; i += strlen(text + i) + 1)
		if (str_starts(text + i, PMM_ENV "="))
			monitor = (pid_t)strtol(text + i + strlen(PMM_ENV "="), NULL, 10);
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

static int not_tracked(pid_t pid, struct err *e)
{
	err_set(e, -ENOENT, "process %d is not tracked by pmm", pid);
	err_hint(e, "start it with 'pmm run -- COMMAND', or track it from now on with 'pmm attach %d'", pid);
	return -ENOENT;
}

/* Is part of the slot mapped for writing? A process writes to no slot but its own. */
static bool is_written(const struct proc_maps *maps, uint64_t ino, const struct pmm_tree *tree, unsigned slot)
{
	uint64_t from = tree->slots_off + slot * tree->slot_bytes;

	for (size_t i = 0; i < maps->nr; i++) {
		const struct proc_map *m = &maps->v[i];

		if (is_ours(m) && m->ino == ino && (m->perms & PROC_MAP_WRITE) &&
		    m->offset < from + tree->slot_bytes && m->offset + (m->end - m->start) > from)
			return true;
	}
	return false;
}

/*
 * The slot of a process, by its pid as it sees it. Several pid namespaces may use the same number in one tree: the mapped slot decides. One that is
 * not mapped does where `any`.
 */
static bool slot_find(const struct proc_maps *maps, uint64_t ino, const struct pmm_tree *tree, pid_t inner, bool any, unsigned *slot)
{
	bool found = false;

	for (unsigned i = 0; i < tree->nr_slots && i < PMM_MAX_SLOTS; i++) {
		bool mapped;

		if (tree->slot[i].state != PMM_SLOT_LIVE || (pid_t)tree->slot[i].pid != inner)
			continue;
		mapped = is_written(maps, ino, tree, i);
		if (mapped || (any && !found)) {
			*slot = i;
			found = true;
		}
		if (mapped)
			break;
	}
	return found;
}

/* Is the process in the ledger that is mapped there? */
static bool is_in(const struct proc_maps *maps, const struct proc_map *m, int mem, pid_t inner)
{
	struct pmm_tree *tree = malloc(sizeof(*tree));
	bool found = false;
	unsigned slot;

	if (tree && pread(mem, tree, sizeof(*tree), (off_t)(m->start - m->offset)) == (ssize_t)sizeof(*tree))
		found = slot_find(maps, m->ino, tree, inner, false, &slot);
	free(tree);
	return found;
}

/*
 * Libraries with pmm.h's full form in them may have ledgers of their own beside the program's. That is the oldest, and as the kernel goes downwards
 * with files that are as large as these, the highest. But a child for which its parent's had no room has one of its own, and that still mapped.
 * NULL: there is none.
 */
static const struct proc_map *find_map(pid_t pid, const struct proc_maps *maps)
{
	const struct proc_map *first = map_below(maps, NULL), *m = first, *next;
	int mem = -1;

	while (m && (next = map_below(maps, m))) {
		if (m == first)
			mem = open_memory(pid);
		if (mem < 0 || is_in(maps, m, mem, proc_ns_pid(pid)))
			break;
		m = next;
	}
	if (mem >= 0)
		close(mem);
	return m;
}

/*
 * Read the mappings and open the ledger's file through them. A growing ledger changes the ends of its mappings, by which they are opened: then
 * they are looked at anew. 0, also when none can be opened (place->fd is -1 then), or -errno with `e`.
 */
static int find_file(pid_t pid, struct ledger_place *place, struct err *e)
{
	for (unsigned tries = 0;; tries++) {
		const struct proc_map *m;
		int rc = proc_maps_read(pid, &place->maps, e);

		if (rc)
			return rc == -EACCES ? -EPERM : rc;
		m = find_map(pid, &place->maps);
		if (!m) {
			ledger_find_fini(place);
			return not_tracked(pid, e);
		}
		place->ino = m->ino;
		place->is_one_of_several = map_below(&place->maps, NULL)->ino != m->ino || map_below(&place->maps, m);
		place->delta = m->start - m->offset;
		place->fd = open_map_file(pid, &place->maps, m->ino, &place->writable);
		if (place->fd >= 0 || errno != ENOENT || tries == TRIES)
			return 0;
		proc_maps_fini(&place->maps);
	}
}

int ledger_find(pid_t pid, struct ledger_place *place, struct err *e)
{
	int rc;

	*place = (struct ledger_place){ .fd = -1 };
	rc = find_file(pid, place, e);
	if (rc)
		return rc;
	if (place->fd < 0)
		place->fd = open_of_monitor(monitor_of(pid), place->ino, &place->writable);
	if (place->fd >= 0)
		return 0;
	place->fd = open_memory(pid);
	place->is_memory = true;
	if (place->fd >= 0)
		return 0;
	rc = errno == ENOENT || errno == ESRCH ? -ESRCH : -EPERM;
	ledger_find_fini(place);
	if (rc == -ESRCH) {
		err_set(e, rc, "no process %d", pid);
		err_hint(e, "when it has ended, name its capture, pmm.COMMAND.%d.pmm as a rule", pid);
		return rc;
	}
	err_set(e, rc, "not allowed to read the ledger of process %d", pid);
	err_hint(e, "run as the user the process belongs to, or as root");
	return rc;
}

int ledger_find_slot(const struct ledger_place *place, const struct pmm_tree *tree, pid_t pid,
		     unsigned *slot, struct err *e)
{
	bool found = slot_find(&place->maps, place->ino, tree, proc_ns_pid(pid), !place->is_one_of_several, slot);

	return found ? 0 : not_tracked(pid, e);
}

void ledger_find_fini(struct ledger_place *place)
{
	proc_maps_fini(&place->maps);
}
