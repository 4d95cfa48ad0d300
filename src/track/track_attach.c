/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process watched that was running already. */
#include "src/track/track_attach.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/ledger/launched.h"
#include "src/ledger/ledger_map.h"
#include "src/ledger/ledger_tree.h"
#include "src/ledger/preload.h"
#include "src/track/ticker.h"
#include "src/track/watched.h"
#include "src/inject/injection.h"
#include "src/proc/fds.h"
#include "src/proc/frozen.h"
#include "src/proc/limits.h"
#include "src/proc/segv_check.h"
#include "src/proc/proc.h"
#include "src/ptrace/stop.h"
#include "src/proc/task.h"
#include "src/ptrace/watchdog.h"

#define EXEC_LOOK_NS	500000000ull
/* after what is new could not be patched: try again, then after twice as long ... */
#define LATE_FIRST_NS	100000000ull
#define LATE_MOST_NS	5000000000ull	/* ... up to that */
#define AUXV_BYTES	1024
#define DETACH_NR_FDS	4		/* that detaching opens at a time */

struct attach {
	pid_t pid;
	struct attach_options o;
	char agent[PATH_MAX];		/* libpmm_inject.so */
	struct ledger_tree tree;
	struct watched *w;
	struct attach_info info;
	struct loop *loop;		/* of its own: its descriptor is attach_fd() */
	struct loop_source *timer;	/* the next look */
	struct ticker own, *ticker;	/* attach_options.ticker, or its own */
	/* it has addresses of the stack and of the loader, which exec places anew */
	uint8_t auxv[AUXV_BYTES];
	size_t nr_auxv;
	uint64_t next_exec_ns;
	uint64_t owner;			/* see struct pmm_attach */
	/* when to try again to patch what is new; UINT64_MAX: nothing to do */
	uint64_t late_ns, late_wait_ns;
	struct watchdog watchdog;
	struct fds spare;		/* for detaching, whatever else is open then */
	bool detached;
	enum attach_event end;		/* ATTACH_NONE: it is watched */
	bool end_taken;
	struct heap *found;		/* to be taken by attach_next() */
};

/* ---- exec ----------------------------------------------------------------------------------- */

static bool exec_look(struct attach *a)
{
	uint8_t now[AUXV_BYTES];
	size_t nr = proc_auxv(a->pid, now, sizeof(now));

	if (!a->info.execed && nr && a->nr_auxv)
		a->info.execed = nr != a->nr_auxv || memcmp(now, a->auxv, nr);
	return a->info.execed;
}

static bool exec_happened(struct attach *a, uint64_t now_ns)
{
	if (a->info.execed || now_ns < a->next_exec_ns)
		return a->info.execed;
	a->next_exec_ns = now_ns + EXEC_LOOK_NS;
	return exec_look(a);
}

/* ---- opening -------------------------------------------------------------------------------- */

static uint64_t space_of(pid_t pid)
{
	uint64_t now, most;

	return limits_space(pid, &now, &most) ? UINT64_MAX : now;
}

static uint64_t our_file_limit(void)
{
	struct rlimit l;

	return getrlimit(RLIMIT_FSIZE, &l) || l.rlim_cur == RLIM_INFINITY ? UINT64_MAX : l.rlim_cur;
}

/* For inject_attach(). */
static int make_tree(void *arg, int fd, struct err *e)
{
	struct attach *a = arg;
	struct ledger_tree_options o = {
		.mode = a->o.sample_bytes ? PMM_MODE_SAMPLED : PMM_MODE_EXACT,
		.sample_bytes = a->o.sample_bytes,
		.min_size_bytes = a->o.min_size_bytes,
		.warn_size_bytes = a->o.warn_size_bytes,
		.limit_bytes = a->o.limit_bytes,
		.max_frames = a->o.max_frames,
		.check = a->o.check,
		.space_bytes = space_of(a->pid),
		.file_bytes = our_file_limit(),
		.attached = true,
		.pid = a->pid,
	};
	int rc = ledger_tree_init_fd(&a->tree, fd, &o, e);

	if (!rc)
		rc = ticker_add(a->ticker, &a->tree);
	return rc;
}

