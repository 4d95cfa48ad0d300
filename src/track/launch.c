/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program launched: the monitor's calls as events to be taken. */
#include "src/track/launch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/vec.h"
#include "src/ledger/preload.h"
#include "src/track/child.h"
#include "src/track/watched.h"

struct queued {
	enum launch_what what;
	struct launch_event event;
};

struct launch {
	struct launch_options o;
	struct child child;
	struct ledger_tree tree;
	struct monitor monitor;
	bool data_not_raised;
	VEC(struct queued) events;
	size_t next;		/* of them, to be taken */
	bool leaving;		/* monitor.waiting is to be taken, after those */
	bool taken;		/* ... was: the next call lets it go */
};

/* ---- what the monitor meets with ---- */

/* What there is no memory for is counted. */
static void put(struct launch *l, enum launch_what what, const struct launch_event *e)
{
	if (!vec_push(&l->events, ((struct queued){ what, *e })))
		return;
	heap_free(e->heap);
	l->monitor.nr_lost++;
}

static void on_ended(void *arg, struct heap *h, bool is_root)
{
	struct launch *l = arg;
	uint64_t replaced_ns = census_expects_since(&l->monitor.census, (pid_t)h->pid);
	const struct launch_event e = { .pid = (pid_t)h->pid,
					.is_root = is_root,
					.replaced = replaced_ns,
					.replaced_ns = replaced_ns,
					.heap = h };

	put(l, LAUNCH_ENDED, &e);
}

static void on_idle(void *arg, struct heap *h)
{
	put(arg, LAUNCH_IDLE, &(struct launch_event){ .pid = (pid_t)h->pid, .heap = h });
}

static void on_unreadable(void *arg, pid_t pid, bool is_root, const struct err *err)
{
	put(arg, LAUNCH_UNREADABLE,
	    &(struct launch_event){ .pid = pid, .is_root = is_root, .err = *err });
}

static void on_found(void *arg, struct heap *h, bool is_root)
{
	put(arg, LAUNCH_FOUND,
	    &(struct launch_event){ .pid = (pid_t)h->pid, .is_root = is_root, .heap = h });
}

static void on_leaving(void *arg, pid_t pid, const struct leaving *of)
{
	(void)pid, (void)of;
	((struct launch *)arg)->leaving = true;
}

static const struct monitor_ops ops = {
	.ended = on_ended,
	.unreadable = on_unreadable,
	.leaving = on_leaving,
	.idle = on_idle,
	.found = on_found,
};

/* ---- from open to close ---- */

static int prepare(struct launch *l, struct err *e)
{
	struct ledger_tree_options tree = l->o.tree;
	int rc = child_prepare(&l->child, l->o.signals, l->o.raises_limits, e);

	if (rc)
		return rc;
	if (l->o.mask)
		l->child.mask = *l->o.mask;
	tree.data_raised = child_raise_data(&l->child, PMM_OWN_DATA_BYTES);
	l->data_not_raised = !tree.data_raised;
	tree.space_bytes = child_limit(&l->child, RLIMIT_AS).rlim_cur;
	tree.file_bytes = child_limit(&l->child, RLIMIT_FSIZE).rlim_max;
	rc = ledger_tree_init(&l->tree, &tree, e);
	if (!rc)
		rc = monitor_init(&l->monitor, &l->tree, &l->child, l->o.ticker, l->o.interval_ns,
				  &ops, l, e);
	if (rc)
		return rc;
	l->monitor.holds = true;
	if (l->o.every_tick)
		l->monitor.longest_ns = PMM_TICK_NS;
	return 0;
}

int launch_open(const struct launch_options *o, struct launch **out, struct err *e)
{
	struct launch *l = calloc(1, sizeof(*l));
	int rc;

	*out = NULL;
	if (!l)
		return err_set(e, -ENOMEM, "out of memory");
	l->o = *o;
	l->tree.fd = -1;
	l->child.signal_fd = -1;
	l->monitor = MONITOR_CLOSED;
	rc = prepare(l, e);
	if (rc)
		launch_close(l);
	else
		*out = l;
	return rc;
}

int launch_start(struct launch *l, struct err *e)
{
	char value[PRELOAD_VALUE_BYTES], **env;
	uint64_t began_ns;
	int rc;

	monitor_value(&l->monitor, value);
	env = preload_env(environ, l->o.agent, value);
	if (!env)
		return err_set(e, -ENOMEM, "out of memory");
	began_ns = ledger_tree_now_ns(&l->tree);
	l->child.forked = l->o.forked;
	l->child.forked_arg = l->o.forked_arg;
	rc = child_start(&l->child, l->o.path, l->o.argv, env, e);
	preload_env_free(env);
	if (!rc)
		monitor_begin(&l->monitor, began_ns);
	return rc;
}

