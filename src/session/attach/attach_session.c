/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watching: totals once a second, the whole heap as often as two percent of a processor allow.
 * Looking up names can take long; the clock of the process is kept going meanwhile.
 */
#include "src/session/attach/attach_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/hash.h"
#include "src/cmd/attach_voice.h"
#include "src/cmd/cmd.h"
#include "src/cmd/emit.h"
#include "src/names/naming.h"
#include "src/session/name_notes.h"
#include "src/proc/task.h"

#define SECOND_NS	1000000000ull
#define LOOK_SHARE	50		/* a look's cost : pause until the next */
#define MAX_PAUSE_NS	(5 * SECOND_NS)	/* unless looks cost more */
#define JUDGE_NS	(2 * SECOND_NS)
/* of new sites, of known ones, of freed blocks, at a look */
#define MAX_LINES	20
/* between two changes of the verdict that are told */
#define CALM_NS		(60 * SECOND_NS)

/* ---- waiting ---- */

static void errors_say(struct session *s, const struct heap *h);

static void on_signal(void *arg, uint32_t events)
{
	(void)events;
	((struct session *)arg)->signalled = true;
}

static void on_attach(void *arg, uint32_t events)
{
	(void)events;
	attach_step(((struct session *)arg)->a, 0);
}

int session_init(struct session *s, struct err *e)
{
	int rc = loop_new(&s->loop);

	s->signals = ATTACH_SIGNALS_NONE;
	if (!rc)
		rc = ticker_init(&s->ticker, s->loop);
	return rc ? err_set(e, rc, "cannot wait for a process: %s", strerror(-rc)) : 0;
}

/* What wakes a session. */
static int listen_to(struct session *s)
{
	int rc = loop_add_fd(s->loop, attach_fd(s->a), EPOLLIN, on_attach, s, &s->on_attach);

	if (!rc)
		rc = loop_add_fd(s->loop, s->signals.fd, EPOLLIN, on_signal, s, &s->on_signal);
	return rc;
}

static void listen_no_more(struct session *s)
{
	loop_del(s->loop, s->on_attach);
	loop_del(s->loop, s->on_signal);
}

/* What the process has to say. Who is told of heap errors may come back here meanwhile. */
static void take_events(struct session *s)
{
	struct heap *h;

	while (!s->telling && attach_next(s->a, &h) == ATTACH_FOUND) {
		s->telling = true;
		errors_say(s, h);
		s->telling = false;
		heap_free(h);
	}
	if (s->event != WATCH_GOES_ON)
		return;
	if (attach_end(s->a) == ATTACH_ENDED)
		s->event = WATCH_ENDED;
	else if (attach_end(s->a) == ATTACH_EXECED)
		s->event = WATCH_EXECED;
	else if (s->signalled)
		s->event = WATCH_SIGNAL;
}

void session_wait(struct session *s, uint64_t until_ns)
{
	uint64_t now_ns = attach_now_ns(s->a);

	do {
		uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;

		loop_step(s->loop, left_ns < INT64_MAX ? (int64_t)left_ns : INT64_MAX);
		take_events(s);
		now_ns = attach_now_ns(s->a);
	} while (s->event == WATCH_GOES_ON && now_ns < until_ns);
}

/* ---- names ---- */

/*
 * What happens meanwhile is kept for later. The process's clock goes on without that, between
 * name_it() and name_end().
 */
static void pulse(struct session *s)
{
	if (s->a && s->event == WATCH_GOES_ON)
		session_wait(s, 0);
}

/*
 * Names for sites that nobody waits for any more: the process is to be let go first, and the table
 * at the end has them all. Heap errors are reported once, with their names. (To wait here would
 * come back to us: take_events().)
 */
static bool in_vain(void *arg)
{
	const struct session *s = arg;

	return s->a && s->names_sites &&
	       (s->event != WATCH_GOES_ON || attach_signals_came(&s->signals));
}