static int watch(struct attach *a, struct err *e)
{
	uint64_t now_ns = ticker_tick(a->ticker, &a->tree);
	int fd = fcntl(a->tree.fd, F_DUPFD_CLOEXEC, 3);

	if (fd < 0)
		return err_set(e, -errno, "cannot watch process %d: %s", (int)a->pid,
			       strerror(errno));
	a->w = watched_new(a->pid, (int)syscall(SYS_pidfd_open, a->pid, 0), fd, 0, now_ns);
	if (!a->w)
		return err_set(e, -ENOMEM, "not enough memory to watch process %d", (int)a->pid);
	a->w->is_root = true;
	watched_tick(a->w, now_ns);
	watched_code_changed(a->w, a->w->next_code_ns);	/* from now on changes count */
	a->w->next_code_ns = now_ns;
	return 0;
}

/* What was found may be the earlier program's; why it did not work then makes no sense. */
static int another_program(pid_t pid, struct err *e)
{
	err_set(e, -EAGAIN, "process %d began another program (exec) just now", (int)pid);
	err_hint(e, "try again");
	return -EAGAIN;
}

static bool checks(const struct attach *a)
{
	return a->o.check.level != PMM_CHECK_NONE;
}

static int look_for(const struct attach *a, struct entries *found, struct err *e)
{
	return (checks(a) ? entries_find_all : entries_find)(a->pid, a->o.custom, a->o.nr_custom,
							     found, e);
}

/* The functions to be patched. */
static int find(struct attach *a, struct err *e)
{
	int rc = checks(a) ? segv_check(a->pid, e) : 0;

	if (!rc)
		rc = look_for(a, &a->info.entries, e);
	if (!rc && checks(a))
		rc = entries_guardable(&a->info.entries, a->pid, e);
	return rc;
}

/* In the watchdog: we have died. */
static int abandon(pid_t target, void *monitor)
{
	return inject_abandon(target, *(pid_t *)monitor);
}

/* The loop, and the ticker where it is its own. */
static int loop_make(struct attach *a)
{
	int rc = loop_new(&a->loop);

	if (!rc && !a->ticker) {
		rc = ticker_init(&a->own, a->loop);
		a->ticker = rc ? NULL : &a->own;
	}
	return rc;
}

static int open_it(struct attach *a, struct err *e)
{
	int rc = watchdog_start(&a->watchdog, a->pid, abandon, &(pid_t){ getpid() }, e);

	if (!rc) {
		rc = fds_reserve(&a->spare, DETACH_NR_FDS);
		if (rc)
			err_set(e, rc, "cannot watch process %d: %s", (int)a->pid, strerror(-rc));
	}
	if (!rc)
		rc = stop_allowed(a->pid, e);
	if (!rc)
		rc = frozen_not(a->pid, e);
	a->nr_auxv = proc_auxv(a->pid, a->auxv, sizeof(a->auxv));

	if (!rc)
		rc = launched_refuse(a->pid, e);
	if (!rc)
		rc = preload_find_injected(a->agent, e);
	if (rc)
		return rc;
	rc = find(a, e);
	return rc && exec_look(a) ? another_program(a->pid, e) : rc;
}

int attach_open(pid_t pid, const struct attach_options *o, struct attach **out, struct err *e)
{
	struct attach *a = calloc(1, sizeof(*a));
	int rc;

	*out = NULL;
	if (!a)
		return err_set(e, -ENOMEM, "out of memory");
	a->pid = pid;
	a->o = *o;
	a->ticker = o->ticker;
	a->late_ns = UINT64_MAX;
	a->tree.fd = -1;
	a->detached = true;		/* as long as nothing of ours is in the process */
	rc = loop_make(a);
	if (rc)
		err_set(e, rc, "cannot watch process %d: %s", (int)pid, strerror(-rc));
	else
		rc = open_it(a, e);
	if (rc)
		attach_close(a);
	else
		*out = a;
	return rc;
}

