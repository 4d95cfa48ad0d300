/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent taken out of a process: the code as it was, then everything unmapped.
 *
 * All threads are stopped while the code is written. Whether a thread is inside the agent is
 * decided in the same moment: once none is and the code is the program's own again, none can come
 * in any more, and unmapping needs but one thread.
 */
#include "src/inject/eject.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "arch/remote_arch.h"
#include "src/entries/attached.h"
#include "src/inject/injection.h"
#include "src/inject/inside.h"
#include "src/inject/leftover.h"
#include "src/inject/memfile.h"
#include "src/inject/patch.h"

#define WAIT_NS		2000000000ull
#define QUIET_TRIES	50
#define QUIET_SLEEP_NS	4000000
#define LEFT_TRIES	8

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = QUIET_SLEEP_NS }, NULL);
}

static void longest(uint64_t *all_ns, uint64_t ns)
{
	*all_ns = ns > *all_ns ? ns : *all_ns;
}

/* ---- memory --------------------------------------------------------------------------------- */

static bool is_file(const struct proc_maps *maps, uint64_t start)
{
	for (size_t i = 0; i < maps->nr; i++)
		if (maps->v[i].start == start)
			return memfile_mapped(&maps->v[i]);
	return false;
}

/*
 * What was mapped of memory files and still is: if another pmm was killed while it did this, some
 * of it is the program's by now. Each file is unmapped by one call, so that it is there as a whole
 * or not at all.
 */
static int unmap_files(struct attached *a, struct remote *r, struct err *e)
{
	struct proc_maps maps = { 0 };
	int rc = proc_maps_read(a->pid, &maps, e);

	for (uint32_t i = 0; !rc && i < a->record.nr_ranges; i++) {
		const struct pmm_range *range = &a->record.range[i];
		int64_t result;

		if ((range->use == PMM_RANGE_BLOB || range->use == PMM_RANGE_SLOTS) &&
		    is_file(&maps, range->start))
			rc = remote_syscall(r, SYS_munmap,
					    (const uint64_t[6]){ range->start, range->bytes },
					    &result, e);
	}
	proc_maps_fini(&maps);
	return rc;
}

/*
 * Is the agent's code there? It goes before what it would tell how to call it. 1, 0, -errno when it
 * cannot be known.
 */
static int has_code(const struct attached *a)
{
	uint8_t now[sizeof(arch_call_code)];

	int rc = a->record.leave_at && a->record.call_at
			 ? stop_read(a->pid, a->record.call_at, now, sizeof(now))
			 : -EFAULT;

	return rc == -EFAULT ? 0 : rc ? rc : !memcmp(now, arch_call_code, sizeof(now));
}

/* What the agent has mapped, by itself. It makes the record writable for that. */
static int unmap_private(struct attached *a, struct remote *r, struct err *e)
{
	int64_t result = 0;
	int rc = has_code(a);

	if (rc < 0)
		return err_set(e, rc, "cannot read the agent of process %d: %s", (int)a->pid,
			       strerror(-rc));
	if (!rc)
		return 0;
	remote_use_code(r, a->record.call_at);
	rc = remote_call(r, a->record.leave_at, 0, a->record.stack_end, WAIT_NS, &result, e);
	return !rc && result
		       ? err_set(e, -ENOMEM, "the agent in process %d cannot release its memory",
				 (int)a->pid)
		       : rc;
}

static int unmap(struct remote *r, uint64_t at, uint64_t bytes, struct err *e)
{
	int64_t result;

	return at ? remote_syscall(r, SYS_munmap, (const uint64_t[6]){ at, bytes }, &result, e) : 0;
}

int eject_memory(struct attached *a, struct remote *r, struct err *e)
{
	int rc = unmap_private(a, r, e);

	if (rc)
		return rc;
	attached_limit_lower(a);
	rc = unmap_files(a, r, e);
	if (!rc)
		rc = unmap(r, a->tree, a->end - a->tree, e);
	/* last: it holds the list */
	return rc ? rc : unmap(r, a->at, PMM_RECORD_BYTES, e);
}

