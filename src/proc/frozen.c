/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a process is frozen with its control group: the kernel says so in cgroup.events of
 * version 2 and freezer.state of version 1, also where a group above was frozen.
 */
#include "src/proc/frozen.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/proc/task.h"

struct place {
	const char *mount, *file, *line;
};

static const struct place version2[] = {
	{ "/sys/fs/cgroup", "cgroup.events", "frozen 1\n" },
	{ "/sys/fs/cgroup/unified", "cgroup.events", "frozen 1\n" },
};
static const struct place version1[] = {
	{ "/sys/fs/cgroup/freezer", "freezer.state", "FROZEN\n" },
	{ "/sys/fs/cgroup/freezer", "freezer.state", "FREEZING\n" },
};

static bool has_line(const char *path, const char *wanted)
{
	FILE *f = fopen(path, "re");
	char line[256];
	bool has = false;

	while (f && !has && fgets(line, sizeof(line), f))
		has = !strcmp(line, wanted);
	if (f)
		fclose(f);
	return has;
}

/* Its directory, the caller's, if it is frozen; else NULL. */
static char *frozen_in(const struct place *p, const char *group)
{
	char *path, *dir = NULL;

	if (asprintf(&path, "%s%s/%s", p->mount, group, p->file) < 0)
		return NULL;
	if (has_line(path, p->line) && asprintf(&dir, "%s%s", p->mount, group) < 0)
		dir = NULL;
	free(path);
	return dir;
}

/* Lines of /proc/PID/cgroup: "0::/path" (version 2) or "4:freezer:/path" (version 1). */
static char *find(pid_t pid)
{
	char line[PATH_MAX + 64], *dir = NULL;
	FILE *f;

	snprintf(line, sizeof(line), "/proc/%d/cgroup", (int)task_proc(pid));
	f = fopen(line, "re");
	while (f && !dir && fgets(line, sizeof(line), f)) {
		char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
		const struct place *p = version2;

		if (!group)
			continue;
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		if (*++names)
			p = version1;
		for (unsigned i = 0; i < 2 && !dir && (!*names || strstr(names, "freezer")); i++)
			dir = frozen_in(&p[i], group);
	}
	if (f)
		fclose(f);
	return dir;
}

int frozen_not(pid_t pid, struct err *e)
{
	char *dir = find(pid);

	if (!dir)
		return 0;
	err_set(e, -EBUSY, "process %d is frozen with its control group", (int)pid);
	err_hint(e, "thaw '%s', or the group above it that was frozen, and try again", dir);
	free(dir);
	return -EBUSY;
}
