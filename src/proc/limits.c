/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits out of /proc/PID/limits, status and cgroup, and of /sys/fs/cgroup where it is mounted as
 * usual: version 2 there or in `unified`, version 1 in `memory`.
 */
#include "src/proc/limits.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNKNOWN_BYTES	(4ull << 30)	/* of memory, where nothing shows how much there is */
#define NONE (1ull << 62)	/* version 1 says "none" with a number near 2^63 */

struct search {
	const char *root;
	pid_t pid;
	struct limit *out;
	bool found;
	uint64_t lowest_group;
};

const char *limit_name(enum limit_kind kind)
{
	static const char *const name[] = {
		[LIMIT_CGROUP] = "cgroup limit",
		[LIMIT_ADDRESS_SPACE] = "address space limit",
		[LIMIT_DATA] = "data limit",
		[LIMIT_MACHINE] = "machine's memory",
		[LIMIT_PROCESSES] = "limit on processes",
	};

	_Static_assert(sizeof(name) / sizeof(*name) == LIMIT_NR_KINDS, "a name for each");
	return name[kind];
}

/* Returns whether it is the nearest one so far. */
static bool consider(struct search *s, enum limit_kind kind, uint64_t limit, uint64_t used,
		     const char *where)
{
	uint64_t left = limit > used ? limit - used : 0;

	if (limit >= NONE || (s->found && left >= s->out->left_bytes))
		return false;
	s->found = true;
	*s->out = (struct limit){
		.kind = kind, .limit_bytes = limit, .used_bytes = used, .left_bytes = left
	};
	snprintf(s->out->where, sizeof(s->out->where), "%s", where);
	return true;
}

/*
 * The number behind `key` at the start of a line of a file; key "" = the file is a number.
 * UINT64_MAX = not there.
 */
static uint64_t number_in(const char *path, const char *key)
{
	FILE *f = fopen(path, "re");
	size_t n = strlen(key);
	uint64_t value = UINT64_MAX;
	char line[256], *end;

	while (f && value == UINT64_MAX && fgets(line, sizeof(line), f)) {
		const char *at = line + n;

		if (strncmp(line, key, n) != 0)
			continue;
		at += strspn(at, ": \t");
		if (*at < '0' || *at > '9')
			break;		/* "max", "unlimited" */
		errno = 0;
		value = strtoull(at, &end, 10);
		if (errno)
			value = UINT64_MAX;
		else if (strncmp(end, " kB", 3) == 0)
			value = value < NONE / 1024 ? value * 1024 : UINT64_MAX;
	}
	if (f)
		fclose(f);
	return value;
}

static uint64_t proc_number(const struct search *s, const char *file, const char *key)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/proc/%d/%s", s->root, (int)s->pid, file) >=
	    (int)sizeof(path))
		return UINT64_MAX;
	return number_in(path, key);
}

static void resource_limits(struct search *s)
{
	uint64_t space = proc_number(s, "status", "VmSize"),
		 data = proc_number(s, "status", "VmData");

	if (space != UINT64_MAX)
		consider(s, LIMIT_ADDRESS_SPACE, proc_number(s, "limits", "Max address space"),
			 space, "");
	if (data != UINT64_MAX)
		consider(s, LIMIT_DATA, proc_number(s, "limits", "Max data size"), data, "");
}

static uint64_t limit_in(const char *word)
{
	return strcmp(word, "unlimited") ? strtoull(word, NULL, 10) : UINT64_MAX;
}

/* `name`: as the line of /proc/PID/limits begins. */
static int limits_both(pid_t pid, const char *name, uint64_t *now, uint64_t *most)
{
	char path[64], line[200], soft[24], hard[24];
	size_t length = strlen(name);
	int rc = -ESRCH;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/limits", (int)pid);
	f = fopen(path, "re");
	while (f && rc && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, length) &&
		    sscanf(line + length, "%23s %23s", soft, hard) == 2)
			rc = 0;
	if (f)
		fclose(f);
	if (rc)
		return rc;
	*now = limit_in(soft);
	*most = limit_in(hard);
	return 0;
}

int limits_space(pid_t pid, uint64_t *now, uint64_t *most)
{
	return limits_both(pid, "Max address space", now, most);
}

int limits_stack(pid_t pid, uint64_t *now)
{
	uint64_t most;

	return limits_both(pid, "Max stack size", now, &most);
}

static void machine(struct search *s)
{
	char path[PATH_MAX];
	uint64_t all, available;

	if (snprintf(path, sizeof(path), "%s/proc/meminfo", s->root) >= (int)sizeof(path))
		return;
	all = number_in(path, "MemTotal");
	available = number_in(path, "MemAvailable");
	if (all != UINT64_MAX && available <= all)
		consider(s, LIMIT_MACHINE, all, all - available, "");
}

/* ---- control groups ---- */

struct files {
	const char *max, *used, *inactive, *active;
};

/* What is limited: its files and, in version 1, where the groups are that limit it. */
struct control {
	enum limit_kind kind;
	struct files version2, version1;
	const char *name, *mount;
};

static const struct control memory = {
	LIMIT_CGROUP,
	{ "memory.max", "memory.current", "inactive_file", "active_file" },
	{ "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
	  "total_active_file" },
	"memory",
	"/sys/fs/cgroup/memory",
};

