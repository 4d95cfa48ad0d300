/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What processes say to the monitor. */
#include "src/track/monitor_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "src/proc/proc.h"

void monitor_lose(void *arg)
{
	struct monitor *m = arg;

	m->nr_lost++;
}

/*
 * The process has a ledger already. Then another image is in its place now, or another copy of the
 * agent: what they had before is reported and not delivered.
 */
static void strike_out_older(struct monitor *m, struct watched *w, uint64_t now_ns)
{
	watched_replace(w);
	if (leaving_take(w))
		leaving_answer(w);
	m->nr_replaced++;
	monitor_tell_found(m, w, now_ns, true);
	monitor_drop(m, w);
}

/* An older image of the same process, which may have ended by now. NULL: there is none. */
static struct watched *older_image(const struct monitor *m, const struct watched *new, bool by_exec)
{
	for (struct watched *w = roll_same(&m->roll, new->pid, NULL); w;
	     w = roll_same(&m->roll, new->pid, w))
		if (watched_same(w, new, by_exec || !watched_has_ended(w)))
			return w;
	return NULL;
}

/* The same file once more. */
static bool is_known(const struct monitor *m, const struct watched *new)
{
	for (struct watched *w = roll_same(&m->roll, new->pid, NULL); w;
	     w = roll_same(&m->roll, new->pid, w))
		if (w->ino == new->ino)
			return true;
	return false;
}

/*
 * Its parent, where that is watched; NULL: it is not. Who has ended by now has no parent any more,
 * or another one, and no name: what its ledger has of that counts then.
 */
static struct watched *parent_of(const struct monitor *m, const struct watched *new,
				 char comm[PROC_COMM_BYTES])
{
	pid_t parent;
	struct watched *w = slot_pid_parent(new->pid, &parent) ? NULL : roll_find(&m->roll, parent);
	char said[PROC_COMM_BYTES] = "";

	if (!watched_origin(new, &parent, said) && !w)
		w = roll_find(&m->roll, parent);
	if (proc_comm(new->pid, comm))
		memcpy(comm, said, sizeof(said));
	return w;
}

/* Its parent has made a process, which may have executed a program. */
static void tell_parent(const struct monitor *m, const struct watched *new, bool is_new,
			bool by_exec, uint64_t now_ns)
{
	char comm[PROC_COMM_BYTES];
	struct watched *w = parent_of(m, new, comm);

	if (!w)
		return;
	if (is_new)
		mark_series_add(&w->marks, HEAP_MARK_FORK, now_ns, new->pid, by_exec ? "" : comm);
	if (by_exec)
		mark_series_add(&w->marks, HEAP_MARK_CHILD_EXEC, now_ns, new->pid, comm);
}

/* Its end is what the loop reports; where it cannot, each visit asks. */
static void enter(struct monitor *m, struct watched *w, bool by_exec, uint64_t now_ns)
{
	struct watched *older;

	if (is_known(m, w)) {
		watched_free(w);
		return;
	}
	older = older_image(m, w, by_exec);
	if (older)
		strike_out_older(m, older, now_ns);
	w->is_root = w->pid == m->who.root && !m->root_done;
	if (w->is_root && !older)
		w->launched_ns = m->root_begin_ns;
	if (roll_add(&m->roll, w)) {
		watched_free(w);
		m->nr_lost++;
		return;
	}
	monitor_count_end(m, w);
	m->stir_ns = now_ns;
	tell_parent(m, w, !older, by_exec, now_ns);
	w->unheard = w->pidfd < 0 || monitor_await_end(m, w);
}

