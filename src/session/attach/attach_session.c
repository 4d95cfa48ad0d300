/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watching: totals once a second, the whole heap as often as two percent of a processor allow.
 */
#include "src/session/attach/attach_session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/proc/task.h"
#include "src/session/attach/attach_notes.h"
#include "src/session/attach/attach_session_priv.h"
#include "src/session/attach/attach_trace.h"
#include "src/session/session.h"
#include "src/store/output.h"
#include "src/view/report_view.h"

#define SECOND_NS	1000000000ull
#define LOOK_SHARE	50		/* a look's cost : pause until the next */
#define MAX_PAUSE_NS	(5 * SECOND_NS)	/* unless looks cost more */
#define JUDGE_NS	(2 * SECOND_NS)
/* between two changes of the verdict that are reported */
#define CALM_NS		(60 * SECOND_NS)

/* ---- waiting ---- */

static void on_attach(void *arg, uint32_t events)
{
	(void)events;
	attach_step(((struct attach_session *)arg)->a, 0);
}

void attach_session_end(struct attach_session *s, enum say_end why)
{
	s->asked |= why == SAY_SIGNAL;
	s->mute |= why == SAY_MUTE;
}

bool attach_session_wait(struct attach_session *s, uint64_t ns)
{
	uint64_t now_ns = attach_now_ns(s->a);

	if (now_ns >= s->end_ns)
		return false;
	if (s->event == WATCH_GOES_ON)
		attach_say_wait_until(s, now_ns + ns);
	return s->event == WATCH_GOES_ON;
}

static const struct limit *nearest(struct attach_session *s, struct limit *limit)
{
	return limits_nearest("", task_proc(s->o.pid), limit) ? NULL : limit;
}

/* Tell when the verdict on the whole heap changes. */
static void judge(struct attach_session *s, uint64_t now_ns)
{
	struct limit limit;
	struct growth g;
	bool grows;

	if (now_ns < s->judged_ns)
		return;
	s->judged_ns = now_ns + JUDGE_NS;
	if (growing_judge(&s->growing, &g))
		return;
	grows = g.verdict == GROWTH_STEADY;
	if (grows == s->grows)
		return;
	s->grows = grows;
	s->judged_ns = now_ns + CALM_NS;
	attach_say(s, attach_event_growth(&s->scope, now_ns, &g, nearest(s, &limit)));
}

/* ---- looking ---- */

static void totals(struct attach_session *s, bool tell)
{
	struct ledger_totals t;

	if (attach_totals(s->a, &t))
		return;
	if (growing_totals(&s->growing, t.time_ns, t.live_bytes, t.live_blocks, t.untracked_frees))
		s->out_of_memory = true;
	if (tell)
		attach_say(s, attach_event_totals(&s->scope, &t));
}

static void take_in(struct attach_session *s, struct heap *h)
{
	struct expiry_events events = { 0 };

	heap_free(s->heap);
	s->heap = h;
	if (expiry_look(&s->expiry, h, &events) || growing_look(&s->growing, h))
		s->out_of_memory = true;
	attach_say_expiry(s, h, &events);
	vec_fini(&events.list);
}

static void pass(struct attach_session *s)
{
	struct heap *h;
	int rc;

	if (s->heap) {			/* millions of blocks need not be held twice */
		free(s->heap->blocks);
		s->heap->blocks = NULL;
		s->heap->nr_blocks = 0;
	}
	attach_say_work_begins(s);
	rc = attach_read(s->a, &h, NULL);
	attach_say_work_ends(s);
	if (!rc)
		take_in(s, h);
}

