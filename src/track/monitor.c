/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The monitor's loop. */
#include "src/track/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/track/monitor_priv.h"
#include "src/proc/proc.h"

/* for visits: beyond that the rest waits for the next step, so that messages and signals do not */
#define TURN_NS	       20000000ull
/*
 * Where processes come faster than they can be delivered: of so many that have ended the step takes
 * longer, and of so many nobody is let in, so that who hands in a ledger waits in the end. Else
 * more would come than go for as long as there are memory and descriptors.
 */
#define MANY_ENDED     256
#define MOST_ENDED     1024
#define LONG_TURN_NS   100000000ull
#define STATUS_WAIT_NS 50000000ull   /* for a parent to collect the status, so that we may see it */
#define START_WAIT_NS  1000000000ull /* for a launched process to hand in a ledger */
#define UNCLAIMED_NS   100000000ull  /* between looks for such */
#define SOON_NS	       500000000ull
#define CALM_SHARE     8	     /* time since a process came or went : longest wait */
#define HAND_OVER_MS   5000
#define LONGEST_NS     1000000000ll

static void on_signal(void *arg, uint32_t events)
{
	(void)events;
	monitor_on_signals(arg);
}

static void on_root_end(void *arg, uint32_t events)
{
	struct monitor *m = arg;

	(void)events;
	monitor_on_signals(m);
	loop_del(m->loop, m->root_end);
	m->root_end = NULL;
}

static void on_message(void *arg, uint32_t events)
{
	(void)events;
	((struct monitor *)arg)->messages = true;
}

/* Its time is up, which is what the step after it looks for. */
static void on_time(void *arg, uint64_t now_ns)
{
	(void)arg;
	(void)now_ns;
}

/* All that the loop wakes for. */
static int listen_to(struct monitor *m)
{
	int rc = 0;

	if (m->child->signal_fd != -1)
		rc = loop_add_fd(m->loop, m->child->signal_fd, EPOLLIN, on_signal, m, NULL);
	if (!rc)
		rc = loop_add_timer(m->loop, 0, on_time, m, &m->timer);
	if (!rc)
		rc = serve_join(&m->serve, m->loop, on_message, m);
	vec_each(&m->roll.all, w)
		if (!rc && (*w)->pidfd >= 0 && !(*w)->ended)
			rc = monitor_await_end(m, *w);
	return rc;
}

/* A loop, and the ticker at it where that is its own. */
static int loop_make(struct monitor *m, struct ticker *ticker)
{
	int rc = loop_new(&m->loop);

	if (!rc && !ticker) {
		rc = ticker_init(&m->own, m->loop);
		ticker = &m->own;
	}
	if (!rc)
		rc = ticker_add(ticker, m->tree);
	if (!rc)
		m->ticker = ticker;
	return rc;
}

/* Descriptors and the word of life. */
static int open_all(struct monitor *m, struct ticker *ticker, struct err *e)
{
	struct stat st;
	int rc = loop_make(m, ticker);

	if (!rc && fstat(m->tree->fd, &st))
		rc = -errno;
	if (rc)
		return err_no_file(e, rc, "cannot set up the monitor");
	m->who = (struct slot_pid){ .monitor = getpid(), .ino = st.st_ino };
	rc = serve_open(&m->serve, m->tree, e);
	if (rc)
		return rc;
	m->serve.received = monitor_hear;
	m->serve.lost = monitor_lose;
	m->serve.arg = m;
	rc = listen_to(m);
	if (!rc)
		rc = pulse_take(&m->pulse, m->tree->head, 0);
	return rc ? err_no_file(e, rc, "cannot set up the monitor") : 0;
}

int monitor_init(struct monitor *m, struct ledger_tree *board, struct child *c,
		 struct ticker *ticker, uint64_t interval_ns, const struct monitor_ops *ops,
		 void *arg, struct err *e)
{
	int rc;

	*m = (struct monitor){
		.tree = board,
		.child = c,
		.ops = ops,
		.arg = arg,
		.interval_ns = interval_ns,
		.longest_ns = interval_ns && interval_ns < ledger_tree_calm_ns(board)
				      ? interval_ns
				      : ledger_tree_calm_ns(board),
		.follow = board->follow,
		.root_fd = -1,
		.leaves = board->head->flags & PMM_TREE_LEAKS,
		.serve = SERVE_CLOSED,
	};
	rc = open_all(m, ticker, e);
	if (rc)
		monitor_fini(m);
	return rc;
}

/*
 * No process waits any more, and none will: first the flag, then those that asked before they saw
 * it.
 */
