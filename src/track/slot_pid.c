/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes belong to a tree, and how they ended. */
#include "src/track/slot_pid.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "include/pmm/channel.h"
#include "include/pmm/ledger.h"
#include "src/base/str.h"
#include "src/proc/proc.h"
#include "src/proc/task.h"

#define MAX_ANCESTORS 64
#define MAX_ENVIRON   (1u << 20)
#define MAX_PASSES    4
/* numbers that are looked at one by one rather than the whole of /proc */
#define FEW	      256

/* ioctl of a pidfd: linux/pidfd.h, first published size; exit_code since Linux 6.15 */
struct info {
	uint64_t mask, cgroupid;
	uint32_t pid, tgid, ppid, ids[8];
	int32_t exit_code;
};
#define INFO_EXIT (1ull << 3)
#define GET_INFO  _IOWR(0xFF, 11, struct info)

/* State, parent and exit code from /proc/PID/stat. 0 or -ESRCH. */
static int read_stat(pid_t pid, char *state, pid_t *parent, int *exit_code)
{
	char path[64], text[2048], *p;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return -ESRCH;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	p = strrchr(text, ')'); /* the name before it may hold anything */
	if (!p || sscanf(p + 1, " %c %d", state, parent) != 2)
		return -ESRCH;
	p = strrchr(p, ' '); /* exit_code is the last field, 52 */
	*exit_code = p ? atoi(p) : 0;
	return 0;
}

int slot_pid_parent(pid_t pid, pid_t *parent)
{
	int exit_code;
	char state;

	return read_stat(pid, &state, parent, &exit_code);
}

bool slot_pid_descends(const struct slot_pid *w, pid_t pid)
{
	int exit_code;
	char state;

	for (int i = 0; i < MAX_ANCESTORS && pid > 1; i++) {
		if (pid == w->root || pid == w->monitor)
			return true;
		if (read_stat(pid, &state, &pid, &exit_code))
			return false;
	}
	return false;
}

/* Is the board mapped? -EACCES: we may not look. */
static int maps_board(const struct slot_pid *w, pid_t pid)
{
	struct proc_maps maps;
	int found = 0, rc = proc_maps_read(pid, &maps, NULL);

	if (rc)
		return rc == -ESRCH ? 0 : rc;
	for (size_t i = 0; i < maps.nr && !found; i++)
		found = maps.v[i].ino == w->ino &&
			str_starts(maps.v[i].path, "/memfd:" PMM_BOARD_NAME);
	proc_maps_fini(&maps);
	return found;
}

/* Where we may not look, all that is younger than the root may have it. */
static bool may_map_board(const struct slot_pid *w, pid_t pid)
{
	int rc = maps_board(w, pid);
	uint64_t start;

	return rc > 0 || (rc < 0 && !proc_start_time(pid, &start) && start >= w->start);
}

bool slot_pid_has_agent(const struct slot_pid *w, pid_t pid)
{
	return maps_board(w, pid) > 0;
}

bool slot_pid_may_be(const struct slot_pid *w, pid_t pid)
{
	return slot_pid_descends(w, pid) || may_map_board(w, pid);
}

/* As the monitor said it, or hidden as an agent did. */
static bool is_ours(const struct slot_pid *w, const char *line)
{
	size_t n = strlen(PMM_ENV "=");

	return !strcmp(line, w->env) ||
	       (str_starts(line, PMM_ENV "=") && line[n] == PMM_ENV_HIDDEN && line[n + 1] &&
		!strcmp(line + n + 2, w->env + n));
}

/* Was it launched with the tree's PMM_LEDGER? A zombie has no environment any more. */
static bool has_env(const struct slot_pid *w, pid_t pid)
{
	char path[64], *line = NULL;
	size_t room = 0, seen = 0;
	bool found = false;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (!found && seen < MAX_ENVIRON && (n = getdelim(&line, &room, '\0', f)) > 0) {
		found = is_ours(w, line);
		seen += (size_t)n;
	}
	free(line);
	fclose(f);
	return found;
}

/* The pid number that was given last; numbers wrap around. 0 = not known. */
static pid_t last_pid(void)
{
	char text[128], *last;
	int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	last = strrchr(text, ' ');
	return last ? atoi(last) : 0;
}

struct unclaimed {
	const struct slot_pid *w;
	bool mapped;
	bool (*has_ledger)(void *arg, pid_t pid);
	void *arg;
	unsigned nr;
	pid_t one;
	/* one ended meanwhile, and may have left a child that was not looked at */
	bool vanished;
};

static void look_at(struct unclaimed *u, pid_t p)
{
	if (p == u->w->monitor || u->has_ledger(u->arg, p))
		return;
	if (!has_env(u->w, p)) {
		u->vanished |= !proc_alive(p);
		return;
	}
	if (u->mapped && !may_map_board(u->w, p))
		return;
	u->one = p;
	u->nr++;
}

static void look_at_all(struct unclaimed *u, pid_t oldest)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		pid_t p = (pid_t)atoi(d->d_name);

		if (p > oldest)
			look_at(u, p);
	}
	if (dir)
		closedir(dir);
}

/* Is it the number of a process, rather than of some other thread or of none? */
static bool is_process(pid_t pid)
{
	uint64_t group;

	return !task_status(pid, pid, "Tgid", 10, &group) && group == (uint64_t)pid;
}

/*
 * One pass. The numbers given since the root was started are few where it did not run for long. All
 * others are those of older processes then: to wrap around once they need more time than that.
 */
static void look_for_unclaimed(struct unclaimed *u, bool soon)
{
	pid_t root = u->w->root, last = last_pid();

	if (last < root || !soon || last - root > FEW) {
		look_at_all(u, last < root ? 1 : root);
		return;
	}
	for (pid_t p = root + 1; p <= last; p++)
		if (is_process(p))
			look_at(u, p);
}

unsigned slot_pid_unclaimed(const struct slot_pid *w, bool mapped, bool soon,
			    bool (*has_ledger)(void *arg, pid_t pid), void *arg, pid_t *pid)
{
	struct unclaimed u = { .w = w, .mapped = mapped, .has_ledger = has_ledger, .arg = arg };

	for (int i = 0; i < MAX_PASSES && !u.nr && (!i || u.vanished); i++) {
		u.vanished = false;
		look_for_unclaimed(&u, soon);
	}
	if (pid && u.nr)
		*pid = u.one;
	return u.nr;
}

int slot_pid_status(pid_t pid, int pidfd, int *status)
{
	/* one has it once the zombie is gone, the other while it is there: it may go in between */
	for (int i = 0; i < 2; i++) {
		struct info info = { .mask = INFO_EXIT };
		pid_t parent;
		char state;

		if (pidfd >= 0 && !ioctl(pidfd, GET_INFO, &info) && info.mask & INFO_EXIT) {
			*status = info.exit_code;
			return 0;
		}
		if (pid > 0 && !read_stat(pid, &state, &parent, status) && state == 'Z')
			return 0;
	}
	return -ENODATA;
}