/* Until the next look when the last one has cost that much. */
static uint64_t pause_ns(const struct attach_session *s, uint64_t cost_ns)
{
	uint64_t pause = s->expiry.expire_ns / 2;

	if (s->o.interval_ns)
		return s->o.interval_ns;
	pause = pause < SECOND_NS ? SECOND_NS : pause > MAX_PAUSE_NS ? MAX_PAUSE_NS : pause;
	return pause > LOOK_SHARE * cost_ns ? pause : LOOK_SHARE * cost_ns;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool over(const struct attach_session *s, uint64_t now_ns)
{
	return s->event != WATCH_GOES_ON || s->mute || s->out_of_memory || now_ns >= s->end_ns;
}

/* Once when it begins, once when it is over; at the end the code that detaches reports it. */
static void note_late(struct attach_session *s)
{
	const struct attach_late *late = &attach_info(s->a)->late;

	if (late->failed == s->said_late)
		return;
	s->said_late = late->failed;
	if (!late->failed) {
		session_note(s->to, "the libraries loaded meanwhile are seen from now on");
		return;
	}
	attach_note_late(s->to, late);
	session_note(s->to, "pmm keeps trying");
}

/*
 * Its limit on address space is looked at each time, as it may be lowered from within or from
 * outside. It counts the ledger, for which it was raised at the beginning at most.
 */
static void note_lowered(struct attach_session *s)
{
	uint64_t now, most;

	if (limits_space(s->o.pid, &now, &most))
		return;			/* it has ended, which is reported */
	if (now < s->space_bytes)
		attach_note_lowered(s->to, s->o.pid, now, attach_info(s->a));
	s->space_bytes = now;
}

void attach_session_run(struct attach_session *s)
{
	uint64_t now_ns = attach_now_ns(s->a), totals_ns = now_ns,
		 look_ns = now_ns + pause_ns(s, 0);

	attach_say(s, attach_event_attached(&s->scope, s->comm, attach_info(s->a)));
	while (!over(s, now_ns)) {
		attach_say_wait_until(s, least(s->end_ns, least(totals_ns, look_ns)));
		now_ns = attach_now_ns(s->a);
		if (over(s, now_ns))
			break;
		note_late(s);
		if (now_ns >= totals_ns) {
			totals(s, false);
			note_lowered(s);
			totals_ns = now_ns + least(SECOND_NS, pause_ns(s, 0));
		}
		if (now_ns >= look_ns) {
			uint64_t begun_ns = now_ns, cost_ns;

			totals(s, true);
			pass(s);
			now_ns = attach_now_ns(s->a);
			cost_ns = now_ns - begun_ns;
			look_ns = now_ns + pause_ns(s, cost_ns);
			totals_ns = now_ns + least(SECOND_NS, pause_ns(s, 0));
			if (look_ns + cost_ns >= s->end_ns)
				look_ns = UINT64_MAX;	/* the last one is taken after detaching */
		}
		judge(s, now_ns);
	}
}

/* ---- the end ---- */

static enum say_end end_of(const struct attach_session *s, int rc)
{
	if (rc || s->out_of_memory)
		return SAY_TROUBLE;
	if (s->event == WATCH_ENDED)
		return SAY_ENDED;
	if (s->event == WATCH_EXECED)
		return SAY_EXECED;
	if (s->mute)
		return SAY_MUTE;
	return s->event == WATCH_SIGNAL ? SAY_SIGNAL : SAY_DURATION;
}

/* Worth a line in the table? */
static bool noteworthy(const struct watch_site *w)
{
	return w->row.number || w->growth.verdict == GROWTH_STEADY ||
	       w->growth.reason == GROWTH_TURNOVER;
}

/* What else speaks for leaks at those of the sites that grow. */
static int find_evidence(struct attach_session *s, size_t nr)
{
	struct evidence *e = calloc(nr + 1, sizeof(*e));
	int rc = e ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < nr; i++)
		e[i] = (struct evidence){ .site = s->sites[i].row.site,
					  .growth = s->sites[i].growth };
	if (!rc)
		rc = evidence_find(s->heap, s->expiry.expire_ns, e, nr);
	for (size_t i = 0; !rc && i < nr; i++)
		s->sites[i].evidence = e[i];
	free(e);
	return rc;
}

