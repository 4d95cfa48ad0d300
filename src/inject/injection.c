/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent put into a running process.
 *
 * First, all threads being stopped for a moment, memory for the record and the ledger (reserve.h).
 * Then with one thread only: it is made to map memory for the agent and to call inject_start(), and
 * the jumps are prepared. Then all threads are stopped for as long as it takes to write the jumps.
 * If we die in between, nothing of the program was changed; what is mapped is found and taken out
 * by the next pmm.
 */
#include "src/inject/injection.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "include/pmm/ledger.h"
#include "src/base/io.h"
#include "src/entries/attached.h"
#include "src/inject/eject.h"
#include "src/inject/image.h"
#include "src/inject/leftover.h"
#include "src/inject/maps_text.h"
#include "src/inject/memfile.h"
#include "src/inject/patch.h"
#include "src/inject/reserve.h"
#include "src/proc/proc.h"
#include "src/proc/task.h"

#define STRINGS_OFF	1024u
#define ONE_WAIT_NS	2000000000ull
#define ALL_WAIT_NS	2000000000ull
#define START_WAIT_NS	5000000000ull
#define READY_TRIES	50
#define MAX_LEFT	8
#define READY_SLEEP_NS	2000000
#define WAY_TRIES	8

struct job {
	pid_t pid;
	const struct inject_options *o;
	struct image image;
	struct attached a;
	struct stopped one;
	struct remote *remote;
	struct pmm_inject_args args;
	uint64_t args_at;
	uint64_t index_off;	/* of the program's unwind information in the image, 0 = none */
	int tree_fd;		/* the ledger's file */
	/* the agent has written down what it mapped, and that cannot be read just now */
	bool unread;
};