static unsigned resolve(void *arg, const struct heap *h, uint32_t node, struct frame_name *out,
			unsigned max)
{
	struct session *s = arg;

	pulse(s);
	return naming_resolve(s->sym, h, node, out, max);
}

static uint64_t modules_of(const struct heap *h)
{
	uint64_t sum = h->nr_modules;

	for (uint32_t i = 0; i < h->nr_modules; i++) {
		const struct heap_module *m = &h->modules[i];

		sum = hash_u64(sum ^ m->start) ^ hash_u64(m->bias + m->end) ^
		      hash_bytes(m->path, strlen(m->path));
	}
	return sum;
}

/* Work begins that takes long; the clock goes on meanwhile. */
static void work_begins(struct session *s)
{
	if (s->a)
		ticker_begin(&s->ticker);
}

static void work_ends(struct session *s)
{
	if (s->a)
		ticker_pause(&s->ticker);
}

/* Names for a heap; a symbolizer serves as long as the modules stay. */
static void name_it(struct session *s, struct names *n, const struct heap *h)
{
	uint64_t modules = modules_of(h);
	char root[64];

	work_begins(s);
	if (!s->sym || s->modules != modules) {
		struct symbolizer_options o = {
			.full = true, .use_cache = true, .root = root, .stop = { in_vain, s }
		};

		naming_root(s->pid, h, root);
		if (s->sym != s->sym_in_use)
			symbolizer_free(s->sym);
		s->sym = naming_symbols(h, &o);
		s->modules = modules;
	}
	names_init(n, h, s->sym ? resolve : NULL, s);
}

static void name_end(struct session *s, struct names *n)
{
	s->unnamed |= n->failed || !s->sym || symbolizer_error(s->sym);
	names_fini(n);
	work_ends(s);
}

/* ---- what is said ---- */

#define SAY(s, function, ...) do {						\
	struct say *say_ = voice_begin(s);					\
										\
	if (say_)								\
		function(say_, __VA_ARGS__);					\
	voice_end(s);								\
} while (0)

/* Each on a line; a person gets so many at once only. */
static void say_events(struct session *s, const struct heap *h, const struct expiry_events *events)
{
	unsigned told[3] = { 0 };
	uint64_t more = 0;
	struct names names;

	if (!events->list.nr)
		return;
	name_it(s, &names, h);
	s->names_sites = true;
	vec_each(&events->list, e) {
		if (s->a && s->event != WATCH_GOES_ON)
			break;
		if (s->say.json || told[e->what]++ < MAX_LINES)
			SAY(s, say_event, h, &names, e);
		else
			more++;
	}
	s->names_sites = false;
	name_end(s, &names);
	if (more)
		SAY(s, say_more, h->taken_ns, more);
}

static const struct limit *nearest(struct session *s, struct limit *limit)
{
	return limits_nearest("", task_proc(s->pid), limit) ? NULL : limit;
}

/* Tell when the verdict on the whole heap changes. */
static void judge(struct session *s, uint64_t now_ns)
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
	SAY(s, say_growth, now_ns, &g, nearest(s, &limit));
}

/* ---- heap errors ---- */

static void errors_say(struct session *s, const struct heap *h)
{
	struct symbolizer *before = s->sym;
	const bool names_sites = s->names_sites;
	const uint64_t modules = s->modules;
	struct names names;

	s->sym_in_use = names_sites ? before : NULL;
	s->names_sites = false;
	name_it(s, &names, h);
	name_end(s, &names);
	s->report = (struct check_report_options)CHECK_REPORT_DEFAULT;
	s->report.no_symbols = !s->sym;
	s->report.resolve = s->sym ? resolve : NULL;
	s->report.resolve_ctx = s;
	s->job.report = &s->report;
	s->check.job = &s->job;
	if (!s->check.to)
		emit_init(&s->errors, stderr, false);
	s->check.to = &s->errors.sink;
	work_begins(s);
	run_check_found(&s->check, h);
	work_ends(s);
	/* libraries came or went: who was interrupted goes on with his */
	if (s->sym_in_use && s->sym != s->sym_in_use) {
		symbolizer_free(s->sym);
		s->sym = before;
		s->modules = modules;
	}
	s->sym_in_use = NULL;
	s->names_sites = names_sites;
}

