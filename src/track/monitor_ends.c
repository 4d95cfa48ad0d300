/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ends of processes and of the program, as the monitor's loop hears of them; news of each. */
#include "src/track/monitor_priv.h"

void monitor_count_end(struct monitor *m, struct watched *w)
{
	m->nr_ended += w->ended && !w->end_counted;
	w->end_counted = w->ended;
}

/* Of several with its number those that live still are others. */
static void on_end(void *arg, uint32_t events)
{
	struct watched *of = arg;
	struct monitor *m = of->heard.monitor;

	(void)events;
	m->stir_ns = ledger_tree_now_ns(m->tree);
	for (struct watched *w = roll_same(&m->roll, of->pid, NULL); w;
	     w = roll_same(&m->roll, of->pid, w)) {
		if (w->pidfd < 0 || !(w->ended || watched_has_ended(w)))
			continue;
		/* it stays readable: one call is enough, also where the end was seen elsewhere */
		loop_del(m->loop, w->heard.source);
		w->heard.source = NULL;
		if (w->ended)
			continue;
		watched_end(w, m->stir_ns);
		monitor_count_end(m, w);
		w->end_heard = true;
		m->stirred = true;
	}
}

int monitor_await_end(struct monitor *m, struct watched *w)
{
	w->heard.monitor = m;
	w->heard.source = NULL;
	return loop_add_fd(m->loop, w->pidfd, EPOLLIN, on_end, w, &w->heard.source);
}

void monitor_drop(struct monitor *m, struct watched *w)
{
	m->nr_ended -= w->end_counted;
	loop_del(m->loop, w->heard.source);
	roll_del(&m->roll, w);
}

bool monitor_has(void *arg, pid_t pid)
{
	struct monitor *m = arg;

	return roll_find(&m->roll, pid) != NULL;
}

void monitor_on_signals(struct monitor *m)
{
	m->end_asked |= child_signals(m->child, monitor_has, m);
	if (!m->child->ended || m->root_end_ns)
		return;
	m->root_end_ns = m->stir_ns = ledger_tree_now_ns(m->tree);
	m->stirred = true;
}

void monitor_tell_found(struct monitor *m, struct watched *w, uint64_t now_ns, bool last)
{
	struct heap *h;

	if (!m->ops->found || !watched_found(w, now_ns, last, &h))
		return;
	m->ops->found(m->arg, h, w->is_root);
}
