/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of /proc/PID, see proc(5). */
#include "src/proc/process_figures.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* of status, on machines of hundreds of nodes, the last lines are more: not asked for */
#define FILE_BYTES	4096
#define PATH_BYTES	256
#define KIB		1024u
#define STATE		3	/* fields of stat */
#define MINOR_FAULTS	10
#define MAJOR_FAULTS	12
#define USER_TIME	14
#define SYSTEM_TIME	15
#define THREADS		20

/* Has this kernel, which made the folder of the process, such a file at all? */
static bool there_is(const char *root, const char *name)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/proc/self/%s", root, name);
	return !access(path, F_OK);
}

/* All of a small file, NUL-terminated. 0 or -errno. */
static int read_file(const char *root, pid_t pid, const char *name, char text[FILE_BYTES])
{
	char path[PATH_BYTES];
	size_t all = 0;
	ssize_t n;
	int fd, rc = 0;

	if ((size_t)snprintf(path, sizeof(path), "%s/proc/%d/%s", root, (int)pid, name) >=
	    sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return there_is(root, name) ? -ESRCH : -ENOENT;
	if (fd < 0)
		return -errno;
	while (all < FILE_BYTES - 1 && (n = read(fd, text + all, FILE_BYTES - 1 - all))) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			rc = -errno;
			break;
		}
		all += (size_t)n;
	}
	close(fd);
	text[all] = '\0';
	return rc ? rc : all ? 0 : -ESRCH;
}

/* Behind the name, which may hold anything, fields are counted from the last ')'. */
static const char *field(const char *stat, unsigned number)
{
	const char *p = strrchr(stat, ')');

	for (unsigned at = 2; p && at < number; at++) {
		p = strchr(p, ' ');
		if (p)
			p++;
	}
	return p;
}

static uint64_t number(const char *stat, unsigned at)
{
	const char *p = field(stat, at);

	return p ? strtoull(p, NULL, 10) : 0;
}

static uint64_t time_ns(const char *stat, unsigned at)
{
	const long hz = sysconf(_SC_CLK_TCK);

	return number(stat, at) * (1000000000u / (hz > 0 ? (uint64_t)hz : 100));
}

int process_figures_stat(const char *root, pid_t pid, struct process_figures *f)
{
	char text[FILE_BYTES];
	const char *state;
	int rc = read_file(root, pid, "stat", text);

	if (rc)
		return rc;
	state = field(text, STATE);
	if (!state || !field(text, THREADS))
		return -ENOENT;
	f->minor_faults = number(text, MINOR_FAULTS);
	f->major_faults = number(text, MAJOR_FAULTS);
	f->user_ns = time_ns(text, USER_TIME);
	f->system_ns = time_ns(text, SYSTEM_TIME);
	f->threads = (uint32_t)number(text, THREADS);
	/* of a process whose first thread alone has ended others are counted still */
	if ((*state == 'Z' || *state == 'X') && f->threads <= 1)
		f->threads = 0;
	return 0;
}

/* "NAME:  123 kB" at the start of a line. */
static bool find_size(const char *text, const char *name, uint64_t *bytes)
{
	const size_t length = strlen(name);
	const char *p = text;

	while (p && (strncmp(p, name, length) || p[length] != ':')) {
		p = strchr(p, '\n');
		if (p)
			p++;
	}
	if (p)
		*bytes = strtoull(p + length + 1, NULL, 10) * KIB;
	return p;
}

int process_figures_status(const char *root, pid_t pid, struct process_figures *f)
{
	char text[FILE_BYTES];
	uint64_t resident;
	int rc = read_file(root, pid, "status", text);

	if (rc)
		return rc;
	if (!find_size(text, "VmRSS", &resident))
		return -ESRCH;
	if (!find_size(text, "RssAnon", &f->anon_bytes) ||
	    !find_size(text, "RssFile", &f->file_bytes) ||
	    !find_size(text, "RssShmem", &f->shmem_bytes))
		return -ENOENT;
	if (!find_size(text, "VmSwap", &f->swap_bytes))	/* a kernel without swap */
		f->swap_bytes = 0;
	return 0;
}

int process_figures_rollup(const char *root, pid_t pid, struct process_figures *f)
{
	char text[FILE_BYTES];
	int rc = read_file(root, pid, "smaps_rollup", text);

	if (rc)
		return rc;
	return find_size(text, "Pss", &f->pss_bytes) ? 0 : -ENOENT;
}
