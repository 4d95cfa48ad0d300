/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a killed pmm left in a process. Everything read is outside data.
 *
 * It is looked for and removed while all threads are stopped: a pmm that is about to attach holds a
 * thread from before it makes the first file until all is recorded, so then none is.
 */
#include "src/inject/leftover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "arch/regs_arch.h"
#include "include/pmm/ledger.h"
#include "src/base/vec.h"
#include "src/entries/attached.h"
#include "src/inject/memfile.h"
#include "src/proc/proc.h"
#include "src/proc/task.h"

#define LINK		"/memfd:" PMM_MEMFD_NAME
#define LINK_BYTES	64
#define WAIT_NS		2000000000ull	/* for threads to stop */
/* to find no thread at work in there, with pauses in between */
#define TRIES		50
#define SLEEP_NS	2000000

struct piece {
	uint64_t start, end;
};

struct leftover {
	pid_t pid;
	VEC(struct piece) known;	/* of agents */
	VEC(struct piece) pieces;	/* memory that belongs to no pmm */
	VEC(int) fds;
};

/* ---- files ---------------------------------------------------------------------------------- */

/* What says nothing of a file but that we could not look at it. */
static int unseen(int error)
{
	return err_is_want(-error) ? -error : 0;
}

/* Is it the file of a tree that another pmm was making, or has made, for this process? */
static bool abandoned(pid_t pid, int fd)
{
	struct pmm_tree tree;
	ssize_t n = pread(fd, &tree, sizeof(tree), 0);

	if (n <= 0)
		return n == 0;			/* made, and that was all */
	if (n != (ssize_t)sizeof(tree))
		return false;
	if (!tree.magic && !tree.flags)
		return true;			/* given its size, and that was all */
	/* else it watches another process itself */
	return tree.flags & PMM_TREE_ATTACHED && tree.monitor_pid != (uint32_t)pid;
}

static int look_at_file(struct leftover *l, int dir, const char *name)
{
	char link[LINK_BYTES] = "";
	int fd, left;

	if (readlinkat(dir, name, link, sizeof(link) - 1) < 0)
		return 0;
	if (memfile_link(link))
		return vec_push(&l->fds, atoi(name));
	if (strncmp(link, LINK, sizeof(LINK) - 1))
		return 0;
	fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return unseen(errno);
	left = abandoned(l->pid, fd);
	close(fd);
	return left > 0 ? vec_push(&l->fds, atoi(name)) : left;
}

static int files_find(struct leftover *l)
{
	const struct dirent *entry;
	char path[64];
	int rc = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)task_proc(l->pid));
	d = opendir(path);
	if (!d)
		rc = unseen(errno);
	while (d && !rc && (entry = readdir(d)))
		if (entry->d_name[0] != '.')
			rc = look_at_file(l, dirfd(d), entry->d_name);
	if (d)
		closedir(d);
	return rc;
}

/* ---- memory --------------------------------------------------------------------------------- */

static int note_known(struct leftover *l, const struct attached *a)
{
	int rc = vec_push(&l->known, (struct piece){ a->at, a->at + PMM_RECORD_BYTES });

	for (uint32_t i = 0; !rc && i < a->record.nr_ranges; i++) {
		const struct pmm_range *r = &a->record.range[i];

		if (r->use == PMM_RANGE_BLOB || r->use == PMM_RANGE_SLOTS)
			rc = vec_push(&l->known, (struct piece){ r->start, r->start + r->bytes });
	}
	return rc;
}

static bool is_known(const struct leftover *l, uint64_t at)
{
	vec_each(&l->known, k)
		if (at >= k->start && at < k->end)
			return true;
	return false;
}

static int memory_find(struct leftover *l)
{
	struct attached *a = malloc(sizeof(*a));
	struct attached_walk walk = { 0 };
	struct proc_maps maps = { 0 };
	int rc = a ? proc_maps_read(l->pid, &maps, NULL) : -ENOMEM, is = 0;

	while (!rc && (is = attached_next(l->pid, &maps, &walk, a)) > 0)
		rc = note_known(l, a);
	if (is < 0)
		rc = is;		/* where that is not clear nothing counts as abandoned */
	for (size_t i = 0; !rc && i < maps.nr; i++)
		if (memfile_mapped(&maps.v[i]) && !is_known(l, maps.v[i].start))
			rc = vec_push(&l->pieces, (struct piece){ maps.v[i].start, maps.v[i].end });
	proc_maps_fini(&maps);
	free(a);
	return rc;
}

static bool inside(const struct leftover *l, uint64_t at)
{
	vec_each(&l->pieces, p)
		if (at >= p->start && at < p->end)
			return true;
	return false;
}

/* Is a thread in the memory, or on it? */
static bool in_use(const struct leftover *l, const struct stopped *all)
{
	for (size_t i = 0; i < all->nr; i++)
		if (!all->v[i].ended &&
		    (inside(l, arch_pc(&all->v[i].regs)) ||
		     inside(l, arch_sp(&all->v[i].regs) - 1)))
			return true;
	return false;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int find(pid_t pid, struct leftover *l)
{
	int rc;

	*l = (struct leftover){ .pid = pid };
	rc = memory_find(l);
	return rc ? rc : files_find(l);
}

static void fini(struct leftover *l)
{
	vec_fini(&l->known);
	vec_fini(&l->pieces);
	vec_fini(&l->fds);
}

static bool seen(pid_t pid)
{
	struct leftover l;
	bool any = find(pid, &l) || l.pieces.nr || l.fds.nr;

	fini(&l);
	return any;
}

static int clear(struct remote *r, void *arg, struct err *e)
{
	const struct leftover *l = arg;
	int64_t result;
	int rc = 0;

	for (size_t i = 0; !rc && i < l->pieces.nr; i++)
		rc = remote_syscall(
			r, SYS_munmap,
			(const uint64_t[6]){ l->pieces.v[i].start,
					     l->pieces.v[i].end - l->pieces.v[i].start },
			&result, e);
	for (size_t i = 0; !rc && i < l->fds.nr; i++)
		rc = remote_syscall(r, SYS_close, (const uint64_t[6]){ (uint64_t)l->fds.v[i] },
				    &result, e);
	return rc;
}

/*
 * One attempt. Number of things removed; -EINPROGRESS: a thread is at work in there for a pmm that
 * was killed. Once none is, none comes back.
 */
static int try_remove(pid_t pid, struct err *e)
{
	struct stopped all;
	struct leftover l;
	int rc = stop_all(pid, WAIT_NS, &all, e);

	if (rc)
		return rc;
	rc = find(pid, &l);
	if (rc)
		attached_unclear(pid, rc, e);
	if (!rc && in_use(&l, &all))
		rc = -EINPROGRESS;
	if (!rc && (l.pieces.nr || l.fds.nr))
		rc = remote_by_any(&all, clear, &l, e);
	if (!rc)
		rc = (int)(l.pieces.nr + l.fds.nr);
	stop_resume(&all);
	fini(&l);
	return rc;
}

int leftover_remove(pid_t pid, struct err *e)
{
	if (!seen(pid))
		return 0;
	for (unsigned tries = 0; tries < TRIES; tries++) {
		int rc = try_remove(pid, e);

		if (rc != -EINPROGRESS && rc != -EAGAIN)
			return rc;
		nanosleep(&(struct timespec){ .tv_nsec = SLEEP_NS }, NULL);
	}
	return err_set(
		e, -EAGAIN,
		"a thread of process %d still works for a pmm that was killed; try again",
		(int)pid);
}

