/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process being watched, from attach to detach: when to look, what to keep of each look, the
 * verdict at the end. In steps of its own, on the loop of who runs it:
 *
 *	attach_session_open(&s, &options, &sink, &e);	the functions are found; nothing is held
 *	attach_session_start(s, &e);			the agent is in the process, which runs on
 *	attach_session_run(s);				until something ends it
 *	attach_session_finish(s, &outcome, &e);		the agent is out; the verdict
 *	attach_session_close(s);
 *
 * It steps the loop itself while it waits and while it looks up names, so that no callback of the
 * loop may call the above; attach_session_end() is for those. Its sink gets events (the schema
 * WATCH_SCHEMA), heap errors as documents or events, and notes, all while the process is watched;
 * session_ops.released is called when it is not any more, before the events of the end.
 *
 * Signals: none is taken. A caller that has started must finish or close, see
 * src/track/track_attach.h.
 */
#ifndef SESSION_ATTACH_ATTACH_SESSION_H
#define SESSION_ATTACH_ATTACH_SESSION_H

#include "src/base/cancel.h"
#include "src/base/loop.h"
#include "src/session/attach/attach_events.h"
#include "src/track/track_attach.h"

struct attach_session;
struct kernel_source_ops;
struct session_sink;

struct attach_session_options {
	pid_t pid;
	struct loop *loop;		/* borrowed, as the ticker of `attach` at it */
	struct attach_options attach;	/* what it has is borrowed as well */
	uint64_t expire_ns;		/* blocks that live for that long are reported */
	uint64_t interval_ns;		/* between looks; 0 = as seems good */
	uint64_t duration_ns;		/* 0 = until something else ends it */
	uint64_t top;			/* sites reported at the end; 0 = all */
	bool all_sites;			/* also those that a person need not see */
	bool error_events;		/* heap errors are events, not documents */
	/* the kernel's events are part of the heap: their source, NULL = not; heap_trace_parse() */
	const struct kernel_source_ops *trace;
	uint32_t trace_classes;
	bool quiet;			/* notes on what is incomplete only */
	const char *output;		/* name of a capture (src/store/output.h); NULL = none */
	/* asked while names are looked up: is the end to come, before the loop knows of it? */
	struct stop stop;
};

/*
 * Find the functions to be patched. All is borrowed until attach_session_close(). 0 or -errno with
 * `e`, then *out is NULL; -EAGAIN: try again later.
 */
int attach_session_open(struct attach_session **out, const struct attach_session_options *o,
			const struct session_sink *to, struct err *e);

/*
 * Put the agent into the process. On failure it is as it was, and attach_session_close() is all
 * that is left to do. 0 or -errno with `e`; -EAGAIN as above.
 */
int attach_session_start(struct attach_session *s, struct err *e);

/* Watch until something ends it. */
void attach_session_run(struct attach_session *s);

/*
 * End it as soon as may be: SAY_SIGNAL, or SAY_MUTE: events have no receiver any more. Also by
 * callbacks of the loop and by the sink.
 */
void attach_session_end(struct attach_session *s, enum say_end why);

/*
 * For a sink that cannot take more at present: step the loop for that long, or until something ends
 * the watching. False: it has ended, or what is to be said can wait for that.
 */
bool attach_session_wait(struct attach_session *s, uint64_t ns);

/*
 * Detach, look a last time, hand over how it ended, and write the capture; *o is valid until
 * attach_session_close(). 0 or -errno with `e`: the process may not be as it was, or something is
 * lost.
 */
int attach_session_finish(struct attach_session *s, struct outcome *o, struct err *e);

/* Was something found? */
bool attach_session_found(const struct outcome *o);

/* Detaches if that has not been done. NULL is fine. */
void attach_session_close(struct attach_session *s);

#endif