static void on_ended(void *arg, uint32_t events);
static void on_time(void *arg, uint64_t now_ns);

/* What wakes it: the process's end, and each tick. */
static int listen_to(struct attach *a, struct err *e)
{
	int rc = loop_add_timer(a->loop, 0, on_time, a, &a->timer);

	if (!rc && a->w->pidfd >= 0)
		rc = loop_add_fd(a->loop, a->w->pidfd, EPOLLIN, on_ended, a, NULL);
	return rc ? err_set(e, rc, "cannot watch process %d: %s", (int)a->pid, strerror(-rc)) : 0;
}

int attach_start(struct attach *a, struct err *e)
{
	struct inject_options o = {
		.agent = a->agent, .entries = &a->info.entries, .make_tree = make_tree, .arg = a
	};
	struct inject_result r;
	int rc = inject_attach(a->pid, &o, &r, e);

	if (rc)
		return exec_look(a) ? another_program(a->pid, e) : rc;
	a->detached = false;
	a->owner = r.owner;
	a->info.nr_patched = r.nr_patched;
	a->info.prepare_ns = r.prepare_ns;
	a->info.space_taken_bytes = r.space_taken_bytes;
	a->info.space_bytes = a->tree.slots_off + a->tree.slot_bytes;
	a->info.pause_ns = r.pause_ns;
	rc = watch(a, e);
	return rc ? rc : listen_to(a, e);
}

/* ---- watching ------------------------------------------------------------------------------- */

static bool known(const struct attach *a, uint64_t address)
{
	for (size_t i = 0; i < a->info.entries.nr; i++)
		if (a->info.entries.v[i].address == address)
			return true;
	return false;
}

static void try_later(struct attach *a, unsigned nr, int rc, struct err *e)
{
	const uint64_t wait_ns = a->late_wait_ns ? 2 * a->late_wait_ns : LATE_FIRST_NS;

	a->late_wait_ns = wait_ns < LATE_MOST_NS ? wait_ns : LATE_MOST_NS;
	a->late_ns = ledger_tree_now_ns(&a->tree) + a->late_wait_ns;
	a->info.late = (struct attach_late){ .failed = true, .nr = nr, .why = *err_default(e, rc) };
}

static void none_late(struct attach *a)
{
	a->late_ns = UINT64_MAX;
	a->late_wait_ns = 0;
	a->info.late = (struct attach_late){ 0 };
}

/*
 * Patch those of `now` that are new. The functions known stay those that were, if that fails: the
 * rest is new the next time as well.
 */
static int patch_new(struct attach *a, struct entries *now, unsigned nr_new, struct err *e)
{
	uint64_t pause_ns = 0;
	int nr = nr_new ? inject_more(a->pid, a->agent, a->owner, now, &pause_ns, e) : 0;

	if (pause_ns > a->info.pause_ns)
		a->info.pause_ns = pause_ns;
	if (nr < 0)
		return nr;
	a->info.nr_patched += (unsigned)nr;
	entries_fini(&a->info.entries);
	a->info.entries = *now;
	*now = (struct entries){ 0 };
	return 0;
}

/* Are there allocators among the libraries that came? */
static void look_again(struct attach *a)
{
	struct err e = { .text = "" };
	struct entries now;
	unsigned nr_new = 0;
	int rc = look_for(a, &now, &e);

	for (size_t i = 0; !rc && i < now.nr; i++)
		nr_new += !now.v[i].refused && !known(a, now.v[i].address);
	if (!rc)
		rc = patch_new(a, &now, nr_new, &e);
	if (!rc)
		none_late(a);
	else if (!exec_look(a))	/* else they are another program's */
		try_later(a, nr_new, rc, &e);
	entries_fini(&now);
}

