/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process being watched, from attach to detach: when to look, what to keep of each look, the
 * verdict at the end.
 */
#ifndef SESSION_ATTACH_ATTACH_SESSION_H
#define SESSION_ATTACH_ATTACH_SESSION_H

#include "src/analyze/expiry.h"
#include "src/analyze/growing.h"
#include "src/base/str.h"
#include "src/track/track_attach.h"
#include "src/cmd/attach_say.h"
#include "src/cmd/attach_signals.h"
#include "src/cmd/emit.h"
#include "src/session/check/check_report.h"
#include "src/session/check/run_check.h"
#include "src/symbol/symbol.h"

/* What ended the watching. */
enum watch_end { WATCH_GOES_ON, WATCH_SIGNAL, WATCH_ENDED, WATCH_EXECED };

struct session {
	/* by session_init() */
	struct loop *loop;
	struct ticker ticker;		/* for attach_options */
	struct loop_source *on_attach, *on_signal;
	/* set by the command */
	struct attach_signals signals;	/* taken; given back once it is over */
	pid_t pid;
	const char *comm;
	struct attach *a;		/* closed and NULL once it is over */
	struct say say;
	struct expiry expiry;		/* expire_ns set */
	uint64_t interval_ns;		/* between looks; 0 = as seems good */
	uint64_t end_ns;		/* on the tree's clock, UINT64_MAX = never */
	uint64_t top;			/* sites told at the end; 0 = all */
	bool sampled;
	bool checks;			/* heap errors are looked for */

	/* zero at first */
	struct growing growing;
	struct heap *heap;		/* of the last look */
	/* that ended the watching, or came while names were looked up */
	enum watch_end event;
	bool signalled;			/* by the loop */
	bool telling;			/* heap errors, meanwhile no others */
	bool out_of_memory;
	bool unnamed;			/* names are missing for want of memory or descriptors */
	/* why nothing can be said any more: an errno; EPIPE: nobody reads it. 0 = it can */
	int mute;
	struct str unsaid;		/* said, not written yet */
	char *words;			/* being said */
	size_t nr_words;
	bool grows;			/* the verdict told last, and when */
	uint64_t judged_ns;
	bool said_late;			/* that something could not be hooked */
	bool names_sites;		/* which a signal ends */
	struct symbolizer *sym;		/* for the modules that `modules` stands for */
	/* by say_events(), which heap errors have interrupted: its names are kept there */
	struct symbolizer *sym_in_use;
	uint64_t modules;
	struct check_report_options report;	/* heap errors: how they are told, and which were */
	struct check_job job;
	struct run_check check;
	struct emit errors; /* where those go: stderr */
	struct watch_site *sites;	/* of the outcome */
};

/* All else zero. 0 or -errno with `e`; session_fini() follows in any case. */
int session_init(struct session *s, struct err *e);

/*
 * Step the loop until `until_ns` on the tree's clock or until something ends the watching: `event`.
 * Heap errors are said meanwhile.
 */
void session_wait(struct session *s, uint64_t until_ns);

/* Watch until something ends it. */
void session_run(struct session *s);

/* To stderr: why calls of libraries that were loaded later are missing. */
void session_note_late(const struct attach_late *late);

/*
 * Detach, look a last time and say how it ended. 0 or -errno with `e`: the process may not be as it
 * was.
 */
int session_finish(struct session *s, struct outcome *o, struct err *e);

/* Was everything said? 0, or -errno with `e`: it could not be written. */
int session_said(const struct session *s, struct err *e);

/* Was something found? */
bool session_found(const struct outcome *o);

void session_fini(struct session *s);

#endif