/* What has not been told yet, and what was looked at. */
static int errors_end(struct session *s, struct err *e)
{
	int rc;

	if (!s->checks || !s->heap)
		return 0;
	errors_say(s, s->heap);
	rc = run_check_tell(&s->check, s->heap, e);
	return rc < 0 ? rc : 0;
}

/* ---- looking ---- */

static void totals(struct session *s, bool tell)
{
	struct ledger_totals t;

	if (attach_totals(s->a, &t))
		return;
	if (growing_totals(&s->growing, t.time_ns, t.live_bytes, t.live_blocks, t.untracked_frees))
		s->out_of_memory = true;
	if (tell)
		SAY(s, say_totals, &t);
}

static void take_in(struct session *s, struct heap *h)
{
	struct expiry_events events = { 0 };

	heap_free(s->heap);
	s->heap = h;
	if (expiry_look(&s->expiry, h, &events) || growing_look(&s->growing, h))
		s->out_of_memory = true;
	say_events(s, h, &events);
	vec_fini(&events.list);
}

static void look(struct session *s)
{
	struct heap *h;
	int rc;

	if (s->heap) {			/* millions of blocks need not be held twice */
		free(s->heap->blocks);
		s->heap->blocks = NULL;
		s->heap->nr_blocks = 0;
	}
	work_begins(s);
	rc = attach_read(s->a, &h, NULL);
	work_ends(s);
	if (!rc)
		take_in(s, h);
}

