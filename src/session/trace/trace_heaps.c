/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attaches and a launch side by side on one loop, and their heaps as rows. */
#include "src/session/trace/trace_heaps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/ledger/preload.h"
#include "src/proc/task.h"
#include "src/session/session.h"
#include "src/track/child.h"
#include "src/track/launch.h"
#include "src/track/track_attach.h"

#define MAX_FRAMES	128

/* ---- one heap ---- */

static struct trace_heap *heap_of(const struct trace_heaps *t, pid_t pid)
{
	vec_each(&t->heaps, h)
		if ((*h)->pid == pid && !(*h)->ended)
			return *h;
	return NULL;
}

/* NULL: out of memory. */
static struct trace_heap *add(struct trace_heaps *t, pid_t pid)
{
	struct trace_heap *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->pid = pid;
	if (proc_comm(pid, h->comm))
		h->comm[0] = '\0';
	if (!vec_push(&t->heaps, h))
		return h;
	free(h);
	return NULL;
}

static void drop_heap(struct trace_heap *h)
{
	if (h->named)
		naming_close(&h->naming);
	h->named = false;
	heap_free(h->heap);
	h->heap = NULL;
}

/* A heap that has just been read: its rows, beside those of the one before. */
static int take_in(const struct trace_heaps *t, struct trace_heap *h, struct heap *now)
{
	const struct naming_options o = { .full = true, .pid = h->ended ? 0 : h->pid };
	uint64_t old_before_ns = 0;

	drop_heap(h);
	h->heap = now;
	h->failed = false;
	snprintf(h->comm, sizeof(h->comm), "%s", now->comm);
	naming_open(&h->naming, now, &o);
	h->named = true;
	if (t->o.older_ns)
		old_before_ns = now->taken_ns > t->o.older_ns ? now->taken_ns - t->o.older_ns : 1;
	return heap_rows_look(&h->rows, now, old_before_ns, t->o.min_bytes);
}

static int look(struct trace_heaps *t, struct trace_heap *h)
{
	struct heap *now = NULL;
	int rc;

	if (h->ended)
		return 0;
	h->why = (struct err){ 0 };
	rc = h->attach ? attach_read(h->attach, &now, &h->why)
		       : launch_read(t->launch, h->pid, &now, &h->why);
	if (!rc)
		return take_in(t, h, now);
	h->failed = true;
	return rc == -ENOMEM ? rc : 0;
}

static void heap_close(struct trace_heaps *t, struct trace_heap *h)
{
	loop_del(t->o.loop, h->source);
	attach_close(h->attach);
	drop_heap(h);
	heap_rows_fini(&h->rows);
	free(h);
}

/* ---- attached ---- */

/* Its last heap, and the agent out of it. 0 or -ENOMEM. */
static int leave(struct trace_heaps *t, struct trace_heap *h)
{
	struct heap *final = NULL;
	bool removed;
	int rc;

	loop_del(t->o.loop, h->source);
	h->source = NULL;
	rc = attach_detach(h->attach, &final, &removed, &h->why);
	if (rc) {
		session_error(t->to, &h->why);
		h->failed = !final;
	}
	h->ended = true;
	attach_close(h->attach);
	h->attach = NULL;
	return final ? take_in(t, h, final) : 0;
}

static void on_attach(void *arg, uint32_t events)
{
	struct trace_heap *h = arg;

	(void)events;
	attach_step(h->attach, 0);
}

static int attach_one(struct trace_heaps *t, struct trace_heap *h, struct err *e)
{
	struct attach_options o = { .max_frames = MAX_FRAMES, .ticker = t->ticker };
	int rc = attach_open(h->pid, &o, &h->attach, e);

	if (!rc)
		rc = attach_start(h->attach, e);
	if (!rc)
		rc = loop_add_fd(t->o.loop, attach_fd(h->attach), EPOLLIN, on_attach, h,
				 &h->source);
	if (rc) {
		attach_close(h->attach);
		h->attach = NULL;
		h->ended = h->failed = true;
		h->why = *err_default(e, rc);
	}
	return rc;
}

static int attach_all(struct trace_heaps *t, struct err *e)
{
	size_t nr = 0;
	int first = 0;

	for (size_t i = 0; i < t->o.nr_pids; i++) {
		struct trace_heap *h = add(t, t->o.pids[i]);
		struct err why = { 0 };
		int rc = h ? attach_one(t, h, &why) : -ENOMEM;

		if (!rc) {
			nr++;
			continue;
		}
		if (!first)
			*e = *err_default(&why, first = rc);
		if (t->o.nr_pids > 1)
			session_error(t->to, err_default(&why, rc));
	}
	return nr ? 0 : first;
}

/* ---- launched ---- */