static void let_all_go(struct monitor *m)
{
	__atomic_fetch_and(&m->tree->head->flags, ~(uint32_t)PMM_TREE_LEAKS, __ATOMIC_SEQ_CST);
	vec_each(&m->roll.all, w)
		if (leaving_take(*w))
			leaving_answer(*w);
}

void monitor_fini(struct monitor *m)
{
	monitor_let_go(m);
	if (m->ticker)
		ticker_del(m->ticker, m->tree);
	ticker_fini(&m->own);
	if (m->tree && !m->handed_over) {
		let_all_go(m);
		pulse_drop(&m->pulse);
	}
	census_fini(&m->census);
	roll_fini(&m->roll);
	vec_fini(&m->asked);
	serve_close(&m->serve);
	loop_free(m->loop);
	if (m->root_fd >= 0)
		close(m->root_fd);
	*m = MONITOR_CLOSED;
}

void monitor_value(const struct monitor *m, char value[PRELOAD_VALUE_BYTES])
{
	preload_value(m->tree, m->serve.path_fd, m->serve.address, value);
}

void monitor_fds(const struct monitor *m, int fds[MONITOR_NR_FDS])
{
	serve_fds(&m->serve, fds);
	loop_fds(m->loop, fds + SERVE_NR_FDS);
	fds[SERVE_NR_FDS + LOOP_NR_FDS] = m->tree->fd;
	fds[SERVE_NR_FDS + LOOP_NR_FDS + 1] = m->root_fd;
}

void monitor_begin(struct monitor *m, uint64_t began_ns)
{
	char value[PRELOAD_VALUE_BYTES];

	m->root_begin_ns = began_ns;
	m->who.root = m->child->pid;
	if (proc_start_time(m->child->pid, &m->who.start))
		m->who.start = 0;
	monitor_value(m, value);
	snprintf(m->who.env, sizeof(m->who.env), PMM_ENV "=%s", value);
	__atomic_store_n(&m->tree->head->root_pid, (uint32_t)m->child->pid, __ATOMIC_RELAXED);
	if (m->child->signal_fd != -1)
		return;
	/* without it each step asks */
	m->root_fd = (int)syscall(SYS_pidfd_open, m->child->pid, 0);
	if (m->root_fd >= 0)
		(void)loop_add_fd(m->loop, m->root_fd, EPOLLIN, on_root_end, m, &m->root_end);
}

/*
 * In the forked process. A loop is its process's: there has to be a new one, with a ticker of its
 * own. The board's values tell who listens now; PMM_ENV still names the old one.
 */
static int take_over(struct monitor *m)
{
	int rc;

	m->who.monitor = getpid();
	m->end_asked = m->awaits_all = false;
	__atomic_store_n(&m->tree->head->monitor_pid, (uint32_t)getpid(), __ATOMIC_RELAXED);
	loop_free(m->loop);
	m->own = (struct ticker){ .loop = NULL };	/* its thread is the old process's */
	m->ticker = NULL;
	rc = loop_make(m, NULL);
	if (!rc)
		rc = listen_to(m);
	return rc ? rc : pulse_take(&m->pulse, m->tree->head, !m->tree->head->life_at);
}

static void become_monitor(struct monitor *m, int told_fd)
{
	int rc = take_over(m);

	if (rc)
		_exit(1);
	close(told_fd);
}

pid_t monitor_fork(struct monitor *m)
{
	struct pollfd told = { .events = POLLIN };
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid < 0) {
		pid = -errno;
	} else if (!pid) {
		close(fds[0]);
		become_monitor(m, fds[1]);
		return 0;
	}
	close(fds[1]);
	told.fd = fds[0];
	if (pid > 0) {
		m->handed_over = true;
		/* until the other end is closed, which it is in any case */
		poll(&told, 1, HAND_OVER_MS);
	}
	close(fds[0]);
	return pid;
}

/* Deliver a process's heap, if there is anything in it. */
static void deliver(struct monitor *m, struct watched *w)
{
	struct err e = { .text = "" };
	struct heap *h;
	int rc = watched_read(w, &h, &e);

	if (rc == -EAGAIN && !w->is_root) {
		m->nr_without_events++; /* ended before its ledger began */
	} else if (rc) {
		m->ops->unreadable(m->arg, w->pid, w->is_root, &e);
	} else if (!w->is_root && !watched_has_events(h)) {
		m->nr_without_events++;
		if (m->ops->idle)
			m->ops->idle(m->arg, h);
		else
			heap_free(h);
	} else {
		m->ops->ended(m->arg, h, w->is_root);
	}
}

