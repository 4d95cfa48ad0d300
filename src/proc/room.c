/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether there is room for a copy of a process. */
#include "src/proc/room.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/fmt.h"
#include "src/proc/limits.h"
#include "src/proc/task.h"

#define SPARE_BYTES	(16ull << 20)	/* left over in any case */
/* of its memory a program changes less than that part meanwhile, as a rule */
#define CHANGED_PART	8
#define SPARE_PROCESSES	8u
#define EVENT_FORK	2u		/* UFFD_FEATURE_EVENT_FORK */

static int memory_room(pid_t pid, struct err *e)
{
	uint64_t tables = 0, own = 0, needed;
	pid_t live = task_live(pid);
	struct limit limit;

	if (live < 0 || limits_memory("", pid, &limit))
		return 0;
	task_status(pid, live, "VmPTE", 10, &tables);	/* kB */
	task_status(pid, live, "RssAnon", 10, &own);
	needed = SPARE_BYTES + (tables + (limit.together ? own : own / CHANGED_PART)) * 1024;
	if (limit.left_bytes >= needed)
		return 0;
	return err_set(e, -ENOMEM, "no room for a copy of process %d: %s of memory left (%s of %s)",
		       (int)pid, fmt_bytes(limit.left_bytes).s, limit_name(limit.kind),
		       fmt_bytes(limit.limit_bytes).s);
}

static int process_room(pid_t pid, struct err *e)
{
	struct limit limit;

	if (limits_processes("", pid, &limit) || limit.left_bytes >= SPARE_PROCESSES)
		return 0;
	return err_set(e, -EDQUOT,
		       "no room for a copy of process %d: %" PRIu64 " of the %" PRIu64
		       " processes and threads allowed are left",
		       (int)pid, limit.left_bytes, limit.limit_bytes);
}

/*
 * Is a descriptor a userfaultfd that reports forks? A fork waits until that has been read, perhaps
 * by a thread that is stopped.
 */
static bool tells_of_forks(pid_t pid, const char *fd)
{
	char path[96], link[64], line[128];
	unsigned long long api, features = 0;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/fd/%.20s", (int)pid, fd);
	n = readlink(path, link, sizeof(link) - 1);
	if (n < 0)
		return false;
	link[n] = '\0';
	if (strcmp(link, "anon_inode:[userfaultfd]"))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.20s", (int)pid, fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "API: %llx:%llx", &api, &features) == 2)
			break;
	if (f)
		fclose(f);
	return features & EVENT_FORK;
}

static int told_of_forks(pid_t pid, struct err *e)
{
	struct dirent *entry;
	bool told = false;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	while (dir && !told && (entry = readdir(dir)))
		told = tells_of_forks(pid, entry->d_name);
	if (dir)
		closedir(dir);
	return told ? err_set(e, -ENOTSUP, "process %d would be notified of a copy (userfaultfd)",
			      (int)pid)
		    : 0;
}

int room_for_copy(pid_t pid, struct err *e)
{
	int rc = memory_room(pid, e);

	if (!rc)
		rc = process_room(pid, e);
	return rc ? rc : told_of_forks(pid, e);
}
