/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that wait at their end, seen off one at a time: in between, ends have to be noticed and
 * messages heard.
 */
#include "src/track/monitor_priv.h"

#include <string.h>

#define MOST_ASKED 8	/* searches of one image: a program that is broken could ask for ever */

static void let_wait_no_more(void *arg)
{
	struct monitor *m = arg;
	struct monitor_waiting *of = &m->waiting;

	if (of->let_go)
		return;
	/*
	 * while it still waits they are too late; after that they would cost it what it has yet to
	 * write
	 */
	monitor_on_signals(m);
	leaving_answer(of->w);
	of->w->held_ns += ledger_tree_now_ns(m->tree) - of->w->asked_ns;
	of->w->asked_ns = 0;
	of->let_go = true;
}

void monitor_let_go(struct monitor *m)
{
	if (!m->waiting.w)
		return;
	let_wait_no_more(m);
	ticker_pause(m->ticker);
	m->waiting.w = NULL;
}

static void search(struct monitor *m, struct watched *w)
{
	struct leaving *l = &m->waiting.leaving;
	bool holds = false;

	m->waiting = (struct monitor_waiting){ .w = w };
	if (!w->asked_ns)
		w->asked_ns = ledger_tree_now_ns(m->tree);
	ticker_begin(m->ticker);
	/* it may have ended before it was visited */
	watched_tick(w, ticker_tick(m->ticker, m->tree));
	if (m->ops->leaving && w->nr_asked++ < MOST_ASKED && !leaving_read(w, l)) {
		l->let_go = let_wait_no_more;
		l->let_go_arg = m;
		m->ops->leaving(m->arg, w->pid, l);
		holds = m->holds;
	}
	if (!holds)
		monitor_let_go(m);
}

/* Of those that said they wait, and do. */
static struct watched *next_asked(struct monitor *m)
{
	while (m->asked.nr) {
		size_t i = leaving_pick(m->asked.v, m->asked.nr, m->nr_picked++);
		struct watched *w = roll_find(&m->roll, m->asked.v[i].pid);

		m->asked.nr--;
		memmove(&m->asked.v[i], &m->asked.v[i + 1],
			(m->asked.nr - i) * sizeof(m->asked.v[0]));
		if (w && leaving_take(w))
			return w;
	}
	return NULL;
}

/* One whose word says so: a process that is confined cannot send anything. */
static struct watched *next_waiting(struct monitor *m)
{
	for (size_t i = 0; i < m->roll.all.nr; i++) {
		struct watched *w;

		if (++m->next_leaving >= m->roll.all.nr)
			m->next_leaving = 0;
		w = m->roll.all.v[m->next_leaving];
		if (leaving_take(w))
			return w;
	}
	return NULL;
}

bool monitor_see_off(struct monitor *m, bool all)
{
	struct watched *w = next_asked(m);

	if (!w && all)
		w = next_waiting(m);
	if (!w)
		return false;
	search(m, w);
	return true;
}
