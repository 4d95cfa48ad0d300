/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a session waits for, and what it hands over: events with their names, heap errors. Names can
 * take long; the clock of the process and its ends continue meanwhile.
 */
#include "src/session/attach/attach_session_priv.h"

#include <errno.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/names/naming.h"
#include "src/session/name_notes.h"
#include "src/session/session.h"

/* of new sites, of known ones, of freed blocks, at a look */
#define MAX_LINES	20

/* ---- waiting ---- */

/* What the process has to say. The receiver of heap errors may come back here meanwhile. */
static void take_events(struct attach_session *s)
{
	struct heap *h;

	while (!s->reporting && attach_next(s->a, &h) == ATTACH_FOUND) {
		s->reporting = true;
		attach_say_errors(s, h);
		s->reporting = false;
		heap_free(h);
	}
	if (s->event != WATCH_GOES_ON)
		return;
	if (attach_end(s->a) == ATTACH_ENDED)
		s->event = WATCH_ENDED;
	else if (attach_end(s->a) == ATTACH_EXECED)
		s->event = WATCH_EXECED;
	else if (s->mute)
		s->event = WATCH_MUTE;
	else if (s->asked)
		s->event = WATCH_SIGNAL;
}

void attach_say_wait_until(struct attach_session *s, uint64_t until_ns)
{
	uint64_t now_ns = attach_now_ns(s->a);

	do {
		uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;

		loop_step(s->o.loop, left_ns < INT64_MAX ? (int64_t)left_ns : INT64_MAX);
		take_events(s);
		now_ns = attach_now_ns(s->a);
	} while (s->event == WATCH_GOES_ON && now_ns < until_ns);
}

/* ---- names ---- */

/*
 * What happens meanwhile is kept for later. The process's clock continues without that, between
 * name_it() and name_end().
 */
static void pulse(struct attach_session *s)
{
	if (s->a && s->event == WATCH_GOES_ON)
		attach_say_wait_until(s, 0);
}

/*
 * Names for sites that are not urgent any more: the process is to be let go first, and the table at
 * the end has them all. Heap errors are reported once, with their names. (To wait here would come
 * back to us: take_events().)
 */
static bool in_vain(void *arg)
{
	const struct attach_session *s = arg;

	return s->a && s->names_sites &&
	       (s->event != WATCH_GOES_ON || stop_asked(&s->o.stop));
}

static unsigned resolve(void *arg, const struct heap *h, uint32_t node, struct frame_name *out,
			unsigned max)
{
	struct attach_session *s = arg;

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

/* Work begins that takes long; the clock continues meanwhile. */
void attach_say_work_begins(struct attach_session *s)
{
	if (s->a)
		ticker_begin(s->o.attach.ticker);
}

void attach_say_work_ends(struct attach_session *s)
{
	if (s->a)
		ticker_pause(s->o.attach.ticker);
}

/* Names for a heap; a symbolizer serves as long as the modules stay. */
static void name_it(struct attach_session *s, struct names *n, const struct heap *h)
{
	uint64_t modules = modules_of(h);
	char root[64];

	attach_say_work_begins(s);
	if (!s->sym || s->modules != modules) {
		struct symbolizer_options o = {
			.full = true, .use_cache = true, .root = root, .stop = { in_vain, s }
		};

		naming_root(s->o.pid, h, root);
		if (s->sym != s->sym_in_use)
			symbolizer_free(s->sym);
		s->sym = naming_symbols(h, &o);
		s->modules = modules;
	}
	names_init(n, h, s->sym ? resolve : NULL, s);
}

static void name_end(struct attach_session *s, struct names *n)
{
	s->unnamed |= n->failed || !s->sym || symbolizer_error(s->sym);
	names_fini(n);
	attach_say_work_ends(s);
}

/* ---- what is said ---- */

/* The event is freed. */
void attach_say(struct attach_session *s, struct event e)
{
	int rc = s->mute ? 0 : session_event(s->to, &e);

	s->out_of_memory |= rc == -ENOMEM;
	if (rc < 0 && rc != -ENOMEM)
		s->mute = true;
	event_fini(&e);
}

/* Each on a line; a person gets so many at once only. */
void attach_say_expiry(struct attach_session *s, const struct heap *h,
		       const struct expiry_events *events)
{
	unsigned told[EXPIRY_NR] = { 0 };
	uint64_t more = 0;
	struct names names;

	if (!events->list.nr)
		return;
	name_it(s, &names, h);
	s->names_sites = true;
	vec_each(&events->list, e) {
		const struct attach_site at = { .heap = h, .names = &names, .site = e->site };

		if (s->a && s->event != WATCH_GOES_ON)
			break;
		if (s->o.all_sites || told[e->what]++ < MAX_LINES)
			attach_say(s, attach_event_expiry(&s->scope, &at, e));
		else
			more++;
	}
	s->names_sites = false;
	name_end(s, &names);
	if (more)
		attach_say(s, attach_event_more(&s->scope, h->taken_ns, more));
}

/* ---- heap errors ---- */

static void say_error(void *arg, const struct heap *h, struct table *errors, uint64_t group)
{
	struct attach_session *s = arg;

	attach_say(s, attach_event_error(&s->scope, h, errors, group));
}

void attach_say_errors(struct attach_session *s, const struct heap *h)
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
	s->check.to = s->to;
	s->check.entry = s->o.error_events ? say_error : NULL;
	s->check.entry_ctx = s;
	attach_say_work_begins(s);
	run_check_found(&s->check, h);
	attach_say_work_ends(s);
	/* libraries came or went: interrupted work continues with its own */
	if (s->sym_in_use && s->sym != s->sym_in_use) {
		symbolizer_free(s->sym);
		s->sym = before;
		s->modules = modules;
	}
	s->sym_in_use = NULL;
	s->names_sites = names_sites;
}

/* What has not been reported yet, and what was looked at. */
int attach_say_errors_end(struct attach_session *s, struct err *e)
{
	int rc;

	if (s->o.attach.check.level == PMM_CHECK_NONE || !s->heap)
		return 0;
	attach_say_errors(s, s->heap);
	rc = run_check_tell(&s->check, s->heap, e);
	return rc < 0 ? rc : 0;
}

/* ---- the end ---- */

static void say_outcome(struct attach_session *s, struct names *n, const struct outcome *o)
{
	const struct attach_sites all = { .names = n, .outcome = o };

	for (size_t i = 0; i < o->nr_sites; i++) {
		const struct attach_site at = { o->heap, n, o->site[i].row.site };

		attach_say(s, attach_event_site(&s->scope, &at, o, &o->site[i]));
	}
	attach_say(s, attach_event_outcome(&s->scope, &all));
}

void attach_say_end(struct attach_session *s, struct outcome *o)
{
	struct names names;

	if (s->mute)
		return;
	if (!s->heap) {
		say_outcome(s, NULL, o);
		return;
	}
	name_it(s, &names, s->heap);
	say_outcome(s, &names, o);
	name_end(s, &names);
	if (s->sym) {
		symbolizer_save(s->sym);
		name_notes_losses(s->to, s->sym, s->heap, "");
	}
}