/* Is all known of how it ended, or has waiting for it no point any more? */
static bool is_settled(struct monitor *m, struct watched *w, uint64_t now_ns)
{
	if (w->is_root) {
		m->root_held_ns = w->held_ns;
		w->ended_ns = m->child->ended ? m->root_end_ns : w->ended_ns;
		w->status = m->child->status;
		w->status_known = m->child->ended;
		if (m->child->last_known)
			usage_series_last(&w->usage, &m->child->last, w->ended_ns);
		return m->child->ended;
	}
	if (!w->status_known)
		w->status_known = !slot_pid_status(w->pid, w->pidfd, &w->status);
	return w->status_known || now_ns - w->ended_ns >= STATUS_WAIT_NS;
}

static void tick_process(struct monitor *m, struct watched *w, uint64_t now_ns)
{
	const unsigned idle = usage_series_idle(&w->usage);

	w->threads.share = m->roll.all.nr;	/* an idle one may end, too */
	w->figures.share = w->usage.share = m->roll.all.nr * idle;
	w->series.share = idle;
	watched_tick(w, now_ns);
	monitor_tell_found(m, w, now_ns, false);
	if (m->ops->alive)
		m->ops->alive(m->arg, w->pid, now_ns);
	if (watched_code_changed(w, now_ns))
		__atomic_fetch_add(&m->tree->head->code_epoch, 1, __ATOMIC_RELAXED);
}

static bool is_over(const struct monitor *m, const struct watched *w)
{
	return w->is_root ? m->child->ended : w->unheard && watched_has_ended(w);
}

/*
 * It may have handed in a newer image's ledger, which is still to be heard. Of many that is not
 * waited for: where so many come there is no end of it.
 */
static bool may_deliver(const struct monitor *m)
{
	return !serve_has_more(&m->serve) || m->nr_ended > MANY_ENDED;
}

/* False: it is delivered and gone. */
static bool visit(struct monitor *m, struct watched *w, uint64_t now_ns)
{
	if (!w->ended && is_over(m, w))
		watched_end(w, now_ns);
	monitor_count_end(m, w);
	if (!w->ended) {
		tick_process(m, w, now_ns);
	} else if (is_settled(m, w, now_ns) && may_deliver(m)) {
		deliver(m, w);
		monitor_drop(m, w);
		return false;
	}
	return true;
}

/*
 * Everybody once, or as many as there is time for; the others are first the next time. The clock
 * continues meanwhile.
 */
static void visit_all(struct monitor *m)
{
	uint64_t start_ns = ticker_tick(m->ticker, m->tree), now_ns = start_ns;
	const uint64_t turn_ns = m->nr_ended > MANY_ENDED ? LONG_TURN_NS : TURN_NS;
	size_t left = m->roll.all.nr;

	m->visited = (uint32_t)(now_ns / PMM_TICK_NS);
	m->stirred = false;
	while (left && now_ns - start_ns < turn_ns) {
		if (m->next >= m->roll.all.nr)
			m->next = 0;
		m->next += visit(m, m->roll.all.v[m->next], now_ns);
		left--;
		now_ns = ticker_tick(m->ticker, m->tree);
	}
	m->behind = left > 0;
}

/* How long to wait for something to happen: until the next tick, or several where all is calm. */
static uint64_t next_ns(const struct monitor *m, uint64_t now_ns)
{
	uint64_t calm_ns = (now_ns - m->stir_ns) / CALM_SHARE;
	uint64_t ns = calm_ns < m->longest_ns && !serve_is_due(&m->serve) ? calm_ns : m->longest_ns;

	if (m->asked.nr || m->behind)
		return 0;
	if (serve_is_due(&m->serve) || ns < PMM_TICK_NS)
		ns = PMM_TICK_NS;
	return ticker_next_ns(m->tree, ns);
}

int monitor_fd(const struct monitor *m)
{
	return loop_fd(m->loop);
}

/* One that is kept open only to be quick, so that the spare one can be had again. */
static void give_up_descriptor(struct monitor *m)
{
	vec_each(&m->roll.all, w) {
		int *fd = (*w)->peak_fd >= 0 ? &(*w)->peak_fd : &(*w)->rss_fd;

		if (*fd < 0)
			continue;
		close(*fd);
		*fd = -1;
		return;
	}
}

/* Is the root not delivered yet? */
static bool root_is_watched(const struct monitor *m)
{
	vec_each(&m->roll.all, w)
		if ((*w)->is_root)
			return true;
	return false;
}

