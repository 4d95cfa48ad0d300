/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process seen from outside, through /proc. */
#include "src/proc/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/vec.h"
#include "src/proc/task.h"

#define MAX_FILE_BYTES	(64u << 20)	/* of a file of /proc; maps of 262144 lines stay below */
#define KEPT_BELOW	32		/* descriptors that are kept only to be quick */
#define STAT_START_TIME	22		/* proc(5) */
#define MAX_THREADS	4194304		/* PID_MAX_LIMIT */

/* What a missing /proc file or vanished process is called. */
static int gone(int err)
{
	return err == ENOENT || err == ESRCH ? -ESRCH : -err;
}

/* A whole file of /proc with a NUL behind it, caller frees; its length or -errno. */
static ssize_t read_all(const char *path, char **out)
{
	VEC(char) text = { 0 };
	ssize_t n = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return gone(errno);
	do {
		if (vec_reserve(&text, text.nr + 4096)) {
			n = -ENOMEM;
			break;
		}
		n = read(fd, text.v + text.nr, text.room - text.nr - 1);
		if (n < 0)
			n = errno == EINTR ? 1 : gone(errno);
		else
			text.nr += (size_t)n;
	} while (n > 0 && text.nr < MAX_FILE_BYTES);
	close(fd);
	if (n < 0) {
		vec_fini(&text);
		return n;
	}
	text.v[text.nr] = '\0';
	*out = text.v;
	return (ssize_t)text.nr;
}

static ssize_t read_proc(pid_t pid, const char *file, char **out)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	return read_all(path, out);
}

static int read_comm(const char *path, char comm[PROC_COMM_BYTES])
{
	ssize_t n = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = errno;

	if (fd >= 0) {
		n = read(fd, comm, PROC_COMM_BYTES - 1);
		err = errno;
		close(fd);
	}
	if (n < 0)
		return gone(err);
	comm[n] = '\0';
	comm[strcspn(comm, "\n")] = '\0';
	return 0;
}

int proc_comm(pid_t pid, char comm[PROC_COMM_BYTES])
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	return read_comm(path, comm);
}

int proc_thread_comm(pid_t pid, pid_t tid, char comm[PROC_COMM_BYTES])
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	return read_comm(path, comm);
}

bool proc_alive(pid_t pid)
{
	return pid > 0 && task_live(pid) > 0;
}

int proc_start_time(pid_t pid, uint64_t *ticks)
{
	return task_stat(pid, pid, STAT_START_TIME, ticks);
}

uint64_t proc_clock_offset(pid_t pid)
{
	long long seconds = 0, ns = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/timens_offsets", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "monotonic %lld %lld", &seconds, &ns) != 2)
		seconds = ns = 0;
	fclose(f);
	return (uint64_t)seconds * 1000000000u + (uint64_t)ns;
}