/* By one thread, if no other pmm has taken the process over meanwhile: -EBUSY. */
static int take_out(struct attached *a, uint64_t owner, struct err *e)
{
	struct remote *remote = NULL;
	struct stopped one;
	int rc = stop_one(a->pid, WAIT_NS, &one, e);

	if (rc)
		return rc;
	if (!attached_is_of(a, owner))
		rc = -EBUSY;
	if (!rc)
		rc = remote_open(&one, 0, &remote, e);
	if (!rc)
		rc = eject_memory(a, remote, e);
	remote_close(remote);
	stop_resume(&one);
	return rc;
}

/* ---- all threads stopped -------------------------------------------------------------------- */

static int not_restored(const struct attached *a, int rc, struct err *e)
{
	err_set(e, rc, "the code of process %d cannot be restored: %s", (int)a->pid, strerror(-rc));
	err_hint(e,
		 "its calls still pass through the agent, which does no harm; 'pmm detach %d' "
		 "again takes it out",
		 (int)a->pid);
	return rc;
}

/* ---- guarded blocks ------------------------------------------------------------------------- */

struct resting {
	const struct attached *a;
	int64_t kept;			/* guarded blocks that live */
};

/* Let inject_rest() do its work, all threads being stopped and none in the agent. */
static int run_rest(struct remote *r, void *arg, struct err *e)
{
	struct resting *rest = arg;

	remote_use_code(r, rest->a->record.call_at);
	return remote_call(r, rest->a->record.rest_at, 0, rest->a->record.stack_end, WAIT_NS,
			   &rest->kept, e);
}

/*
 * Of an agent that guards blocks, all jumps but those of functions that blocks are given to are
 * undone, and says that this is the end. *kept: number of guarded blocks that live: as long as
 * there are any the rest must stay. *quiet: no thread was in it.
 */
static int eject_guards(struct attached *a, uint64_t owner, int64_t *kept, bool *quiet,
			uint64_t *pause_ns, struct err *e)
{
	struct resting resting = { .a = a };
	int rc = 0, back = 0;

	*quiet = false;
	for (unsigned tries = 0; !rc && !*quiet && tries < QUIET_TRIES; tries++) {
		struct stopped all;
		bool ours;

		rc = stop_all(a->pid, WAIT_NS, &all, e);
		if (rc)
			return rc;
		rc = attached_claim(a, owner);
		ours = !rc;
		*quiet = ours && !inside_agent(&all, a);
		if (*quiet && a->record.rest_at)
			rc = remote_by_any(&all, run_rest, &resting, e);
		if (!rc && resting.kept > 0)
			a->record.monitor_pid = 0;
		if (!rc && *quiet && !resting.kept)
			/* the code goes first: a pmm that continues after we are killed must
			   not call it */
			a->record.rest_at = 0;
		if (ours)
			back = patch_restore(&all, a, 0,
					     *quiet && !rc ? PATCH_BUT_TAKERS : PATCH_BUT_GUARDS);
		*quiet &= !back;
		longest(pause_ns, stop_resume(&all));
		if (!*quiet)
			nap();
	}
	*kept = resting.kept;
	return rc ? rc : back ? not_restored(a, back, e) : 0;
}

/*
 * One stop of all threads: the code is the program's. *out: and everything has been unmapped.
 * *back: 0, or why a jump could not be undone; the agent stays then. 0; -ENOENT another pmm was
 * first, -ESTALE.
 */
static int eject_step(struct attached *a, uint64_t owner, bool *out, int *back, uint64_t *pause_ns,
		      struct err *e)
{
	struct stopped all;
	bool quiet = false;
	int rc = stop_all(a->pid, WAIT_NS, &all, e);

	*back = 0;
	if (rc)
		return rc;
	rc = attached_claim(a, owner);
	if (!rc && !a->record.rest_at) {	/* else it guards blocks by now */
		*back = patch_restore(&all, a, 0, PATCH_ALL);
		quiet = !*back && !inside_agent(&all, a);
	}
	longest(pause_ns, stop_resume(&all));
	if (!rc && quiet)
		rc = take_out(a, owner, e);
	*out = !rc && quiet;
	return rc;
}

/* Take one agent out. *kept: guarded blocks for which it stays. */
static int eject_one(struct attached *a, bool *removed, int64_t *kept, uint64_t *pause_ns,
		     struct err *e)
{
	const uint64_t owner = attached_new_owner();
	int rc = 0, back = 0;

