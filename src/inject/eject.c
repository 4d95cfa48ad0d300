/*
 * The agent taken out of a process: the code as it was, then everything unmapped.
 *
 * All threads are stopped while the code is written. Whether a thread is inside the agent is decided in the same moment: once none is and
 * the code is the program's own again, none can come in any more, and unmapping needs but one thread.
 */
#include "src/inject/eject.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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

/* Take one agent out. */
static int eject_one(struct attached *a, bool *removed, uint64_t *pause_ns, struct err *e)
{
	*removed = false;
	for (unsigned tries = 0; !*removed && tries < QUIET_TRIES; tries++) {
		struct stopped all;
		uint64_t ns;
		bool quiet;
		int rc = stop_all(a->pid, WAIT_NS, &all, e);

		if (rc)
			return rc;
		patch_restore(&all, a);
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
	int rc = 0, left = attached_find(pid, &a, e);

	*removed = false;
	*pause_ns = 0;
	if (left == -ENOENT)
		return err_set(e, left, "process %d has nothing of pmm in it", (int)pid);
	while (!rc && left > 0) {
		rc = eject_one(&a, removed, pause_ns, e);
		left = *removed ? left - 1 : 0;
		if (left && attached_find(pid, &a, NULL) < 0)
			left = 0;
	}
	return rc ? rc : left < 0 ? left : 0;
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