void launch_close(struct launch *l)
{
	if (!l)
		return;
	child_close(&l->child);
	monitor_fini(&l->monitor);
	ledger_tree_fini(&l->tree);
	for (; l->next < l->events.nr; l->next++)
		heap_free(l->events.v[l->next].event.heap);
	vec_fini(&l->events);
	free(l);
}

/* ---- steps ---- */

int launch_fd(const struct launch *l)
{
	return monitor_fd(&l->monitor);
}

void launch_fds(const struct launch *l, int fds[LAUNCH_NR_FDS])
{
	fds[0] = l->child.signal_fd;
	monitor_fds(&l->monitor, fds + 1);
}

void launch_step(struct launch *l, int64_t wait_ns)
{
	if (!l->monitor.waiting.w)
		monitor_step_for(&l->monitor, wait_ns);
}

static enum launch_what next_leaving(struct launch *l, struct launch_event *out)
{
	struct monitor_waiting *of = &l->monitor.waiting;

	l->leaving = false;
	l->taken = true;
	*out = (struct launch_event){ .pid = of->w->pid,
				      .is_root = of->w->is_root,
				      .leaving = &of->leaving };
	return LAUNCH_LEAVING;
}

enum launch_what launch_next(struct launch *l, struct launch_event *out)
{
	if (l->taken)
		monitor_let_go(&l->monitor);
	l->taken = false;
	if (l->next < l->events.nr) {
		*out = l->events.v[l->next].event;
		return l->events.v[l->next++].what;
	}
	l->next = l->events.nr = 0;
	if (l->leaving)
		return next_leaving(l, out);
	*out = (struct launch_event){ .pid = 0 };
	return LAUNCH_NONE;
}

bool launch_root_done(const struct launch *l)
{
	return l->monitor.root_done;
}

unsigned launch_left(struct launch *l, pid_t *pid)
{
	return monitor_left(&l->monitor, pid);
}

bool launch_goes_on(struct launch *l)
{
	return monitor_goes_on(&l->monitor);
}

void launch_await_all(struct launch *l)
{
	l->monitor.awaits_all = true;
	if (l->o.signals && l->o.signals->heed)
		l->o.signals->heed(&l->child);
}

void launch_give_up(struct launch *l)
{
	monitor_give_up(&l->monitor);
}

/* ---- what is known ---- */

pid_t launch_living(const struct launch *l, size_t *at)
{
	while (*at < l->monitor.roll.all.nr) {
		const struct watched *w = l->monitor.roll.all.v[(*at)++];

		if (!w->ended)
			return w->pid;
	}
	return 0;
}

bool launch_tracks(struct launch *l, pid_t pid)
{
	return roll_find(&l->monitor.roll, pid) || slot_pid_has_agent(&l->monitor.who, pid);
}

int launch_block_at(struct launch *l, pid_t pid, uint64_t address, struct ledger_at_block *out)
{
	struct watched *w = roll_find(&l->monitor.roll, pid);

	return w ? watched_block_at(w, address, out) : -ESRCH;
}

int launch_read(struct launch *l, pid_t pid, struct heap **out, struct err *e)
{
	struct watched *w = roll_find(&l->monitor.roll, pid);

	if (!w)
		return err_set(e, -ESRCH, "process %d is not tracked", (int)pid);
	return watched_read(w, out, e);
}

void launch_release(struct launch *l)
{
	l->child.pid = 0;
}

uint64_t launch_now_ns(const struct launch *l)
{
	return ledger_tree_now_ns(&l->tree);
}

int launch_board(const struct launch *l)
{
	return l->tree.fd;
}

const struct child *launch_child(const struct launch *l)
{
	return &l->child;
}

struct launch_totals launch_totals(struct launch *l)
{
	struct monitor *m = &l->monitor;
	uint64_t run_ns = m->root_end_ns - m->root_begin_ns;

	return (struct launch_totals){
		.nr_replaced = m->nr_replaced,
		.nr_without_events = m->nr_without_events,
		.nr_lost = m->nr_lost,
		.run_ns = run_ns - (m->root_held_ns < run_ns ? m->root_held_ns : 0),
		.shrunk = l->tree.shrunk,
		.data_not_raised = l->data_not_raised,
		.census = &m->census,
	};
}

pid_t launch_fork(struct launch *l)
{
	return monitor_fork(&l->monitor);
}
