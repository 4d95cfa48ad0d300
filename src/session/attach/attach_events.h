/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happens while a process is watched, as events: fields of the schema WATCH_SCHEMA
 * (doc/watching.md), and the lines that a person reads.
 */
#ifndef SESSION_ATTACH_ATTACH_EVENTS_H
#define SESSION_ATTACH_ATTACH_EVENTS_H

#include "src/analyze/expiry.h"
#include "src/analyze/growth.h"
#include "src/document/event.h"
#include "src/proc/limits.h"
#include "src/track/track_attach.h"
#include "src/view/watch.h"

/* What all events of a process have in common. */
struct attach_scope {
	pid_t pid;
	uint64_t start_ns;		/* time 0 of what is reported, on the tree's clock */
	uint64_t expire_ns;
};

/* Why watching ended. */
enum say_end { SAY_SIGNAL, SAY_DURATION, SAY_ENDED, SAY_EXECED, SAY_MUTE, SAY_TROUBLE };
#define SAY_NR_ENDS (SAY_TROUBLE + 1)

struct outcome {
	enum say_end end;
	uint64_t seen_ns;		/* watched for that long */
	const struct heap *heap;	/* the last one; NULL = none was ever read */
	struct growth growth;		/* of the whole heap */
	struct limit limit;
	bool limited;			/* there is one */
	bool sampled;
	struct expiry_count expired;	/* alive */
	uint32_t nr_expired_sites, nr_silent_sites;	/* of those */
	const struct watch_site *site;	/* shown */
	size_t nr_sites, nr_all_sites;
	uint64_t nr_unjudged_sites;	/* too many to follow their growth */
	uint64_t detach_pause_ns;
	bool removed;
	bool stopped;			/* at the end, by a signal */
	int nr_guarded_left;
	struct attach_late late;	/* what could not be hooked to the end */
	uint64_t nr_errors;		/* heap errors */
	enum pmm_check_stop check_stopped;
};

/* A site that an event is about: what its stack is made of when a form asks for that. */
struct attach_site {
	const struct heap *heap;
	struct names *names;
	uint32_t site;
};

/* What the table of sites is made of. */
struct attach_sites {
	struct names *names;
	const struct outcome *outcome;
};

/*
 * Each makes one event, event_fini(). What is passed must live until then. "attached" and "totals"
 * have no text: the first is reported elsewhere, and totals are for a caller that draws them.
 */
struct event attach_event_attached(const struct attach_scope *s, const char *comm,
				   const struct attach_info *info);
struct event attach_event_totals(const struct attach_scope *s, const struct ledger_totals *t);

/* Blocks of the site `at` expired, or were freed after that. */
struct event attach_event_expiry(const struct attach_scope *s, const struct attach_site *at,
				 const struct expiry_event *x);

/* So many more expiries at one look as are shown; text alone. */
struct event attach_event_more(const struct attach_scope *s, uint64_t now_ns, uint64_t nr);

/* A heap error: a group of a table of them, and its heap; fields alone. */
struct event attach_event_error(const struct attach_scope *s, const struct heap *h,
				struct table *errors, uint64_t group);

/* The verdict on the heap has changed. limit NULL: none is known. */
struct event attach_event_growth(const struct attach_scope *s, uint64_t now_ns,
				 const struct growth *g, const struct limit *limit);

/* At the end a site of the outcome, fields alone; and all of it. */
struct event attach_event_site(const struct attach_scope *s, const struct attach_site *at,
			       const struct outcome *o, const struct watch_site *w);
struct event attach_event_outcome(const struct attach_scope *s, const struct attach_sites *x);

#endif