/* Sites with what is known of them; in text those not worth a line are left out. */
static int judge_sites(struct attach_session *s, struct outcome *o)
{
	struct expiry_row *rows = NULL;
	int64_t nr = expiry_rows(&s->expiry, s->heap, &rows);
	size_t used = 0;
	int rc = nr < 0 ? (int)nr : 0;

	s->sites = nr > 0 ? calloc((size_t)nr, sizeof(*s->sites)) : NULL;
	if (nr > 0 && !s->sites)
		rc = -ENOMEM;
	for (int64_t i = 0; !rc && i < nr; i++) {
		struct watch_site *w = &s->sites[used];

		w->row = rows[i];
		rc = growing_judge_site(&s->growing, s->heap, rows[i].site, &w->growth);
		used += s->o.all_sites || noteworthy(w);
	}
	if (!rc)
		rc = find_evidence(s, used);
	free(rows);
	o->site = s->sites;
	o->nr_all_sites = rc ? 0 : used;
	o->nr_sites = s->o.top && o->nr_all_sites > s->o.top ? s->o.top : o->nr_all_sites;
	return rc;
}

/* Nothing of ours is in the process any more. 0 or -errno with `e`. */
static int leave(struct attach_session *s, struct outcome *o, struct err *e)
{
	const struct attach_info *info = attach_info(s->a);
	uint64_t now_ns = attach_now_ns(s->a);
	struct heap *final = NULL;
	int rc;

	totals(s, false);
	attach_trace_end(s);
	o->check_stopped = attach_check_stopped(s->a);
	o->stopped = task_stopped(s->o.pid);
	rc = attach_detach(s->a, &final, &o->removed, e);
	o->nr_guarded_left = info->nr_guarded_left;
	o->late = info->late;
	/* noticed while detaching */
	if (info->execed || info->ended)
		s->event = info->ended ? WATCH_ENDED : WATCH_EXECED;
	o->end = end_of(s, rc);
	o->detach_pause_ns = info->detach_pause_ns;
	loop_del(s->o.loop, s->on_attach);
	s->on_attach = NULL;
	attach_close(s->a);
	s->a = NULL;
	session_released(s->to, false);
	if (final) {
		/* the same moment, finer where the end was seen */
		s->scope.start_ns = final->attach_ns;
		take_in(s, final);
	}
	if (s->heap)
		attach_trace_give(s, s->heap);
	attach_trace_fini(s);
	o->seen_ns = s->heap			    ? report_run_ns(s->heap)
		     : now_ns > s->scope.start_ns ? now_ns - s->scope.start_ns
						  : 0;
	return rc;
}

/* All but the capture. 0 or -errno with `e`. */
static int finish(struct attach_session *s, struct outcome *o, struct err *e)
{
	int rc;

	*o = (struct outcome){ .sampled = s->o.attach.sample_bytes != 0 };
	o->limited = nearest(s, &o->limit) != NULL;
	rc = leave(s, o, e);
	o->heap = s->heap;
	o->nr_expired_sites = expiry_held(&s->expiry, &o->expired, &o->nr_silent_sites);
	o->nr_unjudged_sites = s->growing.nr_left_out;
	if (growing_judge(&s->growing, &o->growth) || (s->heap && judge_sites(s, o)))
		s->out_of_memory = true;
	attach_say_end(s, o);
	if (!rc)
		rc = attach_say_errors_end(s, e);
	o->nr_errors = s->check.nr_found;
	if (!rc && s->out_of_memory)
		rc = err_set(e, -ENOMEM, "not enough memory to record what was seen");
	if (!rc)
		attach_note_end(s->to, s->o.pid, o, s->o.quiet);
	if (s->unnamed)
		session_warn(s->to, "functions, files or lines may be missing here: out of memory "
				    "or of descriptors");
	return rc;
}

