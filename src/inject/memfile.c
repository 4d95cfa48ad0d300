/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory files that a process is made to make and to map. */
#include "src/inject/memfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/str.h"
#include "src/ptrace/stop.h"
#include "src/proc/task.h"

#ifndef PIDFD_THREAD
#define PIDFD_THREAD	O_EXCL
#endif

#define LINK		"/memfd:" PMM_AGENT_NAME

/*
 * A copy of a descriptor of the process, with the access that the process has to it: opening it
 * through /proc would be done with our rights, and other threads of the process run and can put any
 * file in its place. pidfd_getfd(2), Linux 5.6; of a process whose first thread has ended Linux
 * 6.9.
 */
static int take_fd(pid_t pid, int fd)
{
	const pid_t live = task_proc(pid);
	int pidfd = (int)syscall(SYS_pidfd_open, live, live == pid ? 0 : PIDFD_THREAD), copy, rc;

	if (pidfd < 0)
		return -errno;
	copy = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	rc = copy < 0 ? -errno : copy;
	close(pidfd);
	return rc;
}

/*
 * Is it the file that was just made: a memory file of that name, empty, unsealed? Nothing else may
 * be sized and written.
 */
static bool is_fresh(int fd, const char *name)
{
	char path[64], want[64], link[64];
	struct stat st;
	ssize_t n, length = snprintf(want, sizeof(want), "/memfd:%s (deleted)", name);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, link, sizeof(link));
	return n == length && !memcmp(link, want, (size_t)n) && !fstat(fd, &st) &&
	       S_ISREG(st.st_mode) && !st.st_size && !st.st_nlink && fcntl(fd, F_GET_SEALS) == 0;
}

void memfile_hint_full(pid_t pid, int rc, struct err *e)
{
	if (rc == -EMFILE)
		err_hint(e,
			 "all its file descriptors are in use, and pmm needs one for a moment: "
			 "raise its limit (prlimit --pid %d --nofile=NUMBER)",
			 (int)pid);
	else if (rc == -ENFILE)
		err_hint(e, "the machine's open files are too many (sysctl fs.file-max)");
}

static int not_made(pid_t pid, int rc, struct err *e)
{
	err_set(e, rc, "process %d cannot make a memory file: %s", (int)pid, strerror(-rc));
	memfile_hint_full(pid, rc, e);
	return rc;
}

static int not_taken(pid_t pid, int rc, struct err *e)
{
	err_set(e, rc, "cannot take a memory file out of process %d: %s", (int)pid, strerror(-rc));
	if (rc == -EINVAL)
		err_hint(e,
			 "its first thread has ended; to attach to such a process takes Linux 6.9");
	return rc;
}

int memfile_make(pid_t pid, struct remote *r, const char *name, int64_t *theirs, int *ours,
		 struct err *e)
{
	uint64_t name_at = remote_scratch(r);
	int64_t made;
	int rc = stop_write(pid, name_at, name, strlen(name) + 1);

	*theirs = -1;
	*ours = -1;
	if (rc)
		return err_set(e, rc, "the stack of a thread of process %d cannot be written: %s",
			       (int)pid, strerror(-rc));
	rc = remote_syscall(r, SYS_memfd_create,
			    (const uint64_t[6]){ name_at, MFD_CLOEXEC | MFD_ALLOW_SEALING }, &made,
			    e);
	if (rc)
		return rc;
	if (made < 0)
		return not_made(pid, (int)made, e);
	*theirs = made;
	rc = take_fd(pid, (int)made);
	if (rc < 0)
		return not_taken(pid, rc, e);
	*ours = rc;
	return is_fresh(*ours, name)
		       ? 0
		       : err_set(e, -EPROTO, "process %d put another file in the place of pmm's",
				 (int)pid);
}

static int map(pid_t pid, struct remote *r, int64_t theirs, uint64_t bytes, int prot, uint64_t *at,
	       struct err *e)
{
	int64_t result;
	int rc = remote_syscall(r, SYS_mmap,
				(const uint64_t[6]){ *at, bytes, (uint64_t)prot,
						     MAP_PRIVATE | (*at ? MAP_FIXED_NOREPLACE : 0),
						     (uint64_t)theirs, PMM_AGENT_OFF },
				&result, e);

	if (rc)
		return rc;
	if (result < 0 && result > -4096) {
		err_set(e, (int)result, "process %d cannot map memory: %s", (int)pid,
			strerror((int)-result));
		if (result == -ENOMEM)
			err_hint(e,
				 "its limits on memory or address space leave no room (see "
				 "/proc/%d/limits)",
				 (int)pid);
		return (int)result;
	}
	if (!*at || *at == (uint64_t)result) {
		*at = (uint64_t)result;
		return 0;
	}
	/* before Linux 4.17 */
	remote_syscall(r, SYS_munmap, (const uint64_t[6]){ (uint64_t)result, bytes }, &result,
		       NULL);
	return err_set(e, -EEXIST, "process %d has something else there", (int)pid);
}

/* Private mappings continue to be written to: their pages are copies. */
static int seal(pid_t pid, int fd, struct err *e)
{
	if (!fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL))
		return 0;
	return err_set(e, -errno, "a memory file of process %d is in use by another process: %s",
		       (int)pid, strerror(errno));
}

int memfile_map(pid_t pid, struct remote *r, const char *name, uint64_t bytes, int prot,
		uint64_t *at, int *fd, struct err *e)
{
	int64_t theirs, result;
	int ours, rc = memfile_make(pid, r, name, &theirs, &ours, e);

	if (!rc && ftruncate(ours, (off_t)(PMM_AGENT_OFF + bytes)))
		rc = err_set(e, -errno, "no memory for the agent: %s", strerror(errno));
	if (!rc && !fd)
		rc = seal(pid, ours, e);
	if (!rc)
		rc = map(pid, r, theirs, bytes, prot, at, e);
	if (theirs >= 0)
		remote_syscall(r, SYS_close, (const uint64_t[6]){ (uint64_t)theirs }, &result,
			       NULL);
	if (ours >= 0 && (rc || !fd))
		close(ours);
	if (fd)
		*fd = rc ? -1 : ours;
	return rc;
}

/* Is what was written still there? */
static int compare(pid_t pid, int fd, const void *contents, size_t bytes, struct err *e)
{
	void *now = malloc(bytes);
	ssize_t n = now ? pread(fd, now, bytes, PMM_AGENT_OFF) : -1;
	bool same = n == (ssize_t)bytes && !memcmp(now, contents, bytes);

	free(now);
	if (!now)
		return err_set(e, -ENOMEM, "out of memory");
	return same ? 0
		    : err_set(e, -EPROTO, "process %d has written to pmm's memory file", (int)pid);
}

int memfile_fill(pid_t pid, int fd, const void *contents, size_t bytes, struct err *e)
{
	int rc;

	if (pwrite(fd, contents, bytes, PMM_AGENT_OFF) != (ssize_t)bytes)
		return err_set(e, errno ? -errno : -ENOSPC, "no memory for the agent: %s",
			       strerror(errno));
	rc = seal(pid, fd, e);
	return rc ? rc : compare(pid, fd, contents, bytes, e);
}

bool memfile_mapped(const struct proc_map *m)
{
	return m->offset && str_starts(m->path, LINK);
}

bool memfile_link(const char *link)
{
	return str_starts(link, LINK);
}