/* Libraries came or went: stacks have to be unwound by other tables, too. */
static void code_changed(struct attach *a)
{
	__atomic_fetch_add(&a->tree.head->code_epoch, 1, __ATOMIC_RELAXED);
	a->late_wait_ns = 0;
	look_again(a);
}

static bool process_ended(const struct attach *a)
{
	struct pollfd p = { .fd = a->w->pidfd, .events = POLLIN };

	return a->w->pidfd >= 0 ? poll(&p, 1, 0) == 1 : !proc_alive(a->pid);
}

static void end_with(struct attach *a, enum attach_event end)
{
	a->end = end;
	loop_set_timer(a->loop, a->timer, LOOP_NEVER);
}

static void on_ended(void *arg, uint32_t events)
{
	struct attach *a = arg;

	(void)events;
	if (a->end != ATTACH_NONE)
		return;
	watched_end(a->w, ticker_tick(a->ticker, &a->tree));
	end_with(a, ATTACH_ENDED);
}

/* New heap errors; one batch at a time is kept. */
static void look_for_errors(struct attach *a, uint64_t now_ns)
{
	struct heap *h;

	if (checks(a) && !a->found && watched_found(a->w, now_ns, false, &h))
		a->found = h;
}

/* All that is looked at from tick to tick. */
static void on_tick(struct attach *a, uint64_t now_ns)
{
	watched_tick(a->w, now_ns);
	look_for_errors(a, now_ns);
	if (watched_code_changed(a->w, now_ns))
		code_changed(a);
	else if (now_ns >= a->late_ns)
		look_again(a);
}

static void on_time(void *arg, uint64_t time_ns)
{
	struct attach *a = arg;
	uint64_t now_ns = ticker_tick(a->ticker, &a->tree);

	(void)time_ns;
	if (process_ended(a)) {
		on_ended(a, EPOLLIN);
	} else if (exec_happened(a, now_ns)) {
		end_with(a, ATTACH_EXECED);
	} else {
		on_tick(a, now_ns);
		loop_set_timer(a->loop, a->timer,
			       ticker_next_ns(&a->tree, ledger_tree_calm_ns(&a->tree)));
	}
}

int attach_fd(const struct attach *a)
{
	return loop_fd(a->loop);
}

int attach_step(struct attach *a, int64_t wait_ns)
{
	/* its pidfd stays readable: a step would not wait any more */
	return a->end == ATTACH_NONE ? loop_step(a->loop, wait_ns) : 0;
}

enum attach_event attach_next(struct attach *a, struct heap **found)
{
	*found = a->found;
	a->found = NULL;
	if (*found)
		return ATTACH_FOUND;
	if (a->end == ATTACH_NONE || a->end_taken)
		return ATTACH_NONE;
	a->end_taken = true;
	return a->end;
}

enum attach_event attach_end(const struct attach *a)
{
	return a->end;
}

enum attach_event attach_wait(struct attach *a, uint64_t until_ns)
{
	uint64_t now_ns;

	while (a->end == ATTACH_NONE && (now_ns = attach_now_ns(a)) < until_ns)
		attach_step(a, until_ns - now_ns < INT64_MAX ? (int64_t)(until_ns - now_ns)
							     : INT64_MAX);
	return a->end;
}

uint64_t attach_now_ns(const struct attach *a)
{
	return ledger_tree_now_ns(&a->tree);
}

uint64_t attach_began_ns(const struct attach *a)
{
	return a->w->map ? ledger_began_ns(a->w->map) : attach_now_ns(a);
}

int attach_totals(struct attach *a, struct ledger_totals *t)
{
	return a->w->map ? ledger_totals(a->w->map, t) : -EAGAIN;
}

