/* The monitor's loop. */
#include "src/capture/monitor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/capture/preload.h"
#include "src/capture/serve.h"
#include "src/target/proc.h"

#define ON_SIGNAL  PMM_MAX_SLOTS /* epoll data; below: the slot whose process ended */
#define ON_CONNECT (PMM_MAX_SLOTS + 1)
#define ON_LEAVING (PMM_MAX_SLOTS + 2)

#define STATUS_WAIT_NS 50000000ull   /* for a parent to collect the status, so that we may see it */
#define CLAIM_WAIT_NS  2000000000ull /* for a claimed slot to get its pid */
#define START_WAIT_NS  1000000000ull /* for a launched process to claim a slot */
#define UNCLAIMED_NS   100000000ull  /* between looks for such */
#define SOON_NS	       500000000ull
#define CALM_SHARE     8	     /* time since somebody came or went : longest wait */

static int add_fd(struct monitor *m, int fd, unsigned what)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = what };

	return epoll_ctl(m->epoll, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

/* What every loop wakes for, whatever processes there are. */
static int add_fds(struct monitor *m)
{
	int rc = add_fd(m, m->child->signal_fd, ON_SIGNAL);

	if (!rc)
		rc = add_fd(m, m->listen_fd, ON_CONNECT);
	if (!rc && m->leaving.fd >= 0)
		rc = add_fd(m, m->leaving.fd, ON_LEAVING);
	return rc;
}

int monitor_init(struct monitor *m, struct ledger_tree *t, struct child *c, uint64_t interval_ns,
		 const struct monitor_ops *ops, void *arg, struct err *e)
{
	struct stat st;
	int rc;

	*m = (struct monitor){
		.tree = t,
		.child = c,
		.ops = ops,
		.arg = arg,
		.interval_ns = interval_ns,
		.longest_ns = interval_ns && interval_ns < ledger_tree_calm_ns(t) ? interval_ns : ledger_tree_calm_ns(t),
		.follow = t->follow,
		.epoll = -1,
		.listen_fd = -1,
		.leaving.fd = -1,
	};
	m->watched = calloc(PMM_MAX_SLOTS, sizeof(*m->watched));
	m->claimed_ns = calloc(PMM_MAX_SLOTS, sizeof(*m->claimed_ns));
	m->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!m->watched || !m->claimed_ns || m->epoll < 0 || fstat(t->fd, &st)) {
		rc = err_set(e, -errno, "cannot set up the monitor: %s", strerror(errno));
		goto out;
	}
	m->who = (struct whois){ .monitor = getpid(), .ino = st.st_ino };
	rc = m->listen_fd = serve_open(t, e);
	if (rc < 0)
		goto out;
	if (t->head->flags & PMM_TREE_LEAKS) {
		rc = leaving_watch_init(&m->leaving, t, e);
		if (rc)
			goto out;
	}
	rc = add_fds(m);
	if (!rc)
		return 0;
	err_set(e, rc, "cannot set up the monitor: %s", strerror(-rc));
out:
	monitor_fini(m);
	return rc;
}

void monitor_fini(struct monitor *m)
{
	leaving_watch_fini(&m->leaving);
	for (unsigned k = 0; m->watched && k < PMM_MAX_SLOTS; k++)
		watched_free(m->watched[k]);
	free(m->watched);
	free(m->claimed_ns);
	if (m->epoll >= 0)
		close(m->epoll);
	if (m->listen_fd >= 0)
		close(m->listen_fd);
	*m = (struct monitor){ .epoll = -1, .listen_fd = -1, .leaving.fd = -1 };
}

void monitor_begin(struct monitor *m)
{
	char value[PRELOAD_VALUE_BYTES];

	m->who.root = m->child->pid;
	if (proc_start_time(m->child->pid, &m->who.start))
		m->who.start = 0;
	preload_value(m->tree, value);
	snprintf(m->who.env, sizeof(m->who.env), PMM_ENV "=%s", value);
	__atomic_store_n(&m->tree->head->root_pid, (uint32_t)m->child->pid, __ATOMIC_RELAXED);
	if (m->leaving.fd >= 0)
		leaving_watch_start(&m->leaving);
}

/*
 * An epoll set delivers signals of the process that filled it: after a fork it has to be filled
 * anew.
 */