static const struct control processes = {
	LIMIT_PROCESSES,
	{ .max = "pids.max", .used = "pids.current" },
	{ .max = "pids.max", .used = "pids.current" },
	"pids",
	"/sys/fs/cgroup/pids",
};

static uint64_t group_number(const char *dir, const char *file, const char *key)
{
	uint64_t number;
	char *path;

	if (asprintf(&path, "%s/%s", dir, file) < 0)
		return UINT64_MAX;
	number = number_in(path, key);
	free(path);
	return number;
}

static void one_group(struct search *s, const char *dir, const struct files *f,
		      enum limit_kind kind)
{
	uint64_t max = group_number(dir, f->max, ""), used;
	uint64_t inactive = UINT64_MAX, active = UINT64_MAX;

	if (max >= NONE)
		return;
	s->lowest_group = max < s->lowest_group ? max : s->lowest_group;
	used = group_number(dir, f->used, "");
	if (used == UINT64_MAX)
		return;
	if (f->inactive) {
		inactive = group_number(dir, "memory.stat", f->inactive);
		active = group_number(dir, "memory.stat", f->active);
	}
	if (inactive <= used)
		used -= inactive;
	if (active <= used)
		used -= active;
	if (consider(s, kind, max, used, dir + strlen(s->root)))
		s->out->together = group_number(dir, "memory.oom.group", "") == 1;
}

/* A group and all above it, up to the mount point. */
static void groups(struct search *s, const char *mount, const char *path, const struct files *f,
		   enum limit_kind kind)
{
	char dir[PATH_MAX];
	size_t top;
	char *slash;
	int n = snprintf(dir, sizeof(dir), "%s%s", s->root, mount);

	if (n < 0 || n >= (int)sizeof(dir) || strstr(path, "/..") || *path != '/')
		return;		/* a group outside our namespace */
	top = (size_t)n;
	if (snprintf(dir + top, sizeof(dir) - top, "%s", strcmp(path, "/") ? path : "") >=
	    (int)(sizeof(dir) - top))
		return;
	for (;;) {
		one_group(s, dir, f, kind);
		slash = strrchr(dir + top, '/');
		if (!slash)
			return;
		*slash = '\0';
	}
}

/* Lines of /proc/PID/cgroup: "0::/path" (version 2) or "4:memory:/path" (version 1). */
static void control_groups(struct search *s, const struct control *what)
{
	char line[PATH_MAX + 64];
	FILE *f;

	if (snprintf(line, sizeof(line), "%s/proc/%d/cgroup", s->root, (int)s->pid) >=
	    (int)sizeof(line))
		return;
	f = fopen(line, "re");
	while (f && fgets(line, sizeof(line), f)) {
		char *controllers = strchr(line, ':'),
		     *path = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = '\0';
		controllers++;
		path[strcspn(path, "\n")] = '\0';
		if (!*controllers) {
			groups(s, "/sys/fs/cgroup", path, &what->version2, what->kind);
			groups(s, "/sys/fs/cgroup/unified", path, &what->version2, what->kind);
		} else if (strstr(controllers, what->name)) {
			groups(s, what->mount, path, &what->version1, what->kind);
		}
	}
	if (f)
		fclose(f);
}

uint64_t limits_cgroup(const char *root, pid_t pid)
{
	struct limit nearest;
	struct search s = { .root = root, .pid = pid, .out = &nearest, .lowest_group = UINT64_MAX };

	control_groups(&s, &memory);
	return s.lowest_group;
}

uint64_t limits_share(const char *root)
{
	char path[PATH_MAX];
	uint64_t group = limits_cgroup(root, getpid()), all = UINT64_MAX;

	if (snprintf(path, sizeof(path), "%s/proc/meminfo", root) < (int)sizeof(path))
		all = number_in(path, "MemTotal");
	all = group < all ? group : all;
	return (all < NONE ? all : UNKNOWN_BYTES) / 4;
}

static int begin(struct search *s)
{
	*s->out = (struct limit){ 0 };
	return proc_number(s, "status", "Pid") == UINT64_MAX ? -ESRCH : 0;
}

int limits_nearest(const char *root, pid_t pid, struct limit *out)
{
	struct search s = { .root = root, .pid = pid, .out = out, .lowest_group = UINT64_MAX };

	if (begin(&s))
		return -ESRCH;
	control_groups(&s, &memory);
	resource_limits(&s);
	machine(&s);
	return s.found ? 0 : -ENOENT;
}

int limits_memory(const char *root, pid_t pid, struct limit *out)
{
	struct search s = { .root = root, .pid = pid, .out = out, .lowest_group = UINT64_MAX };

	if (begin(&s))
		return -ESRCH;
	control_groups(&s, &memory);
	machine(&s);
	return s.found ? 0 : -ENOENT;
}

int limits_processes(const char *root, pid_t pid, struct limit *out)
{
	struct search s = { .root = root, .pid = pid, .out = out, .lowest_group = UINT64_MAX };

	if (begin(&s))
		return -ESRCH;
	control_groups(&s, &processes);
	return s.found ? 0 : -ENOENT;
}
