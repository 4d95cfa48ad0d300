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

#define FILE_BYTES	4096
#define LINE_BYTES	128	/* as much of a line of status as is looked at */
#define PATH_BYTES	256
#define KIB		1024u
#define STATE		3	/* fields of stat */
#define MINOR_FAULTS	10
#define MAJOR_FAULTS	12
#define USER_TIME	14
#define SYSTEM_TIME	15
#define THREADS		20
#define START_TIME	22

/* Has this kernel, which made the folder of the process, such a file at all? */
static bool there_is(const char *root, const char *name)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/proc/self/%s", root, name);
	return !access(path, F_OK);
}

/* A descriptor or -errno. */
static int open_file(const char *root, pid_t pid, const char *name)
{
	char path[PATH_BYTES];
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s/proc/%d/%s", root, (int)pid, name) >=
	    sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return there_is(root, name) ? -ESRCH : -ENOENT;
	return fd < 0 ? -errno : fd;
}

/* All of a small file, NUL-terminated. 0 or -errno. */
static int read_file(const char *root, pid_t pid, const char *name, char text[FILE_BYTES])
{
	const int fd = open_file(root, pid, name);
	size_t all = 0;
	ssize_t n;
	int rc = 0;

	if (fd < 0)
		return fd;
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
	f->start_ticks = number(text, START_TIME);
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

struct status {
	uint64_t resident, anon, file, shmem, swap;
	bool has_resident, has_kinds, ended;
};

static void status_line(const char *line, struct status *s)
{
	if (find_size(line, "VmRSS", &s->resident))
		s->has_resident = true;
	else if (find_size(line, "RssShmem", &s->shmem))	/* the last of the three */
		s->has_kinds = true;
	else if (!find_size(line, "RssAnon", &s->anon) && !find_size(line, "RssFile", &s->file) &&
		 !find_size(line, "VmSwap", &s->swap))
		s->ended |= !strncmp(line, "State:\tZ", 8) || !strncmp(line, "State:\tX", 8);
}

int process_figures_status(const char *root, pid_t pid, struct process_figures *f)
{
	const int fd = open_file(root, pid, "status");
	struct status s = { 0 };	/* a kernel without swap has no VmSwap */
	char line[LINE_BYTES];
	bool begins = true, any = false;
	FILE *file;
	int rc;

	if (fd < 0)
		return fd;
	file = fdopen(fd, "r");
	if (!file) {
		close(fd);
		return -ENOMEM;
	}
	/* the line of its groups, before those of its memory, may be of any length */
	for (errno = 0; fgets(line, sizeof(line), file); begins = strchr(line, '\n')) {
		any = true;
		if (begins)
			status_line(line, &s);
	}
	rc = ferror(file) ? -errno : 0;
	fclose(file);
	if (rc || !any || (s.ended && !s.has_resident))
		return rc ? rc : -ESRCH;
	if (!s.has_resident || !s.has_kinds)
		return -ENOENT;
	f->anon_bytes = s.anon;
	f->file_bytes = s.file;
	f->shmem_bytes = s.shmem;
	f->swap_bytes = s.swap;
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