uint64_t attach_hook_pc(struct attach *a)
{
	return a->w->map ? ledger_hook_pc(a->w->map) : 0;
}

int attach_block_at(struct attach *a, uint64_t address, struct ledger_at_block *out)
{
	return watched_block_at(a->w, address, out);
}

enum pmm_check_stop attach_check_stopped(struct attach *a)
{
	uint32_t why = PMM_CHECK_RUNS;

	if (!checks(a) || !a->w->map ||
	    ledger_map_read(a->w->map, offsetof(struct pmm_ledger, check.stopped), &why,
			    sizeof(why)))
		return PMM_CHECK_RUNS;
	return why < PMM_NR_CHECK_STOPS ? (enum pmm_check_stop)why : PMM_CHECK_RUNS;
}

int attach_read(struct attach *a, struct heap **out, struct err *e)
{
	return watched_read(a->w, out, e);
}

const struct attach_info *attach_info(const struct attach *a)
{
	return &a->info;
}

/* ---- leaving -------------------------------------------------------------------------------- */

/* That something is left is said also where the reason has a hint of its own. */
static void hint_left(pid_t pid, struct err *e)
{
	char own[sizeof(e->hint) + sizeof("; ")];

	snprintf(own, sizeof(own), "%s%s", e->hint, e->hint[0] ? "; " : "");
	err_hint(e,
		 "%spmm's agent may still be in process %d, where it soon ceases to record; "
		 "'pmm detach %d' takes it out",
		 own, (int)pid, (int)pid);
}

/* What fails for want of memory or descriptors may be done the next moment. */
static int take_out(struct attach *a, bool *removed, struct err *e)
{
	int rc = inject_detach(a->pid, removed, &a->info.detach_pause_ns, e);

	if (rc < 0 && rc != -ESRCH && rc != -ENOENT && rc != -EBUSY)
		rc = inject_detach(a->pid, removed, &a->info.detach_pause_ns, e);
	if (rc < 0 && e)
		hint_left(a->pid, e);
	return rc;
}

int attach_detach(struct attach *a, struct heap **final, bool *removed, struct err *e)
{
	bool gone = a->info.execed || (a->w && a->w->ended);
	int rc = 0;

	if (final)
		*final = NULL;
	*removed = true;
	if (a->detached)
		return 0;
	a->detached = true;
	fds_release(&a->spare);
	if (!gone)
		rc = take_out(a, removed, e);
	if (rc > 0) {
		a->info.nr_guarded_left = rc;
		rc = 0;
	}
	/* ended or called exec just now, or another pmm took the agent out */
	if (rc == -ESRCH || rc == -ENOENT || (rc == -EAGAIN && exec_look(a))) {
		a->info.ended = a->w && process_ended(a);
		exec_look(a);
		*removed = true;
		rc = 0;
	}
	watchdog_end(&a->watchdog, !rc);	/* else it tries on */
	if (a->w && process_ended(a))
		watched_end(a->w, ledger_tree_now_ns(&a->tree));
	if (final && a->w && a->tree.head && watched_read(a->w, final, rc ? NULL : e))
		*final = NULL;
	if (final && *final && a->info.execed) {
		(*final)->end = HEAP_REPLACED;
		if ((*final)->allocator.outside)
			(*final)->allocator.valid = false; /* they may be the other program's */
	}
	return rc;
}

void attach_close(struct attach *a)
{
	bool removed;

	if (!a)
		return;
	attach_detach(a, NULL, &removed, NULL);
	watchdog_end(&a->watchdog, true);	/* of an attach that has failed */
	if (a->ticker)
		ticker_del(a->ticker, &a->tree);
	ticker_fini(&a->own);
	loop_free(a->loop);
	fds_release(&a->spare);
	watched_free(a->w);
	ledger_tree_fini(&a->tree);
	entries_fini(&a->info.entries);
	heap_free(a->found);
	free(a);
}
