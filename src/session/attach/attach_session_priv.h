/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's parts among themselves. */
#ifndef SESSION_ATTACH_ATTACH_SESSION_PRIV_H
#define SESSION_ATTACH_ATTACH_SESSION_PRIV_H

#include "src/analyze/expiry.h"
#include "src/analyze/growing.h"
#include "src/proc/proc.h"
#include "src/session/attach/attach_session.h"
#include "src/session/check/check_report.h"
#include "src/session/check/run_check.h"
#include "src/symbol/symbol.h"

/* What ended the watching. */
enum watch_end { WATCH_GOES_ON, WATCH_SIGNAL, WATCH_MUTE, WATCH_ENDED, WATCH_EXECED };

struct attach_session {
	struct attach_session_options o;
	const struct session_sink *to;
	char comm[PROC_COMM_BYTES];
	struct attach *a;		/* closed and NULL once it is over */
	struct loop_source *on_attach;
	struct attach_scope scope;
	struct expiry expiry;
	struct growing growing;
	uint64_t end_ns;		/* on the tree's clock, UINT64_MAX = never */
	struct heap *heap;		/* of the last look */
	/* that ended the watching, or came while names were looked up */
	enum watch_end event;
	bool asked;			/* by attach_session_end(): SAY_SIGNAL */
	bool mute;			/* likewise: SAY_MUTE */
	bool reporting;			/* heap errors, meanwhile no others */
	bool out_of_memory;
	bool unnamed;			/* names are missing for want of memory or descriptors */
	bool grows;			/* the verdict reported last, and when */
	uint64_t judged_ns;
	bool said_late;			/* that something could not be hooked */
	uint64_t space_bytes;		/* its limit on address space, at the last look */
	bool names_sites;		/* which a signal ends */
	struct symbolizer *sym;		/* for the modules that `modules` stands for */
	/* by attach_say_expiry(), which heap errors have interrupted: its names are kept there */
	struct symbolizer *sym_in_use;
	uint64_t modules;
	struct check_report_options report;	/* of heap errors, and which were reported */
	struct check_job job;
	struct run_check check;
	struct watch_site *sites;	/* of the outcome */
	struct heap_trace *trace;	/* NULL: not asked for */
	struct loop_source *trace_timer;
};

/*
 * Step the loop until `until_ns` on the tree's clock or until something ends the watching: `event`.
 * Heap errors are reported meanwhile.
 */
void attach_say_wait_until(struct attach_session *s, uint64_t until_ns);

/* Work begins that takes long, and is over; the clock of the process continues meanwhile. */
void attach_say_work_begins(struct attach_session *s);
void attach_say_work_ends(struct attach_session *s);

/* Hand over an event, which is freed. */
void attach_say(struct attach_session *s, struct event e);

/* Those of one look; a person gets so many at once only. */
void attach_say_expiry(struct attach_session *s, const struct heap *h,
		       const struct expiry_events *events);

/* Heap errors not reported yet; at the end also what was looked at: 0 or -errno with `e`. */
void attach_say_errors(struct attach_session *s, const struct heap *h);
int attach_say_errors_end(struct attach_session *s, struct err *e);

/* The outcome, with its sites. */
void attach_say_end(struct attach_session *s, struct outcome *o);

#endif
