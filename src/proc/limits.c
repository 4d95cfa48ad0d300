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
#define MAX_NUMBERS 2	/* read out of a file at once */

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

/* A number behind `key` at the start of a line; key "" = the file is a number. */
struct number {
	const char *key;
	uint64_t value;		/* UINT64_MAX = not there */
};

static uint64_t number_at(const char *at)
{
	uint64_t value;
	char *end;

	at += strspn(at, ": \t");
	if (*at < '0' || *at > '9')
		return UINT64_MAX;	/* "max", "unlimited" */
	errno = 0;
	value = strtoull(at, &end, 10);
	if (errno)
		return UINT64_MAX;
	if (strncmp(end, " kB", 3) == 0)
		return value < NONE / 1024 ? value * 1024 : UINT64_MAX;
	return value;
}

/* At most MAX_NUMBERS of a file, read once: of each the first line that begins with its key. */
static void numbers_in(const char *path, struct number *v, unsigned nr)
{
	FILE *f = fopen(path, "re");
	unsigned nr_left = nr;
	bool seen[MAX_NUMBERS] = { false };
	char line[256];

	for (unsigned i = 0; i < nr; i++)
		v[i].value = UINT64_MAX;
	while (f && nr_left && fgets(line, sizeof(line), f))
		for (unsigned i = 0; i < nr; i++) {
			const size_t n = strlen(v[i].key);

			if (seen[i] || strncmp(line, v[i].key, n) != 0)
				continue;
			v[i].value = number_at(line + n);
			seen[i] = true;
			nr_left--;
		}
	if (f)
		fclose(f);
}

static uint64_t number_in(const char *path, const char *key)
{
	struct number n = { .key = key };

	numbers_in(path, &n, 1);
	return n.value;
}

static void proc_numbers(const struct search *s, const char *file, struct number *v, unsigned nr)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/proc/%d/%s", s->root, (int)s->pid, file) >=
	    (int)sizeof(path))
		path[0] = 0;	/* no file: none of them is there */
	numbers_in(path, v, nr);
}

static void resource_limits(struct search *s)
{
	struct number used[] = { { .key = "VmSize" }, { .key = "VmData" } };
	struct number limit[] = { { .key = "Max address space" }, { .key = "Max data size" } };

	proc_numbers(s, "status", used, 2);
	proc_numbers(s, "limits", limit, 2);
	if (used[0].value != UINT64_MAX)
		consider(s, LIMIT_ADDRESS_SPACE, limit[0].value, used[0].value, "");
	if (used[1].value != UINT64_MAX)
		consider(s, LIMIT_DATA, limit[1].value, used[1].value, "");
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
	struct number n = { .key = "Pid" };

	*s->out = (struct limit){ 0 };
	proc_numbers(s, "status", &n, 1);
	return n.value == UINT64_MAX ? -ESRCH : 0;
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
