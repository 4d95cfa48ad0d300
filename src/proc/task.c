/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads (tasks) of a process as /proc has them. */
#include "src/proc/task.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/proc/proc.h"

#define STATUS_BYTES	6144	/* it takes 1.5 KiB, and more on machines of hundreds of nodes */
#define LIVE_TRIES	20

/* What an error says of what was looked for: -ESRCH, it is not there; else nothing. */
static int gone(int error)
{
	return error == ENOENT || error == ESRCH ? -ESRCH : -error;
}

int task_list(pid_t pid, struct task_list *list)
{
	struct dirent *entry;
	char path[64];
	int rc = 0;
	DIR *dir;

	list->tids.nr = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return gone(errno);
	while (!rc && (errno = 0, entry = readdir(dir))) {
		const pid_t tid = proc_parse_pid(entry->d_name);

		if (tid)
			rc = vec_push(&list->tids, tid);
	}
	if (!rc && errno)
		rc = gone(errno);
	closedir(dir);
	return rc;
}

/*
 * A file of a thread's directory (tid 0: the process's), NUL-terminated and cut at `room`. Its
 * length, -ESRCH: it is gone, or -errno.
 */
static ssize_t read_file(pid_t pid, pid_t tid, const char *name, char *text, size_t room)
{
	char path[80];
	ssize_t n;
	int fd;

	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
	else
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return gone(errno);
	do
		n = read(fd, text, room - 1);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		n = gone(errno);
	else
		text[n] = '\0';
	close(fd);
	return n;
}

int task_status(pid_t pid, pid_t tid, const char *name, int base, uint64_t *value)
{
	char text[STATUS_BYTES], line[40];
	const char *found;
	ssize_t n = read_file(pid, tid, "status", text, sizeof(text));

	if (n < 0)
		return (int)n;
	snprintf(line, sizeof(line), "\n%s:", name);
	found = strstr(text, line);
	if (!found)
		return -ENODATA;
	*value = strtoull(found + strlen(line), NULL, base);
	return 0;
}

int task_say_ended(pid_t pid, struct err *e)
{
	uint64_t parent;

	err_set(e, -ESRCH, "process %d has ended", (int)pid);
	if (!task_status(pid, 0, "PPid", 10, &parent))
		err_hint(e, "its parent, process %d, has not asked for its status yet",
			 (int)parent);
	return -ESRCH;
}

pid_t task_tracer(pid_t pid, pid_t tid)
{
	uint64_t tracer = 0, process;

	if (task_status(pid, tid, "TracerPid", 10, &tracer) || !tracer)
		return 0;
	return (pid_t)(task_status((pid_t)tracer, 0, "Tgid", 10, &process) ? tracer : process);
}

/* Behind the name, which may hold anything, fields are counted from the last ')'. */
static const char *find_field(const char *stat, unsigned number)
{
	const char *p = strrchr(stat, ')');

	for (unsigned field = 2; p && field < number; field++) {
		p = strchr(p, ' ');
		if (p)
			p++;
	}
	return p;
}

int task_stat(pid_t pid, pid_t tid, unsigned field, uint64_t *value)
{
	char text[1024];
	ssize_t n = read_file(pid, tid, "stat", text, sizeof(text));
	const char *p = n > 0 ? find_field(text, field) : NULL;

	if (!p)
		return n < 0 ? (int)n : -ESRCH;
	*value = strtoull(p, NULL, 10);
	return 0;
}

/* '?' when it cannot be known: such a thread counts as one that lives. */
static char task_state(pid_t pid, pid_t tid)
{
	char text[1024];
	ssize_t n = read_file(pid, tid, "stat", text, sizeof(text));
	const char *p = n > 0 ? find_field(text, 3) : NULL;

	return p ? *p : n < 0 && n != -ESRCH ? '?' : 'X';
}

bool task_ended(pid_t pid, pid_t tid)
{
	char state = task_state(pid, tid);

	return state == 'Z' || state == 'X';
}

/*
 * Is it a first thread that has ended, with no other one left? One that calls exec counts with the
 * first thread until it takes its place; 0 are of a first thread that goes in just this moment, for
 * which the next one may be taking its place.
 */
static bool is_last(pid_t pid)
{
	char text[1024];
	ssize_t n = read_file(pid, pid, "stat", text, sizeof(text));
	const char *state = n > 0 ? find_field(text, 3) : NULL;
	const char *threads = n > 0 ? find_field(text, 20) : NULL;

	return threads && *state == 'Z' && strtoull(threads, NULL, 10) == 1;
}

pid_t task_live(pid_t pid)
{
	struct task_list list = { 0 };
	pid_t live = -ESRCH;

	if (!task_ended(pid, pid))
		return pid;
	if (is_last(pid))
		return -ESRCH;
	/* a thread that calls exec is for a moment under no number */
	for (int tries = 0; tries < LIVE_TRIES; tries++)
		if (live < 0 && !task_list(pid, &list))
			vec_each(&list.tids, tid)
				if (live < 0 && !task_ended(pid, *tid))
					live = *tid;
	vec_fini(&list.tids);
	return live;
}

pid_t task_proc(pid_t pid)
{
	pid_t live = task_live(pid);

	return live > 0 ? live : pid;
}

bool task_is_pmm(pid_t pid)
{
	char comm[32] = "";

	if (read_file(pid, pid, "comm", comm, sizeof(comm)) < 0)
		return true;
	comm[strcspn(comm, "\n")] = '\0';
	return !strcmp(comm, "pmm") || !strcmp(comm, TASK_WATCHDOG_NAME);
}

char task_sleeps_in(pid_t pid, pid_t tid, char *where, size_t room)
{
	if (read_file(pid, tid, "wchan", where, room) < 0 || !strcmp(where, "0"))
		where[0] = '\0';
	return task_state(pid, tid);
}

bool task_stopped(pid_t pid)
{
	return task_state(pid, pid) == 'T';
}

long task_syscall(pid_t pid, pid_t tid, uint64_t args[6], uint64_t *sp)
{
	char text[256];
	long nr;

	memset(args, 0, 6 * sizeof(args[0]));
	*sp = 0;
	if (read_file(pid, tid, "syscall", text, sizeof(text)) <= 0)
		return -2;
	if (!strncmp(text, "running", 7))
		return -1;
	if (sscanf(text,
		   "%ld 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64
		   " 0x%" SCNx64 " 0x%" SCNx64,
		   &nr, &args[0], &args[1], &args[2], &args[3], &args[4], &args[5], sp) == 8)
		return nr;
	return -2;
}