static uint64_t read_rss(int fd)
{
	char statm[128];
	ssize_t n = fd >= 0 ? pread(fd, statm, sizeof(statm) - 1, 0) : -1;
	char *second;

	if (n <= 0)
		return 0;
	statm[n] = '\0';
	second = strchr(statm, ' ');
	return second ? strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* The file shows the memory of one thread, of which there is none once that has ended. */
int proc_rss(pid_t pid, int *fd, uint64_t *bytes)
{
	char path[64];

	*bytes = read_rss(*fd);
	if (*bytes)
		return 0;
	if (*fd >= 0)
		close(*fd);
	snprintf(path, sizeof(path), "/proc/%d/statm", (int)task_proc(pid));
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	*bytes = read_rss(*fd);
	return *bytes ? 0 : -ESRCH;
}

static uint64_t peak_in(const char *status)
{
	const char *line = strstr(status, "\nVmHWM:");

	return line ? strtoull(line + 7, NULL, 10) * 1024 : 0;
}

/* 0: it has none, as an ended thread. */
static uint64_t peak_rss_of(pid_t pid)
{
	char *status = NULL;
	uint64_t bytes;

	if (read_proc(pid, "status", &status) < 0)
		return 0;
	bytes = peak_in(status);
	free(status);
	return bytes;
}

/* The same by a descriptor, unless the list of groups, before it, is long. */
static uint64_t peak_rss_at(int fd)
{
	char status[4096];
	ssize_t n = fd >= 0 ? pread(fd, status, sizeof(status) - 1, 0) : -1;

	if (n <= 0)
		return 0;
	status[n] = '\0';
	return peak_in(status);
}

/* The first thread may have ended before the others: looking for one that lives costs as much. */
uint64_t proc_peak_rss(pid_t pid, int *fd)
{
	char path[64];
	uint64_t peak;
	pid_t live;

	if (*fd < 0) {
		snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
		*fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	peak = peak_rss_at(*fd);
	if (*fd >= KEPT_BELOW) {
		close(*fd);
		*fd = -1;
	}
	if (peak)
		return peak;
	live = task_proc(pid);
	return live == pid ? peak_rss_of(pid) : peak_rss_of(live);
}

/* The last number of the line "NSpid:\t17\t1" of a status file. */
static pid_t innermost_pid(const char *path)
{
	char *status = NULL;
	const char *p;
	long last = -ESRCH;
	ssize_t n = read_all(path, &status);

	if (n < 0)
		return (pid_t)n;
	p = strstr(status, "\nNSpid:");
	if (p) {
		p += strlen("\nNSpid:");
		while (*p == '\t' || *p == ' ') {
			char *end;
			long value = strtol(p, &end, 10);

			if (end == p)
				break;
			last = value;
			p = end;
		}
	}
	free(status);
	return (pid_t)last;
}

pid_t proc_ns_pid(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return innermost_pid(path);
}

/* "7f00-7f01 r-xp 00001000 08:01 123   /path": 0, or -EINVAL when it is no such line. */
static int parse_map(char *line, struct proc_map *m)
{
	char perms[5] = "";
	int at = 0;

	*m = (struct proc_map){ 0 };
	if (sscanf(line,
		   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 " %n",
		   &m->start, &m->end, perms, &m->offset, &m->dev_major, &m->dev_minor, &m->ino,
		   &at) < 7)
		return -EINVAL;
	m->perms = (perms[0] == 'r' ? PROC_MAP_READ : 0) | (perms[1] == 'w' ? PROC_MAP_WRITE : 0) |
		   (perms[2] == 'x' ? PROC_MAP_EXEC : 0) | (perms[3] == 's' ? PROC_MAP_SHARED : 0);
	m->path = strdup(at ? line + at : "");
	return m->path ? 0 : -ENOMEM;
}

int proc_maps_parse(char *text, struct proc_maps *maps)
{
	VEC(struct proc_map) v = { 0 };
	char *line, *rest = text;
	int rc = 0;

	while (!rc && v.nr < PROC_MAX_MAPS && (line = strsep(&rest, "\n"))) {
		struct proc_map m;

		rc = parse_map(line, &m);
		if (rc == -EINVAL) {
			rc = 0;
			continue;
		}
		if (!rc && vec_push(&v, m)) {
			free(m.path);
			rc = -ENOMEM;
		}
	}
	maps->v = v.v;
	maps->nr = v.nr;
	if (rc)
		proc_maps_fini(maps);
	return rc;
}

size_t proc_auxv(pid_t pid, void *to, size_t bytes)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)task_proc(pid));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, to, bytes);
	close(fd);
	return n > 0 ? (size_t)n : 0;
}

void proc_denied_hint(struct err *e)
{
	if (geteuid())
		err_hint(e, "run as the user the process belongs to, or as root");
	else
		err_hint(e, "root of a container may lack CAP_SYS_PTRACE; start that with "
			    "--cap-add=SYS_PTRACE, or run pmm outside of it");
}

int proc_maps_read(pid_t pid, struct proc_maps *maps, struct err *e)
{
	char *text = NULL;
	ssize_t rc = read_proc(task_proc(pid), "maps", &text);

	*maps = (struct proc_maps){ 0 };
	if (rc >= 0) {
		rc = proc_maps_parse(text, maps);
		free(text);
	}
	if (rc == -ESRCH)
		err_set(e, -ESRCH, "no process %d", pid);
	else if (rc < 0)
		err_set(e, (int)rc, "cannot read the mappings of process %d: %s", pid,
			strerror((int)-rc));
	if (rc == -EACCES || rc == -EPERM)
		proc_denied_hint(e);
	return (int)rc;
}

void proc_maps_fini(struct proc_maps *maps)
{
	for (size_t i = 0; i < maps->nr; i++)
		free(maps->v[i].path);
	free(maps->v);
	*maps = (struct proc_maps){ 0 };
}

static struct proc_thread thread_read(pid_t pid, pid_t tid)
{
	struct proc_thread t = { .tid = tid };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	t.ns_tid = innermost_pid(path);
	if (t.ns_tid < 0)
		t.ns_tid = tid;
	if (proc_thread_comm(pid, tid, t.comm))
		t.comm[0] = '\0';
	return t;
}

ssize_t proc_threads(pid_t pid, struct proc_thread **threads)
{
	VEC(struct proc_thread) v = { 0 };
	struct dirent *entry;
	char path[64];
	int rc = 0;
	pid_t tid;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return gone(errno);
	while (!rc && v.nr < MAX_THREADS && (entry = readdir(dir)))
		if ((tid = proc_parse_pid(entry->d_name)))
			rc = vec_push(&v, thread_read(pid, tid));
	closedir(dir);
	if (rc) {
		vec_fini(&v);
		return rc;
	}
	*threads = v.v;
	return (ssize_t)v.nr;
}