int monitor_moved(struct monitor *m)
{
	int rc;

	m->who.monitor = getpid();
	m->end_asked = false;
	__atomic_store_n(&m->tree->head->monitor_pid, (uint32_t)getpid(), __ATOMIC_RELAXED);
	close(m->epoll);
	m->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (m->epoll < 0)
		return -errno;
	rc = add_fds(m);
	for (unsigned k = 0; !rc && k < m->tree->nr_slots; k++)
		if (m->watched[k] && m->watched[k]->pidfd >= 0 && !m->watched[k]->ended)
			rc = add_fd(m, m->watched[k]->pidfd, k);
	if (!rc && m->leaving.fd >= 0)
		leaving_watch_start(&m->leaving);
	return rc;
}

/* Stop watching and give the slot back, unless others need it. */
static void let_go(struct monitor *m, unsigned k)
{
	watched_free(m->watched[k]);
	m->watched[k] = NULL;
	m->claimed_ns[k] = 0;
	ledger_tree_slot_take(m->tree, k);
	kept_add(&m->kept, m->tree, k, ledger_tree_now_ns(m->tree));
}

/* Deliver a process's heap, if there is anything in it. */
static void deliver(struct monitor *m, struct watched *w)
{
	struct err e = { .text = "" };
	struct heap *h;
	int rc = watched_read(w, m->tree, &h, &e);

	if (rc == -EAGAIN && !w->is_root) {
		m->nr_without_events++; /* ended before its ledger began */
	} else if (rc) {
		m->ops->unreadable(m->arg, w->pid > 0 ? w->pid : (pid_t)w->ns_pid, w->is_root, &e);
	} else if (!w->is_root && !watched_has_events(h)) {
		m->nr_without_events++;
		heap_free(h);
	} else {
		m->ops->ended(m->arg, h, w->is_root);
	}
}

/* Has the process of a slot another one, of the image that replaced this one? */
static bool has_newer_image(const struct monitor *m, unsigned k, uint32_t pid)
{
	for (unsigned i = 0; i < m->tree->nr_slots; i++) {
		uint32_t other;

		/* the same number in another pid namespace is another process */
		if (i != k && ledger_tree_slot_state(m->tree, i, &other) == PMM_SLOT_LIVE &&
		    other == pid && m->watched[i] && m->watched[i]->pid == (pid_t)pid)
			return true;
	}
	return false;
}

/* Is all known of how it ended, or has waiting for it no point any more? */
static bool is_settled(const struct monitor *m, struct watched *w, uint64_t now_ns)
{
	if (w->is_root) {
		w->status = m->child->status;
		w->status_known = m->child->ended;
		return m->child->ended;
	}
	if (!w->status_known && w->pid)
		w->status_known = !whois_status(w->pid, w->pidfd, &w->status);
	return w->status_known || !w->pid || now_ns - w->ended_ns >= STATUS_WAIT_NS;
}

static bool is_traced(void *arg, pid_t pid)
{
	struct monitor *m = arg;

	for (unsigned k = 0; k < m->tree->nr_slots; k++)
		if (m->watched[k] && m->watched[k]->pid == pid)
			return true;
	return false;
}

static void on_signals(struct monitor *m)
{
	m->end_asked |= child_signals(m->child, is_traced, m);
	if (m->child->ended && !m->root_end_ns)
		m->root_end_ns = m->stir_ns = ledger_tree_now_ns(m->tree);
}

struct waiting {
	struct monitor *m;
	unsigned k;
	bool let_go;
};

static void let_wait_no_more(void *arg)
{
	struct waiting *w = arg;

	if (w->let_go)
		return;
	on_signals(w->m);	/* while it still waits they are too late; after that they would cost it what it has yet to write */
	leaving_answer(w->m->tree, w->k);
	w->let_go = true;
}

/*
 * One of the processes that wait at their end: have it searched, and let it go on. False when none waits. One at a time: in between
 * ends have to be noticed and slots given back.
 */