	*removed = false;
	*kept = 0;
	for (unsigned tries = 0; !rc && !*removed && tries < QUIET_TRIES; tries++) {
		bool rests = true;

		if (a->record.rest_at)
			rc = eject_guards(a, owner, kept, &rests, pause_ns, e);
		if (!rc && (*kept || !rests))
			return 0;
		if (rc)
			break;
		rc = eject_step(a, owner, removed, &back, pause_ns, e);
		if (rc == -EBUSY && !attached_is_of(a, owner))
			rc = 0;			/* another is at it: see what comes of it */
		if (!rc && !*removed)
			nap();
	}
	if (rc != -ENOENT)
		return rc ? rc : back ? not_restored(a, back, e) : 0;
	*removed = true;			/* another was first */
	return 0;
}

static bool watched_by_other(const struct attached *a, pid_t monitor)
{
	pid_t now = a->record.monitor_pid == (uint32_t)monitor ? 0 : attached_monitor(a);

	return now && now != monitor;
}

int eject(pid_t pid, pid_t of, bool *removed, uint64_t *pause_ns, struct err *e)
{
	struct attached *a = malloc(sizeof(*a));
	int64_t kept = 0;
	int rc = 0, left = a ? attached_find(pid, a, e) : err_set(e, -ENOMEM, "out of memory");

	*removed = false;
	if (left == -ENOENT)
		err_set(e, left, "process %d has nothing in it that 'pmm attach' left", (int)pid);
	if (left > 0 && of && watched_by_other(a, of))
		left = -EALREADY;
	while (!rc && left > 0) {
		rc = eject_one(a, removed, &kept, pause_ns, e);
		left = *removed ? left - 1 : 0;
		if (left) {
			left = attached_find(pid, a, e);
			if (left < 0 && left != -ENOENT)
				rc = left;
			left = left < 0 || (of && watched_by_other(a, of)) ? 0 : left;
		}
	}
	free(a);
	if (rc == -ESTALE)
		err_set(e, rc, "another pmm has attached to process %d at the same time", (int)pid);
	return rc ? rc : left < 0 ? left : kept > INT_MAX ? INT_MAX : (int)kept;
}

void eject_this(struct attached *a)
{
	uint64_t pause_ns = 0;
	int64_t kept;
	bool removed;

	eject_one(a, &removed, &kept, &pause_ns, NULL);
}

/*
 * What was mapped without having been recorded belongs to no pmm now. A thread that was at work in
 * it for a pmm that was killed may have finished an agent meanwhile.
 */
static int eject_all(pid_t pid, pid_t of, bool *removed, uint64_t *pause_ns, struct err *e)
{
	bool found = false;

	for (unsigned tries = 0; tries < LEFT_TRIES; tries++) {
		int rc = eject(pid, of, removed, pause_ns, e), nr;

		if (rc == -ESTALE)
			continue;
		if (rc != -ENOENT && (rc || !*removed))
			return rc;
		found |= !rc;
		nr = leftover_remove(pid, e);
		if (nr < 0)
			return nr;
		found |= nr > 0;
		if (!nr && rc == -ENOENT)
			break;
	}
	*removed = found;
	return found ? 0 : -ENOENT;
}

int inject_detach(pid_t pid, bool *removed, uint64_t *pause_ns, struct err *e)
{
	int rc = stop_allowed(pid, e);

	*removed = false;
	*pause_ns = 0;
	return rc ? rc : eject_all(pid, 0, removed, pause_ns, e);
}

int inject_abandon(pid_t pid, pid_t monitor)
{
	uint64_t pause_ns = 0;
	bool removed;
	int rc = stop_allowed(pid, NULL);

	if (!rc)
		rc = eject_all(pid, monitor, &removed, &pause_ns, NULL);
	return rc == -ENOENT || rc == -EALREADY || rc > 0 ? 0 : !rc && !removed ? -EAGAIN : rc;
}

int inject_present(pid_t pid, pid_t *monitor, struct err *e)
{
	struct attached *a = malloc(sizeof(*a));
	int rc = a ? attached_find(pid, a, e) : err_set(e, -ENOMEM, "out of memory");

	*monitor = 0;
	if (rc > 0) {
		*monitor = attached_monitor(a);
		rc = *monitor ? 1 : 2;
	}
	free(a);
	return rc == -ENOENT ? 0 : rc;
}