/* `whole`: a ledger is in the file already; `by_exec`: that of a new image. 0 or -errno. */
static int enter_file(struct monitor *m, const struct message_peer *from, int fd, bool whole,
		      bool by_exec)
{
	uint64_t now_ns = ledger_tree_now_ns(m->tree);
	/*
	 * an old kernel does not say which process that was; where descriptors are used up nothing
	 * can be watched
	 */
	bool sure = from->sure || slot_pid_may_be(&m->who, from->pid);
	int pidfd = from->pidfd >= 0 && sure ? fcntl(from->pidfd, F_DUPFD_CLOEXEC, 3) : -1;
	struct watched *w = watched_new(from->pid, pidfd, fd, m->interval_ns, now_ns);
	/* who it is cannot be known */
	int rc = !w ? -ENOMEM : !sure && from->want ? -EMFILE : watched_accept(w, m->tree, whole);

	if (rc) {
		watched_free(w);
		return rc;
	}
	if (!sure || (from->sure && from->pidfd < 0))
		watched_end(w, now_ns);
	enter(m, w, by_exec, now_ns);
	return 0;
}

static void on_here(struct monitor *m, const struct message_peer *from, int fd, bool by_exec)
{
	if (!from->pid) {
		message_discard(fd);
		m->nr_lost++;
	} else if (enter_file(m, from, fd, true, by_exec)) {
		m->nr_lost++;
	}
}

/*
 * A file made for a process that may not make one; where we cannot either, it says that it is lost.
 */
static void on_file(struct monitor *m, const struct message_peer *from, int socket)
{
	int fd = from->pid ? ledger_tree_file(m->tree) : -ESRCH, given, rc = fd < 0 ? fd : 0;

	if (!rc) {
		given = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		rc = given < 0 ? -errno : enter_file(m, from, fd, false, false);
		message_answer(socket, rc, rc ? -1 : given);
		if (given >= 0)
			close(given);
		else
			close(fd);
	} else {
		message_answer(socket, rc, -1);
	}
}

/* Of the image before it, or of the process it was forked from: limits are kept and inherited. */
static enum pmm_limit limit_of(const struct monitor *m, pid_t pid)
{
	const struct watched *w = roll_find(&m->roll, pid);
	pid_t parent;

	if (!w && !slot_pid_parent(pid, &parent))
		w = roll_find(&m->roll, parent);
	return w ? watched_limit(w) : PMM_LIMIT_AS_IT_WAS;
}

/*
 * A process that is not known, because its file was refused, never came, or is not the one in which
 * it waits for an answer, must not wait.
 */
static void on_leave(struct monitor *m, pid_t pid, int socket)
{
	struct watched *w = m->leaves ? roll_find(&m->roll, pid) : NULL;
	struct leaving_asked asked = { .pid = pid };

	if (!w || !leaving_waits(w)) {
		message_answer(socket, -ESRCH, -1);
		return;
	}
	w->asked_ns = ledger_tree_now_ns(m->tree);
	proc_rss(pid, &w->rss_fd, &asked.rss_bytes);
	if (m->asked.nr <= m->roll.all.nr)
		(void)vec_push(&m->asked, asked);	/* without it the next tick sees the word */
}

void monitor_hear(void *arg, const struct pmm_message *said, const struct message_peer *from,
		  int socket, int fd)
{
	struct monitor *m = arg;

	if (from->pid &&
	    (((said->what == PMM_SAY_HERE || said->what == PMM_SAY_FILE) && said->new_image) ||
	     said->what == PMM_SAY_LOST))
		census_here(&m->census, from->pid, said->time_ns);
	switch (said->what) {
	case PMM_SAY_EXEC:
		census_exec(&m->census, said, from->pid);
		break;
	case PMM_SAY_HERE:
		on_here(m, from, fd, said->new_image != 0);
		break;
	case PMM_SAY_LEAVE:
		on_leave(m, from->pid, socket);
		break;
	case PMM_SAY_LOST:
		m->nr_lost++;
		break;
	case PMM_SAY_BOARD:
		message_answer(socket, 0, m->serve.board_fd);
		break;
	case PMM_SAY_FILE:
		on_file(m, from, socket);
		break;
	case PMM_SAY_LIMIT:
		message_answer(socket, limit_of(m, from->pid), -1);
		break;
	}
}