/* The capture. 0 or -errno with `e`. */
static int keep(struct attach_session *s, struct err *e)
{
	char name[PATH_MAX];
	bool moved = false;
	int rc;

	if (!s->heap)
		return err_set(e, -ENODATA, "no capture: what was recorded could not be read");
	rc = output_write(s->heap, s->o.output, true, 0, name, &moved, e);
	if (rc)
		return rc;
	if (moved)
		session_error(s->to, e);
	if (!s->o.quiet || moved)
		session_note(s->to, "capture      %s", name);
	if (!s->o.quiet && s->o.trace)
		session_hint(s->to, "pmm report %s", name);
	return 0;
}

int attach_session_finish(struct attach_session *s, struct outcome *o, struct err *e)
{
	struct err second = { .text = "" };
	int rc = finish(s, o, e), kept;

	if (!s->o.output || (rc && !s->heap))
		return rc;
	kept = keep(s, &second);
	if (kept && rc)
		session_error(s->to, err_default(&second, kept));
	else if (kept)
		*e = *err_default(&second, kept);
	return rc ? rc : kept;
}

bool attach_session_found(const struct outcome *o)
{
	if (o->nr_errors || o->nr_expired_sites > o->nr_silent_sites ||
	    o->growth.verdict == GROWTH_STEADY)
		return true;
	for (size_t i = 0; i < o->nr_all_sites; i++)
		if (o->site[i].growth.verdict == GROWTH_STEADY)
			return true;
	return false;
}

/* ---- from open to close ---- */

int attach_session_open(struct attach_session **out, const struct attach_session_options *o,
			const struct session_sink *to, struct err *e)
{
	struct attach_session *s = calloc(1, sizeof(*s));
	int rc;

	*out = NULL;
	if (!s)
		return err_set(e, -ENOMEM, "out of memory");
	s->o = *o;
	s->to = to;
	s->expiry.expire_ns = o->expire_ns;
	rc = o->output ? output_check(o->output, e) : 0;
	if (!rc)
		rc = attach_trace_open(s, e);
	if (!rc)
		rc = attach_open(o->pid, &s->o.attach, &s->a, e);
	if (rc)
		attach_session_close(s);
	else
		*out = s;
	return rc;
}

int attach_session_start(struct attach_session *s, struct err *e)
{
	uint64_t now_ns, most;
	int rc = attach_start(s->a, e);

	if (rc)
		return rc;
	rc = loop_add_fd(s->o.loop, attach_fd(s->a), EPOLLIN, on_attach, s, &s->on_attach);
	if (rc)
		return err_set(e, rc, "cannot wait for process %d: %s", (int)s->o.pid,
			       strerror(-rc));
	rc = attach_trace_begin(s, e);
	if (rc)
		return rc;
	if (proc_comm(s->o.pid, s->comm))
		s->comm[0] = '\0';
	now_ns = attach_now_ns(s->a);
	s->scope = (struct attach_scope){ .pid = s->o.pid,
					  .start_ns = attach_began_ns(s->a),
					  .expire_ns = s->o.expire_ns };
	s->end_ns = s->o.duration_ns ? now_ns + s->o.duration_ns : UINT64_MAX;
	if (!s->o.quiet)
		attach_note_attached(s->to, s->o.pid, s->comm, attach_info(s->a));
	attach_note_space(s->to, s->o.pid, attach_info(s->a));
	if (limits_space(s->o.pid, &s->space_bytes, &most))
		s->space_bytes = 0;
	return 0;
}

void attach_session_close(struct attach_session *s)
{
	if (!s)
		return;
	loop_del(s->o.loop, s->on_attach);
	attach_trace_fini(s);
	attach_close(s->a);
	expiry_fini(&s->expiry);
	growing_fini(&s->growing);
	heap_free(s->heap);
	symbolizer_free(s->sym);
	free(s->sites);
	run_check_fini(&s->check);
	free(s);
}
