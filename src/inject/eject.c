/*
 * The agent taken out of a process: the code as it was, then everything unmapped.
 *
 * All threads are stopped while the code is written. Whether a thread is inside the agent is decided in the same moment: once none is and
 * the code is the program's own again, none can come in any more, and unmapping needs but one thread.
 */
#include "src/inject/eject.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "arch/x86_64/remote_arch.h"
#include "src/inject/attached.h"
#include "src/inject/inject.h"
#include "src/inject/inside.h"
#include "src/inject/leftover.h"
#include "src/inject/patch.h"

#define WAIT_NS		2000000000ull
#define QUIET_TRIES	50
#define QUIET_SLEEP_NS	4000000

/*
 * Unmap all ranges, the ledger's last, for it holds the list. Each is crossed out first: dying in between leaves a mapping behind rather
 * than unmapping later what the program has put there.
 */
static int unmap(struct attached *a, struct remote *r, struct err *e)
{
	for (int last = 0; last < 2; last++)
		for (uint32_t i = 0; i < a->record.nr_ranges; i++) {
			struct pmm_range range = a->record.range[i];
			int64_t result;
			int rc;

			if (range.use == PMM_RANGE_NONE || (range.use == PMM_RANGE_TREE) != last)
				continue;
			a->record.range[i].use = PMM_RANGE_NONE;
			if (!last)
				attached_store(a);
			rc = remote_syscall(r, SYS_munmap, (const uint64_t[6]){ range.start, range.bytes }, &result, e);
			if (rc)
				return rc;
		}
	return 0;
}

static int take_out(struct attached *a, struct err *e)
{
	struct remote *remote = NULL;
	struct stopped one;
	int rc = stop_one(a->pid, WAIT_NS, &one, e);

	if (rc)
		return rc;
	attached_limit_lower(a);
	rc = remote_open(&one, 0, &remote, e);
	if (!rc)
		rc = unmap(a, remote, e);
	if (!rc)
		leftover_close(a->pid, remote);	/* a monitor killed while attaching has not closed the file */
	if (remote)
		remote_close(remote);
	stop_resume(&one);
	return rc;
}

/* ---- guarded blocks ------------------------------------------------------------------------- */

/*
 * Let inject_rest() do its work, all threads being stopped and none in the agent, by whichever can: it may be called again. *kept:
 * guarded blocks that live.
 */
static int rest(struct stopped *all, const struct attached *a, int64_t *kept, struct err *e)
{
	int rc = -EAGAIN;

	for (unsigned wanted = 0; wanted <= ARCH_RANK_WORST && rc; wanted++)
		for (size_t i = 0; i < all->nr && rc; i++) {
			struct remote *r = NULL;

			if (all->v[i].ended || remote_rank(&all->v[i]) != wanted)
				continue;
			rc = remote_open(all, i, &r, e);
			if (!rc)
				rc = remote_call(r, a->record.rest_at, 0, a->record.stack_end, WAIT_NS, kept, e);
			if (r)
				remote_close(r);
		}
	return rc;
}

/*
 * Of an agent that guards blocks, all jumps but those of functions that blocks are given to are taken back, and it is told that this is the
 * end. *kept: number of guarded blocks that live: as long as there are any the rest must stay. *quiet: no thread was in it.
 */
static int eject_guards(struct attached *a, int64_t *kept, bool *quiet, uint64_t *pause_ns, struct err *e)
{
	int rc = 0;

	*kept = 0;
	*quiet = false;
	for (unsigned tries = 0; !rc && !*quiet && tries < QUIET_TRIES; tries++) {
		struct stopped all;
		uint64_t ns;

		rc = stop_all(a->pid, WAIT_NS, &all, e);
		if (rc)
			return rc;
		*quiet = !inside_agent(&all, a);
		if (*quiet)
			rc = rest(&all, a, kept, e);
		if (!rc && *kept > 0)
			a->record.monitor_pid = 0;
		patch_restore(&all, a, *quiet && !rc ? PATCH_BUT_TAKERS : PATCH_BUT_GUARDS);
		ns = stop_resume(&all);
		*pause_ns = ns > *pause_ns ? ns : *pause_ns;
		if (!*quiet)
			nanosleep(&(struct timespec){ .tv_nsec = QUIET_SLEEP_NS }, NULL);
	}
	return rc;
}

/* Take one agent out. *kept: guarded blocks for which it stays. */
static int eject_one(struct attached *a, bool *removed, int64_t *kept, uint64_t *pause_ns, struct err *e)
{
	bool rests = true;

	*removed = false;
	*kept = 0;
	if (a->record.rest_at) {
		int rc = eject_guards(a, kept, &rests, pause_ns, e);

		if (rc || *kept || !rests)
			return rc;
		a->record.rest_at = 0;		/* the image goes first: whoever goes on where we are killed must not call it */
		attached_store(a);
	}
	for (unsigned tries = 0; !*removed && tries < QUIET_TRIES; tries++) {
		struct stopped all;
		uint64_t ns;
		bool quiet;
		int rc = stop_all(a->pid, WAIT_NS, &all, e);

		if (rc)
			return rc;
		patch_restore(&all, a, PATCH_ALL);
		quiet = !inside_agent(&all, a);
		ns = stop_resume(&all);
		*pause_ns = ns > *pause_ns ? ns : *pause_ns;
		rc = quiet ? take_out(a, e) : 0;
		if (rc)
			return rc;
		*removed = quiet;
		if (!quiet)
			nanosleep(&(struct timespec){ .tv_nsec = QUIET_SLEEP_NS }, NULL);
	}
	return 0;
}

int eject(pid_t pid, bool *removed, uint64_t *pause_ns, struct err *e)
{
	struct attached a;
	int64_t kept = 0;
	int rc = 0, left = attached_find(pid, &a, e);

	*removed = false;
	*pause_ns = 0;
	if (left == -ENOENT)
		return err_set(e, left, "process %d has nothing in it that 'pmm attach' left", (int)pid);
	while (!rc && left > 0) {
		rc = eject_one(&a, removed, &kept, pause_ns, e);
		left = *removed ? left - 1 : 0;
		if (left && attached_find(pid, &a, NULL) < 0)
			left = 0;
	}
	return rc ? rc : left < 0 ? left : kept > INT_MAX ? INT_MAX : (int)kept;
}

void eject_unused(struct attached *a)
{
	uint64_t pause_ns;
	bool removed;

	for (uint32_t i = 0; i < a->record.nr_patches; i++)
		if (a->record.patch[i].applied) {
			eject(a->pid, &removed, &pause_ns, NULL);
			return;
		}
	take_out(a, NULL);
}

int inject_detach(pid_t pid, bool *removed, uint64_t *pause_ns, struct err *e)
{
	int lock = leftover_lock(pid, e), rc;

	*removed = false;
	*pause_ns = 0;
	if (lock == -EBUSY)
		return lock;
	rc = stop_allowed(pid, e);
	if (!rc)
		rc = eject(pid, removed, pause_ns, e);
	if (lock >= 0)
		close(lock);
	return rc;
}

int inject_present(pid_t pid, pid_t *monitor, struct err *e)
{
	struct attached a;
	int rc = attached_find(pid, &a, e);

	*monitor = 0;
	if (rc < 0)
		return rc == -ENOENT ? 0 : rc;
	*monitor = attached_monitor(&a);
	return *monitor && !a.inherited ? 1 : 2;
}