/* Until the next look when the last one has cost that much. */
static uint64_t pause_ns(const struct session *s, uint64_t cost_ns)
{
	uint64_t pause = s->expiry.expire_ns / 2;

	if (s->interval_ns)
		return s->interval_ns;
	pause = pause < SECOND_NS ? SECOND_NS : pause > MAX_PAUSE_NS ? MAX_PAUSE_NS : pause;
	return pause > LOOK_SHARE * cost_ns ? pause : LOOK_SHARE * cost_ns;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool over(const struct session *s, uint64_t now_ns)
{
	return s->event != WATCH_GOES_ON || s->mute || s->out_of_memory || now_ns >= s->end_ns;
}

void session_note_late(const struct attach_late *late)
{
	if (late->nr)
		cmd_note("WARNING: %s of libraries that were loaded meanwhile %s not "
			 "seen: %s",
			 fmt_many(late->nr, "function").s, fmt_agree(late->nr, "is", "are"),
			 late->why.text);
	else
		cmd_note("WARNING: libraries that were loaded meanwhile could not be searched for "
			 "allocators: %s",
			 late->why.text);
}

/* Once when it begins, once when it is over; at the end it is said by who detaches. */
static void note_late(struct session *s)
{
	const struct attach_late *late = &attach_info(s->a)->late;

	if (late->failed == s->said_late)
		return;
	s->said_late = late->failed;
	if (!late->failed) {
		cmd_note("the libraries loaded meanwhile are seen from now on");
		return;
	}
	session_note_late(late);
	cmd_note("pmm goes on trying");
}

void session_run(struct session *s)
{
	uint64_t now_ns = attach_now_ns(s->a), totals_ns = now_ns,
		 look_ns = now_ns + pause_ns(s, 0);

	if (listen_to(s))
		s->out_of_memory = true;
	SAY(s, say_begin, s->comm, attach_info(s->a));
	while (!over(s, now_ns)) {
		session_wait(s, least(s->end_ns, least(totals_ns, look_ns)));
		now_ns = attach_now_ns(s->a);
		if (over(s, now_ns))
			break;
		note_late(s);
		if (now_ns >= totals_ns) {
			totals(s, false);
			totals_ns = now_ns + least(SECOND_NS, pause_ns(s, 0));
		}
		if (now_ns >= look_ns) {
			uint64_t begun_ns = now_ns, cost_ns;

			totals(s, true);
			look(s);
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

static enum say_end end_of(const struct session *s, int rc)
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
static int find_evidence(struct session *s, size_t nr)
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
static int judge_sites(struct session *s, struct outcome *o)
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
		used += s->say.json || noteworthy(w);
	}
	if (!rc)
		rc = find_evidence(s, used);
	free(rows);
	o->site = s->sites;
	o->nr_all_sites = rc ? 0 : used;
	o->nr_sites = s->top && o->nr_all_sites > s->top ? s->top : o->nr_all_sites;
	return rc;
}

static void say_end(struct session *s, struct outcome *o)
{
	struct names names;

	if (s->mute)
		return;
	if (!s->heap) {
		SAY(s, say_outcome, NULL, o);
		return;
	}
	name_it(s, &names, s->heap);
	SAY(s, say_outcome, &names, o);
	name_end(s, &names);
	if (s->sym) {
		symbolizer_save(s->sym);
		name_notes_losses(&emit_notes, s->sym, s->heap, "");
	}
}

int session_finish(struct session *s, struct outcome *o, struct err *e)
{
	uint64_t now_ns = attach_now_ns(s->a);
	struct heap *final = NULL;
	int rc;

	*o = (struct outcome){ .sampled = s->sampled };
	o->limited = nearest(s, &o->limit) != NULL;
	totals(s, false);
	o->check_stopped = attach_check_stopped(s->a);
	rc = attach_detach(s->a, &final, &o->removed, e);
	o->nr_guarded_left = attach_info(s->a)->nr_guarded_left;
	o->late = attach_info(s->a)->late;
	/* noticed while detaching */
	if (attach_info(s->a)->execed || attach_info(s->a)->ended)
		s->event = attach_info(s->a)->ended ? WATCH_ENDED : WATCH_EXECED;
	o->end = end_of(s, rc);
	o->seen_ns = now_ns > s->say.scope.start_ns ? now_ns - s->say.scope.start_ns : 0;
	o->detach_pause_ns = attach_info(s->a)->detach_pause_ns;
	listen_no_more(s);
	attach_close(s->a);
	attach_signals_give_back(&s->signals);
	s->a = NULL;
	if (final)
		take_in(s, final);
	o->heap = s->heap;
	o->nr_expired_sites = expiry_held(&s->expiry, &o->expired, &o->nr_silent_sites);
	o->nr_unjudged_sites = s->growing.nr_left_out;
	if (growing_judge(&s->growing, &o->growth) || (s->heap && judge_sites(s, o)))
		s->out_of_memory = true;
	say_end(s, o);
	if (!rc)
		rc = errors_end(s, e);
	o->nr_errors = s->check.nr_found;
	if (!rc && s->out_of_memory)
		rc = err_set(e, -ENOMEM, "not enough memory to record what was seen");
	return rc;
}

int session_said(const struct session *s, struct err *e)
{
	if (s->mute == EPIPE)
		return err_set(e, -EPIPE, "nobody reads the output any more");
	if (s->mute)
		return err_set(e, -s->mute, "cannot write to standard output: %s",
			       strerror(s->mute));
	return 0;
}

bool session_found(const struct outcome *o)
{
	if (o->nr_errors || o->nr_expired_sites > o->nr_silent_sites ||
	    o->growth.verdict == GROWTH_STEADY)
		return true;
	for (size_t i = 0; i < o->nr_all_sites; i++)
		if (o->site[i].growth.verdict == GROWTH_STEADY)
			return true;
	return false;
}

void session_fini(struct session *s)
{
	attach_signals_give_back(&s->signals);
	ticker_fini(&s->ticker);
	loop_free(s->loop);
	expiry_fini(&s->expiry);
	growing_fini(&s->growing);
	heap_free(s->heap);
	symbolizer_free(s->sym);
	free(s->sites);
	str_fini(&s->unsaid);
	run_check_fini(&s->check);
}