static bool see_one_off(struct monitor *m)
{
	for (unsigned i = 0; i < m->tree->nr_slots; i++) {
		unsigned k = (m->next_leaving + i) % m->tree->nr_slots;
		const struct watched *w = m->watched[k];
		struct waiting waiting = { .m = m, .k = k };
		struct leaving l;

		if (!w || w->pid < 0 || !leaving_take(m->tree, k))
			continue;
		if (m->ops->leaving && w->pid && !leaving_read(m->tree, k, w->pid, &l)) {
			l.let_go = let_wait_no_more;
			l.let_go_arg = &waiting;
			m->ops->leaving(m->arg, w->pid, &l);
		}
		let_wait_no_more(&waiting);
		m->next_leaving = k + 1;
		return true;
	}
	return false;
}

/* Tell of heap errors that are new. */
static void tell_found(struct monitor *m, struct watched *w, uint64_t now_ns, bool last)
{
	struct heap *h;

	if (!m->ops->found || !watched_found(w, m->tree, now_ns, last, &h))
		return;
	m->ops->found(m->arg, h, w->is_root);
	heap_free(h);
}

static void visit_claimed(struct monitor *m, unsigned k, uint32_t pid, uint64_t now_ns)
{
	struct watched *w = m->watched[k];

	if (!w) {
		w = m->watched[k] = watched_new(k, pid, m->interval_ns, now_ns);
		m->stir_ns = now_ns;
	}
	if (!w)
		return; /* out of memory: perhaps not for long */
	if (w->pid < 0) {
		if (!watched_find(w, m->tree, &m->who, now_ns))
			return;
		if (w->pidfd >= 0)
			add_fd(m, w->pidfd, k);
	}
	if (!w->ended && (w->is_root ? m->child->ended : w->pidfd < 0 && !proc_alive(w->pid)))
		watched_end(w, now_ns);
	if (!w->ended) {
		watched_tick(w, m->tree, now_ns);
		tell_found(m, w, now_ns, false);
		if (m->ops->alive && w->pid > 0)
			m->ops->alive(m->arg, w->pid, now_ns);
		if (watched_code_changed(w, now_ns))
			__atomic_fetch_add(&m->tree->head->code_epoch, 1, __ATOMIC_RELAXED);
	} else if (is_settled(m, w, now_ns)) {
		ledger_tree_slot_take(m->tree, k);
		deliver(m, w);
		let_go(m, k);
	}
}

/* A claim stays without pid for a moment; for ever, when the process was killed right there. */
static void visit_nameless(struct monitor *m, unsigned k, uint64_t now_ns)
{
	if (!m->claimed_ns[k])
		m->claimed_ns[k] = now_ns;
	else if (now_ns - m->claimed_ns[k] > CLAIM_WAIT_NS)
		let_go(m, k);
}

static void visit(struct monitor *m, unsigned k, uint64_t now_ns)
{
	uint32_t pid;
	enum pmm_slot_state state = ledger_tree_slot_state(m->tree, k, &pid);

	if (state == PMM_SLOT_FREE || state == PMM_SLOT_TAKEN) {
		watched_free(m->watched[k]); /* given back by the agent, or scribbled on */
		m->watched[k] = NULL;
		if (leaving_take(m->tree, k)) /* two agents in one process, of which one was taken for the other's successor */
			leaving_answer(m->tree, k);
	} else if (!pid && !m->watched[k]) {
		visit_nameless(m, k, now_ns);
	} else if (state == PMM_SLOT_REPLACED && !m->who.foreign && has_newer_image(m, k, pid)) {
		m->nr_replaced++;
		if (m->watched[k])
			tell_found(m, m->watched[k], now_ns, true);
		let_go(m, k);
	} else {
		visit_claimed(m, k, pid, now_ns);
	}
}

static bool is_of_tree(void *arg, pid_t pid)
{
	struct monitor *m = arg;

	return is_traced(m, pid) || whois_descends(&m->who, pid);
}

static void on_event(struct monitor *m, unsigned what)
{
	if (what == ON_SIGNAL) {
		on_signals(m);
	} else if (what == ON_CONNECT) {
		serve_all(m->listen_fd, m->tree, is_of_tree, m);
	} else if (what == ON_LEAVING) {
		leaving_watch_drain(&m->leaving);
	} else if (what < PMM_MAX_SLOTS && m->watched[what]) {
		struct watched *w = m->watched[what];

		m->stir_ns = ledger_tree_now_ns(m->tree);
		watched_end(w, m->stir_ns);
		epoll_ctl(m->epoll, EPOLL_CTL_DEL, w->pidfd, NULL);
	}
}