static int on_ended(struct trace_heaps *t, struct launch_event *ev)
{
	struct trace_heap *h = heap_of(t, ev->pid);

	if (!h)
		h = add(t, ev->pid);
	if (!h) {
		heap_free(ev->heap);
		return -ENOMEM;
	}
	h->ended = true;
	return take_in(t, h, ev->heap);
}

static void on_launch(void *arg, uint32_t events)
{
	struct trace_heaps *t = arg;
	struct launch_event ev;
	enum launch_what what;

	(void)events;
	launch_step(t->launch, 0);
	while ((what = launch_next(t->launch, &ev)) != LAUNCH_NONE) {
		if (what == LAUNCH_ENDED && on_ended(t, &ev))
			session_warn(t->to, "the heap of process %d is missing: out of memory",
				     (int)ev.pid);
		else if (what == LAUNCH_FOUND || what == LAUNCH_IDLE)
			heap_free(ev.heap);
		else if (what == LAUNCH_UNREADABLE)
			session_error(t->to, &ev.err);
	}
	if (launch_root_done(t->launch) && !t->told) {
		t->told = true;
		t->o.ended(t->o.arg, launch_child(t->launch)->status);
	}
}

static int open_launch(struct trace_heaps *t, struct err *e)
{
	struct launch_options o = { .argv = t->o.argv,
				    .agent = t->agent,
				    .tree = { .mode = PMM_MODE_EXACT,
					      .follow = t->o.follow,
					      .max_frames = MAX_FRAMES },
				    .signals = t->o.signals,
				    .mask = t->o.mask,
				    .ticker = t->ticker,
				    .forked = t->o.forked,
				    .forked_arg = t->o.arg };
	int rc;

	if (elf_check(t->o.argv[0], &t->program, e) != ELF_CHECK_OK)
		return -ENOEXEC;
	o.path = t->program.path;
	rc = preload_find(t->agent, e);
	if (!rc)
		rc = launch_open(&o, &t->launch, e);
	if (!rc)
		rc = launch_start(t->launch, e);
	if (!rc)
		rc = loop_add_fd(t->o.loop, launch_fd(t->launch), EPOLLIN, on_launch, t,
				 &t->launch_source);
	return rc;
}

/* Processes of the tree that have a ledger by now. */
static int add_living(struct trace_heaps *t)
{
	size_t at = 0;
	pid_t pid;

	while (t->launch && (pid = launch_living(t->launch, &at)))
		if (!heap_of(t, pid) && !add(t, pid))
			return -ENOMEM;
	return 0;
}

/* ---- from open to close ---- */

int trace_heaps_open(struct trace_heaps **out, const struct trace_heaps_options *o,
		     const struct session_sink *to, struct err *e)
{
	struct trace_heaps *t = calloc(1, sizeof(*t));
	int rc = t ? 0 : -ENOMEM;

	*out = NULL;
	if (!rc) {
		t->o = *o;
		t->to = to;
		t->ticker = calloc(1, sizeof(*t->ticker));
		rc = t->ticker ? ticker_init(t->ticker, o->loop) : -ENOMEM;
	}
	if (rc) {
		trace_heaps_close(t);
		return err_set(e, rc, "cannot watch heaps: %s", strerror(-rc));
	}
	*out = t;
	return 0;
}

int trace_heaps_start(struct trace_heaps *t, struct err *e)
{
	return t->o.argv ? open_launch(t, e) : attach_all(t, e);
}

int trace_heaps_look(struct trace_heaps *t)
{
	int rc = add_living(t);

	ticker_begin(t->ticker);
	vec_each(&t->heaps, h)
		if (!rc)
			rc = look(t, *h);
	ticker_pause(t->ticker);
	return rc;
}

int trace_heaps_end(struct trace_heaps *t)
{
	int rc = t->launch ? trace_heaps_look(t) : 0;

	vec_each(&t->heaps, h)
		if ((*h)->attach && leave(t, *h))
			rc = -ENOMEM;
	if (t->launch && !launch_root_done(t->launch))
		launch_release(t->launch);
	return rc;
}

uint64_t trace_heaps_hook_pc(pid_t pid)
{
	struct ledger_map *m;
	uint64_t pc;

	if (ledger_map_open_pid(pid, &m, NULL))
		return 0;
	pc = ledger_hook_pc(m);
	ledger_map_close(m);
	return pc;
}

void trace_heaps_close(struct trace_heaps *t)
{
	if (!t)
		return;
	vec_each(&t->heaps, h)
		heap_close(t, *h);
	vec_fini(&t->heaps);
	loop_del(t->o.loop, t->launch_source);
	launch_close(t->launch);
	if (t->ticker)
		ticker_fini(t->ticker);
	free(t->ticker);
	free(t);
}
