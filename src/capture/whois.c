/* Processes named by a slot: found, told from strangers, asked how they ended. */
#include "src/capture/whois.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "include/pmm/ledger.h"
#include "src/target/proc.h"
#include "src/target/task.h"

#define MAX_ANCESTORS 64
#define MAX_ENVIRON   (1u << 20)
#define ANY	      UINT64_MAX
#define MAX_PASSES    4
#define FEW	      256	/* numbers that are looked at one by one rather than the whole of /proc */

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

bool whois_descends(const struct whois *w, pid_t pid)
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

/*
 * Is there a mapping of the tree, and writable at `slot_off` unless that is ANY? -EACCES: we may
 * not look.
 */
static int maps_tree(const struct whois *w, pid_t pid, uint64_t slot_off)
{
	struct proc_maps maps;
	int found = 0, rc = proc_maps_read(pid, &maps, NULL);

	if (rc)
		return rc == -ESRCH ? 0 : rc;
	for (size_t i = 0; i < maps.nr && !found; i++) {
		const struct proc_map *m = &maps.v[i];

		if (m->ino != w->ino || !strstr(m->path, PMM_MEMFD_NAME))
			continue;
		found = slot_off == ANY || (m->perms & PROC_MAP_WRITE && m->offset <= slot_off &&
					    slot_off - m->offset < m->end - m->start);
	}
	proc_maps_fini(&maps);
	return found;
}

/* The same of any part; where we may not look, all that is younger than the root may have it. */
static bool may_map_tree(const struct whois *w, pid_t pid)
{
	int rc = maps_tree(w, pid, ANY);
	uint64_t start;

	return rc > 0 || (rc < 0 && !proc_start_time(pid, &start) && start >= w->start);
}

/*
 * The agent gives itself access to its own slot only, so the slot's head is a mapping of its own.
 */
bool whois_maps_slot(const struct whois *w, pid_t pid, uint64_t slot_off)
{
	return maps_tree(w, pid, slot_off) > 0;
}

static int open_pidfd(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/*
 * Through all processes in pid namespaces below ours: who calls itself so and has the slot? 0 =
 * nobody; `foreign` is then whether there was anybody of the tree at all.
 */
static pid_t search(struct whois *w, uint32_t ns_pid, uint64_t slot_off)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	pid_t found = 0;

	w->foreign = false;
	while (dir && !found && (d = readdir(dir))) {
		pid_t pid = (pid_t)atoi(d->d_name), inner = pid > 0 ? proc_ns_pid(pid) : -1;

		if (inner <= 0 || inner == pid || !may_map_tree(w, pid))
			continue;
		w->foreign = true;
		if (inner == (pid_t)ns_pid && whois_maps_slot(w, pid, slot_off))
			found = pid;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Is it the process of ours that has this number? */
static bool is_it(const struct whois *w, pid_t pid, uint64_t slot_off)
{
	if (w->foreign)
		return proc_ns_pid(pid) == pid && whois_maps_slot(w, pid, slot_off);
	return whois_descends(w, pid) || may_map_tree(w, pid);
}

/*
 * The pid namespace is ours nearly always: a pid that does not exist has ended, one that exists and
 * is of the tree is the one. A new namespace counts from 1, so a number below the root's gives it
 * away (or pids have wrapped around) and is searched for. While there are processes of the tree in
 * namespaces of their own, only who has the very slot is believed; the agent makes it writable just
 * after it has claimed it.
 */
pid_t whois_find(struct whois *w, uint32_t ns_pid, uint64_t slot_off, int *pidfd)
{
	pid_t pid = (pid_t)ns_pid;
	bool exists;

	*pidfd = open_pidfd(pid);
	exists = *pidfd >= 0 || errno != ESRCH;
	if (exists && is_it(w, pid, slot_off))
		return pid;
	if (!exists && !w->foreign && pid >= w->root)
		return 0;
	if (*pidfd >= 0)
		close(*pidfd);
	*pidfd = -1;
	pid = search(w, ns_pid, slot_off);
	if (pid)
		*pidfd = open_pidfd(pid);
	else if (w->foreign)
		pid = -1;
	return pid;
}

/* Was it launched with the tree's PMM_LEDGER? A zombie has no environment any more. */
static bool has_env(const struct whois *w, pid_t pid)
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
		found = !strcmp(line, w->env);
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
	const struct whois *w;
	bool mapped;
	bool (*has_slot)(void *arg, pid_t pid);
	void *arg;
	unsigned nr;
	pid_t one;
	bool vanished;		/* one ended meanwhile, and may have left a child that was not looked at */
};

static void look_at(struct unclaimed *u, pid_t p)
{
	if (p == u->w->monitor || u->has_slot(u->arg, p))
		return;
	if (!has_env(u->w, p)) {
		u->vanished |= !proc_alive(p);
		return;
	}
	if (u->mapped && !may_map_tree(u->w, p))
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

/* Is it the number of a process, rather than of some other thread or of nobody? */
static bool is_process(pid_t pid)
{
	uint64_t group;

	return !task_status(pid, pid, "Tgid", 10, &group) && group == (uint64_t)pid;
}

/*
 * One pass. The numbers given since the root was started are few where it did not run for long. All others are those of older processes then: to
 * wrap around once they need more time than that.
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

unsigned whois_unclaimed(const struct whois *w, bool mapped, bool soon, bool (*has_slot)(void *arg, pid_t pid), void *arg, pid_t *pid)
{
	struct unclaimed u = { .w = w, .mapped = mapped, .has_slot = has_slot, .arg = arg };

	for (int i = 0; i < MAX_PASSES && !u.nr && (!i || u.vanished); i++) {
		u.vanished = false;
		look_for_unclaimed(&u, soon);
	}
	if (pid && u.nr)
		*pid = u.one;
	return u.nr;
}

int whois_status(pid_t pid, int pidfd, int *status)
{
	struct info info = { .mask = INFO_EXIT };
	pid_t parent;
	char state;

	if (pidfd >= 0 && !ioctl(pidfd, GET_INFO, &info) && info.mask & INFO_EXIT) {
		*status = info.exit_code;
		return 0;
	}
	if (pid > 0 && !read_stat(pid, &state, &parent, status) && state == 'Z')
		return 0;
	return -ENODATA;
}