/* After the end all that was said before it is heard, however much came with it. */
static void root_ends(struct monitor *m)
{
	if (!m->child->ended || m->root_done)
		return;
	if (!m->root_drained)
		serve_drain(&m->serve, ticker_tick(m->ticker, m->tree));
	m->root_drained = true;
	m->stirred = true;
}

/*
 * Ends first, before who has ended is taken for the older image of a newer one; then the messages.
 */
uint64_t monitor_step_for(struct monitor *m, int64_t wait_ns)
{
	uint64_t now_ns;
	bool tick;

	root_ends(m);
	m->messages = serve_is_due(&m->serve);
	loop_step(m->loop, wait_ns);
	if (m->child->signal_fd == -1 && !m->root_end && !m->child->ended)
		monitor_on_signals(m);
	if (m->nr_ended > MOST_ENDED)
		m->messages = false;	/* they stay where they are */
	if (m->messages && m->serve.spare_fd < 0)
		give_up_descriptor(m);
	if (m->messages)
		serve_turn(&m->serve, ticker_tick(m->ticker, m->tree));
	now_ns = ticker_tick(m->ticker, m->tree);
	tick = (uint32_t)(now_ns / PMM_TICK_NS) != m->visited;
	if (tick || m->stirred || m->behind)
		visit_all(m);
	if (m->leaves)
		monitor_see_off(m, tick);
	m->root_done |= m->root_drained && !root_is_watched(m);
	loop_set_timer(m->loop, m->timer, next_ns(m, now_ns));
	return now_ns;
}

uint64_t monitor_turn(struct monitor *m)
{
	return monitor_step_for(m, 0);
}

uint64_t monitor_step(struct monitor *m)
{
	return monitor_step_for(m, LONGEST_NS);	/* the timer comes before that */
}

unsigned monitor_living(const struct monitor *m, pid_t *pid)
{
	bool found = false;

	vec_each(&m->roll.all, w) {
		if (pid && !found)
			*pid = (*w)->pid;
		found |= !(*w)->ended;
	}
	return (unsigned)m->roll.all.nr;
}

void monitor_until_root(struct monitor *m)
{
	while (!m->root_done)
		monitor_step(m);
}

/*
 * A process that was just forked or launched has no ledger yet, and one that was forked begins
 * none before it allocates. Where children are not followed none will come.
 */
static unsigned unclaimed(struct monitor *m, bool mapped, pid_t *pid)
{
	if (!m->follow)
		return 0;
	return slot_pid_unclaimed(&m->who, mapped, ledger_tree_now_ns(m->tree) < SOON_NS,
				  monitor_has, m, pid);
}

/*
 * How many are left? One that had no ledger just now may have said that it has one and ended since:
 * no process is left only if no message is unread.
 */
static unsigned left(struct monitor *m, bool mapped, pid_t *pid)
{
	unsigned nr = unclaimed(m, mapped, pid);

	if (nr)
		return nr;
	serve_drain(&m->serve, ticker_tick(m->ticker, m->tree));
	return monitor_living(m, pid);
}

unsigned monitor_left(struct monitor *m, pid_t *pid)
{
	unsigned nr = monitor_living(m, pid);

	return nr ? nr : left(m, false, pid);
}

unsigned monitor_settle(struct monitor *m, uint64_t grace_ns, pid_t *pid)
{
	uint64_t end_ns = ledger_tree_now_ns(m->tree) + grace_ns;
	unsigned nr;

	do
		nr = monitor_left(m, pid);
	while (nr && monitor_step(m) < end_ns);
	return nr;
}

/*
 * A process without ledger and board is given a second to show up; it may be no business of ours.
 */
bool monitor_goes_on(struct monitor *m)
{
	uint64_t now_ns = ledger_tree_now_ns(m->tree);

	if (m->end_asked)
		return false;
	if (!m->seen_ns || monitor_living(m, NULL))
		m->seen_ns = now_ns;
	if (monitor_living(m, NULL) || now_ns < m->next_left_ns)
		return true;
	m->next_left_ns = now_ns + UNCLAIMED_NS;
	return left(m, !m->awaits_all && now_ns - m->seen_ns > START_WAIT_NS, NULL);
}

void monitor_give_up(struct monitor *m)
{
	vec_each(&m->roll.all, w)
		deliver(m, *w);
}

void monitor_until_all(struct monitor *m)
{
	while (monitor_goes_on(m))
		monitor_step(m);
	monitor_give_up(m);
}