static void sleep_ns(long ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

/* ---- one at a time -------------------------------------------------------------------------- */

/* Another pmm's jumps, put there at the same time as ours: all threads are stopped. */
static bool outdone(const struct attached *a)
{
	struct attached *other = malloc(sizeof(*other));
	struct attached_walk walk = { 0 };
	struct proc_maps maps = { 0 };
	bool found = !other || proc_maps_read(a->pid, &maps, NULL);
	int is = 0;

	while (!found && (is = attached_next(a->pid, &maps, &walk, other)) > 0)
		for (uint32_t k = 0; k < other->record.nr_patches && other->at != a->at &&
				     other->record.generation >= a->record.generation;
		     k++)
			found |= other->record.patch[k].applied;
	proc_maps_fini(&maps);
	free(other);
	return found || is < 0;
}

/* No other pmm has taken the process over, or attached to it, since we held a thread of it last. */
static int still_ours(const struct attached *a, uint64_t owner, struct err *e)
{
	if (attached_is_of(a, owner) && !outdone(a))
		return 0;
	err_set(e, -EBUSY,
		"another pmm has attached to process %d or detached from it at the same time",
		(int)a->pid);
	err_hint(e,
		 "'pmm report %d' shows what that one finds; to watch it from here, end that one "
		 "or use 'pmm detach %d', and attach again",
		 (int)a->pid, (int)a->pid);
	return -EBUSY;
}

/* ---- what the thread is made to do ---------------------------------------------------------- */

/* A system call that must not fail. */
static int must(struct job *j, long nr, const uint64_t args[6], const char *what, int64_t *result,
		struct err *e)
{
	int rc = remote_syscall(j->remote, nr, args, result, e);

	if (rc)
		return rc;
	if (*result >= 0 || *result < -4095)
		return 0;
	err_set(e, (int)*result, "process %d cannot %s: %s", (int)j->pid, what,
		strerror((int)-*result));
	memfile_hint_full(j->pid, (int)*result, e);
	if (*result == -ENOMEM)
		err_hint(
			e,
			"its limits on memory or address space leave no room (see /proc/%d/limits)",
			(int)j->pid);
	return (int)*result;
}

/* Memory for image, arguments and stack, one after the other; the image in place. */
static int map_image(struct job *j, struct err *e)
{
	uint64_t bytes = j->image.nr_bytes + IMAGE_ROOM_BYTES, at = 0;
	int64_t result;
	int fd, rc = memfile_map(j->pid, j->remote, PMM_AGENT_NAME, bytes, PROT_READ | PROT_WRITE,
				 &at, &fd, e);

	if (rc)
		return rc;
	rc = attached_range(&j->a, PMM_RANGE_BLOB, at, bytes);
	j->args_at = at + j->image.nr_bytes;
	image_place(&j->image, at);
	j->a.record.call_at = at + j->image.call;
	j->a.record.stack_end = j->args_at + IMAGE_ROOM_BYTES;
	if (!rc)
		rc = memfile_fill(j->pid, fd, j->image.bytes, j->image.nr_bytes, e);
	close(fd);
	for (unsigned i = 0; !rc && i < j->image.nr_parts; i++)
		rc = must(j, SYS_mprotect,
			  (const uint64_t[6]){ at + j->image.part[i].offset, j->image.part[i].bytes,
					       (uint64_t)j->image.part[i].prot },
			  "make memory executable", &result, e);
	if (rc == -EACCES)
		err_hint(e, "it was forbidden that (systemd's MemoryDenyWriteExecute=, "
			    "prctl(PR_SET_MDWE), SELinux): allow it, or start the program with "
			    "'pmm run'");
	return rc;
}

static int record_write(struct job *j, struct err *e)
{
	int rc = attached_store(&j->a);

	return rc ? err_set(e, rc, "the memory of process %d cannot be written: %s", (int)j->pid,
			    strerror(-rc))
		  : 0;
}

/* What fails once may be had in another way. */
static int record_read(struct job *j, struct err *e)
{
	int rc = attached_reread(&j->a);

	rc = rc > 0 ? 0 : rc ? rc : -ENOENT;
	j->unread = rc != 0;
	return rc ? err_set(e, rc, "the memory of process %d cannot be read: %s", (int)j->pid,
			    strerror(-rc))
		  : 0;
}

static int start_failed(const struct job *j, struct err *e)
{
	switch ((enum pmm_off_reason)j->args.error) {
	case PMM_OFF_NO_MEMORY:
		return reserve_no_room(j->pid, e);
	case PMM_OFF_NO_SLOT:
		return err_set(e, -ENOSPC, "no ledger is free for process %d", (int)j->pid);
	default:
		return err_set(e, -EPROTO, "the agent did not start in process %d (reason %d)",
			       (int)j->pid, j->args.error);
	}
}

static int start_agent(struct job *j, struct err *e)
{
	const struct entries *found = j->o->entries;
	char path[IMAGE_ARGS_BYTES - STRINGS_OFF];
	int64_t result;
	int rc;

	snprintf(path, sizeof(path), "%s", found->allocator_path ? found->allocator_path : "");
	j->args = (struct pmm_inject_args){
		.version = PMM_INJECT_VERSION,
		.tree_start = j->a.tree,
		.tree_bytes = j->a.end - j->a.tree,
		.limit_raised_bytes = j->a.record.limit_raised_bytes,
		.limit_most_raised = j->a.record.limit_most_to != 0,
		.record = j->a.at,
		.dense = found->dense,
		.single_threaded = found->single_threaded,
		.find_object = found->find_object,
		.vdso_clock = found->vdso_clock,
		.mallinfo2 = found->mallinfo2,
		.allocator_path = *path ? j->args_at + STRINGS_OFF : 0,
	};
	if (j->index_off) {
		j->args.frames_start = found->frames.start;
		j->args.frames_end = found->frames.end;
		j->args.index = j->image.base + j->index_off;
		j->args.index_bytes = found->frames.nr_bytes;
	}
	maps_text_put(j->pid, j->tree_fd, &j->args);
	rc = stop_write(j->pid, j->args_at + STRINGS_OFF, path, sizeof(path));
	if (!rc)
		rc = stop_write(j->pid, j->args_at, &j->args, sizeof(j->args));
	remote_use_code(j->remote, j->a.record.call_at);
	if (!rc)
		rc = remote_call(j->remote, j->image.base + j->image.start, j->args_at,
				 j->args_at + IMAGE_ROOM_BYTES, START_WAIT_NS, &result, e);
	if (!rc)
		rc = stop_read(j->pid, j->args_at, &j->args, sizeof(j->args));
	maps_text_remove(j->tree_fd, &j->args);
	if (!rc && j->args.error)
		j->a.tree = j->a.end = 0;	/* it has unmapped all */
	if (rc || j->args.error)
		return rc ? rc : start_failed(j, e);
	rc = record_read(j, e);
	if (rc)
		return rc;
	j->a.ledger = j->a.record.ledger_at;
	if (found->guards && !j->a.record.rest_at)
		return err_set(e, -ENOMEM,
			       "there is no address space for guarded blocks in process %d",
			       (int)j->pid);
	return 0;
}

/*
 * One thread does all that can be done while the others run. What reserve() has made is gone
 * afterwards if it fails.
 */
static int prepare(struct job *j, struct inject_result *r, struct err *e)
{
	int rc = stop_one(j->pid, ONE_WAIT_NS, &j->one, e), made = 0;

	if (rc)
		return rc;
	rc = still_ours(&j->a, r->owner, e);
	if (!rc)
		rc = remote_open(&j->one, 0, &j->remote, e);
	if (!rc)
		rc = map_image(j, e);
	if (!rc)
		rc = record_write(j, e);
	if (!rc)
		rc = start_agent(j, e);
	if (!rc) {
		made = patch_prepare(&j->a, j->remote, &j->image, 0, j->o->entries, e);
		rc = made < 0 ? made : record_write(j, e);
	}
	if (!rc && !made)
		rc = err_set(e, -ENOTSUP,
			     "no function of the allocator of process %d can be patched",
			     (int)j->pid);
	/* else what the agent has mapped itself would be lost */
	if (rc && j->remote && !j->unread)
		eject_memory(&j->a, j->remote, NULL);
	remote_close(j->remote);
	r->prepare_ns = stop_resume(&j->one);
	r->slot = j->args.slot;
	return rc;
}

/* ---- all threads ---------------------------------------------------------------------------- */

/* An agent was taken out whose jumps ours were to be over. */
static int lower_went(const struct stopped *all, struct attached *a, uint32_t first, struct err *e)
{
	patch_restore(all, a, first, PATCH_ALL);
	err_set(e, -EAGAIN, "what an earlier pmm has left in process %d has just been taken out",
		(int)a->pid);
	err_hint(e, "try again");
	return -EAGAIN;
}

/*
 * Stop all threads at a moment when none is among the instructions to be replaced, and put the
 * jumps in place.
 */
static int put_in_place(pid_t pid, struct attached *a, uint64_t owner, uint32_t first,
			struct entries *entries, uint64_t *pause_ns, struct err *e)
{
	struct stopped all;

	for (unsigned tries = 0; tries < READY_TRIES; tries++) {
		int rc = stop_all(pid, ALL_WAIT_NS, &all, e);

		if (rc)
			return rc;
		rc = still_ours(a, owner, e);
		if (rc || patch_ready(&all, a, first)) {
			rc = rc ? rc : patch_apply(&all, a, first, e);
			if (rc >= 0 && a->record.generation &&
			    rc < (int)(a->record.nr_patches - first))
				rc = lower_went(&all, a, first, e);
			*pause_ns = stop_resume(&all);
			if (rc >= 0)
				patch_missed(a, first, entries);
			return rc;
		}
		stop_resume(&all);
		sleep_ns(READY_SLEEP_NS);
	}
	err_set(e, -EAGAIN,
		"a thread of process %d does not come out of the allocator's first instructions",
		(int)pid);
	err_hint(e, "a signal handler that interrupted it there does not return; try again");
	return -EAGAIN;
}

static int busy_with(pid_t pid, pid_t monitor, struct err *e)
{
	err_set(e, -EBUSY, "process %d is watched by process %d already", (int)pid, (int)monitor);
	err_hint(e,
		 "'pmm report %d' shows what it has found so far; end it, or use 'pmm detach %d'",
		 (int)pid, (int)pid);
	return -EBUSY;
}

static int still_inside(pid_t pid, struct err *e)
{
	err_set(e, -EBUSY,
		"a thread of process %d is still inside the agent that an earlier pmm has left",
		(int)pid);
	err_hint(e, "try again once it has come out of the allocator");
	return -EBUSY;
}

/*
 * Agents of earlier checks stay for blocks that the program has not released: ours jumps on to
 * theirs.
 */
static int stack_upon(pid_t pid, struct attached *a, struct err *e)
{
	struct attached *below = malloc(sizeof(*below));
	int nr = below ? attached_find(pid, below, e) : err_set(e, -ENOMEM, "out of memory");

	if (nr >= 0)
		a->record.generation = below->record.generation + 1;
	free(below);
	if (nr < 0)
		return nr;
	if (nr < MAX_LEFT)
		return 0;
	err_set(e, -EBUSY, "process %d holds guarded blocks of %d earlier 'pmm attach --check'",
		(int)pid, nr);
	err_hint(e, "'pmm detach %d' takes out the agents of those that have been released",
		 (int)pid);
	return -EBUSY;
}

/*
 * Take out what others have left. One that was about to start when it was looked at may be another
 * pmm's, or of one that was killed: its thread runs on to the end of inject_start().
 */
static int make_way(pid_t pid, struct job *j, uint64_t *pause_ns, struct err *e)
{
	bool removed = false;
	pid_t monitor;
	int rc = -ESTALE;

	for (unsigned tries = 0; rc == -ESTALE && tries < WAY_TRIES; tries++) {
		rc = eject(pid, getpid(), &removed, pause_ns, e);
		if ((rc == -EALREADY || rc == -ESTALE) && inject_present(pid, &monitor, e) == 1)
			return busy_with(pid, monitor, e);
	}
	if (rc == -ENOENT)
		return 0;		/* it was taken out by another */
	if (!rc && !removed)
		return still_inside(pid, e);
	return rc > 0 ? stack_upon(pid, &j->a, e) : rc;
}

int inject_attach(pid_t pid, const struct inject_options *o, struct inject_result *r, struct err *e)
{
	struct job *j;
	pid_t monitor;
	uint64_t pause_ns = 0;
	bool removed;
	int rc = inject_present(pid, &monitor, e);

	*r = (struct inject_result){ .owner = attached_new_owner() };
	if (rc == 1)
		return busy_with(pid, monitor, e);
	j = calloc(1, sizeof(*j));	/* too large for a stack */
	if (!j)
		return err_set(e, -ENOMEM, "out of memory");
	j->pid = j->a.pid = pid;
	j->a.record.owner = r->owner;
	j->o = o;
	j->tree_fd = -1;
	if (rc == 2)
		rc = make_way(pid, j, &r->pause_ns, e);
	if (!rc)
		rc = image_load(o->agent, &j->image, e);
	if (!rc && o->entries->frames.index) {
		j->index_off = image_append(&j->image, o->entries->frames.index,
					    o->entries->frames.nr_bytes);
		rc = j->index_off ? 0 : err_set(e, -ENOMEM, "out of memory");
	}
	if (!rc)
		rc = leftover_remove(pid, e);
	if (rc >= 0)
		rc = reserve(&j->a, o, &j->tree_fd, &r->space_taken_bytes, &r->pause_ns,
			     e);
	if (!rc) {
		rc = prepare(j, r, e);
		if (j->unread)
			eject(pid, getpid(), &removed, &pause_ns,
			      NULL); /* 'pmm detach' does it where this fails */
		else if (rc && attached_is_of(&j->a, r->owner))
			eject_this(&j->a);	/* no thread could be stopped, or used */
	}
	if (!rc) {
		rc = put_in_place(pid, &j->a, r->owner, 0, o->entries, &pause_ns, e);
		r->pause_ns = pause_ns > r->pause_ns ? pause_ns : r->pause_ns;
		if (rc < 0 && attached_is_of(&j->a, r->owner))
			eject_this(&j->a);
		if (rc >= 0)
			r->nr_patched = (unsigned)rc;
	}
	image_fini(&j->image);
	free(j);
	return rc < 0 ? rc : 0;
}

/* ---- libraries loaded later ----------------------------------------------------------------- */

static uint64_t blob_base(const struct attached *a)
{
	for (uint32_t i = 0; i < a->record.nr_ranges; i++)
		if (a->record.range[i].use == PMM_RANGE_BLOB)
			return a->record.range[i].start;
	return 0;
}

/* One thread prepares; patches from *first on are to be put in place then. 0 or -errno. */
static int prepare_more(struct attached *a, const struct image *image, uint64_t owner,
			uint32_t *first, struct entries *more, struct err *e)
{
	struct remote *remote = NULL;
	struct stopped one;
	int rc = stop_one(a->pid, ONE_WAIT_NS, &one, e);

	if (rc)
		return rc;
	rc = attached_is_of(a, owner) ? remote_open(&one, 0, &remote, e) : -ENOENT;
	*first = patch_pending(a);
	if (!rc)
		rc = patch_prepare(a, remote, image, *first, more, e);
	remote_close(remote);
	if (rc >= 0)
		attached_store(a);
	stop_resume(&one);
	return rc < 0 ? rc : 0;
}

int inject_more(pid_t pid, const char *agent, uint64_t owner, struct entries *more,
		uint64_t *pause_ns, struct err *e)
{
	struct attached *a = malloc(sizeof(*a));
	struct image image = { 0 };
	uint32_t first;
	int rc = a ? attached_find(pid, a, e) : err_set(e, -ENOMEM, "out of memory");

	*pause_ns = 0;
	rc = rc < 0 ? rc : 0;
	if (!rc && (!blob_base(a) || !a->ledger))
		rc = -ENOENT;
	if (!rc)
		rc = image_load(agent, &image, e);
	if (rc) {
		free(a);
		return rc;
	}
	image_place(&image, blob_base(a));
	rc = prepare_more(a, &image, owner, &first, more, e);
	if (!rc && first < a->record.nr_patches)
		rc = put_in_place(pid, a, owner, first, more, pause_ns, e);
	image_fini(&image);
	free(a);
	return rc;
}