/* How long to wait for something to happen: until the next tick, or several where all is calm. */
static int wait_ms(const struct monitor *m, uint64_t now_ns)
{
	uint64_t calm_ns = (now_ns - m->stir_ns) / CALM_SHARE;
	uint64_t ns = calm_ns < m->longest_ns ? calm_ns : m->longest_ns;

	if (ns < PMM_TICK_NS)
		ns = PMM_TICK_NS;
	return (int)((ns - now_ns % PMM_TICK_NS) / 1000000) + 1;
}

uint64_t monitor_step(struct monitor *m)
{
	struct epoll_event ev[16];
	uint64_t now_ns = ledger_tree_tick(m->tree);
	int n;

	__atomic_store_n(&m->leaving.busy, false, __ATOMIC_RELAXED);
	n = epoll_wait(m->epoll, ev, 16, m->one_left ? 0 : wait_ms(m, now_ns));
	__atomic_store_n(&m->leaving.busy, true, __ATOMIC_RELAXED);

	for (int i = 0; i < n; i++)
		on_event(m, ev[i].data.u32);
	now_ns = ledger_tree_tick(m->tree);
	for (unsigned k = 0; k < m->tree->nr_slots; k++)
		visit(m, k, now_ns);
	kept_tend(&m->kept, m->tree, now_ns);
	m->one_left = m->leaving.fd >= 0 && see_one_off(m);
	return now_ns;
}

unsigned monitor_living(const struct monitor *m, pid_t *pid)
{
	unsigned nr = 0;

	for (unsigned k = 0; k < m->tree->nr_slots; k++) {
		uint32_t ns_pid;
		enum pmm_slot_state state = ledger_tree_slot_state(m->tree, k, &ns_pid);

		if ((state != PMM_SLOT_LIVE && state != PMM_SLOT_REPLACED) ||
		    (m->claimed_ns[k] && !ns_pid))
			continue;
		if (pid && !nr)
			*pid = m->watched[k] && m->watched[k]->pid > 0 ? m->watched[k]->pid
								       : (pid_t)ns_pid;
		nr++;
	}
	return nr;
}

/* Does the root still hold a slot? */
static bool root_is_watched(const struct monitor *m)
{
	for (unsigned k = 0; k < m->tree->nr_slots; k++)
		if (m->watched[k] && m->watched[k]->is_root)
			return true;
	return false;
}

/*
 * The step after the end is seen visits every slot once more: nothing the root claimed is missed.
 */
void monitor_until_root(struct monitor *m)
{
	while (!m->child->ended)
		monitor_step(m);
	do
		monitor_step(m);
	while (root_is_watched(m));
}

/*
 * A process that was just forked or launched has no slot yet, and one that was forked gets none
 * before it allocates. Where children are not followed none will come.
 */
static unsigned unclaimed(struct monitor *m, bool mapped, pid_t *pid)
{
	if (!m->follow)
		return 0;
	return whois_unclaimed(&m->who, mapped, ledger_tree_now_ns(m->tree) < SOON_NS, is_traced, m, pid);
}

unsigned monitor_settle(struct monitor *m, uint64_t grace_ns, pid_t *pid)
{
	uint64_t end_ns = ledger_tree_now_ns(m->tree) + grace_ns;
	unsigned nr;

	do {
		nr = monitor_living(m, pid);
		if (!nr)
			nr = unclaimed(m, false, pid);
	} while (nr && monitor_step(m) < end_ns);
	return nr;
}

/*
 * A process without slot and mapping is given a second to show up; it may be no business of ours.
 */
void monitor_until_all(struct monitor *m)
{
	uint64_t now_ns = ledger_tree_now_ns(m->tree), seen_ns = now_ns, next_ns = 0;

	while (!m->end_asked) {
		if (monitor_living(m, NULL)) {
			seen_ns = now_ns;
		} else if (now_ns >= next_ns) {
			if (!unclaimed(m, now_ns - seen_ns > START_WAIT_NS, NULL))
				break;
			next_ns = now_ns + UNCLAIMED_NS;
		}
		now_ns = monitor_step(m);
	}
	for (unsigned k = 0; k < m->tree->nr_slots; k++)
		if (m->watched[k])
			deliver(m, m->watched[k]);
}
