/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From /proc, of processes that may be gone. */
#include "src/kernel/perf/perf_exec.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/base/nanotime.h"
#include "src/proc/proc.h"
#include "src/proc/task.h"

#define NS	1000000000ull

void perf_exec_comm(pid_t pid, pid_t tid, char comm[TRACE_COMM_BYTES])
{
	char name[PROC_COMM_BYTES] = "";

	memset(comm, 0, TRACE_COMM_BYTES);
	if (!proc_thread_comm(pid, tid, name))
		memcpy(comm, name, strnlen(name, TRACE_COMM_BYTES - 1));
}

/* It may have executed something else by now. */
static int executes(pid_t pid, const char *path)
{
	char link[64], target[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, target, sizeof(target));
	return n > 0 && (size_t)n == strlen(path) && !memcmp(target, path, (size_t)n);
}

static size_t read_arguments(pid_t pid, char *to, size_t room, uint32_t *flags)
{
	char name[64], more;
	ssize_t n = -1;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/cmdline", (int)pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		n = read(fd, to, room);
	if (n <= 0 || (n == (ssize_t)room && read(fd, &more, 1) > 0))
		*flags |= TRACE_CUT;
	if (fd >= 0)
		close(fd);
	return n > 0 ? (size_t)n : 0;
}

size_t perf_exec_text(char text[TRACE_TEXT_MAX], pid_t pid, const char *path, uint32_t *flags)
{
	size_t n, room = TRACE_TEXT_MAX - TRACE_TEXT_SECOND;

	memset(text, 0, TRACE_TEXT_MAX);
	memcpy(text, path, strnlen(path, TRACE_TEXT_SECOND - 1));
	if (!executes(pid, path)) {
		*flags |= TRACE_CUT;
		return TRACE_TEXT_SECOND;
	}
	n = read_arguments(pid, text + TRACE_TEXT_SECOND, room, flags);
	return TRACE_TEXT_SECOND + n;
}

#define STAT_PARENT	4	/* proc_pid_stat(5) */

pid_t perf_exec_parent(pid_t pid)
{
	uint64_t parent;

	return task_stat(pid, pid, STAT_PARENT, &parent) ? 0 : (pid_t)parent;
}

/* /proc counts from the boot on, suspended or not. */
uint64_t perf_exec_start(pid_t pid)
{
	struct timespec boot;
	uint64_t ticks, since;

	if (proc_start_time(pid, &ticks) || clock_gettime(CLOCK_BOOTTIME, &boot))
		return 0;
	since = (uint64_t)boot.tv_sec * NS + (uint64_t)boot.tv_nsec;
	ticks = ticks * (NS / (uint64_t)sysconf(_SC_CLK_TCK));
	return since > ticks && nanotime() > since - ticks ? nanotime() - (since - ticks) : 0;
}
