/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a trace will not show. */
#ifndef SESSION_TRACE_TRACE_LACKS_H
#define SESSION_TRACE_TRACE_LACKS_H

#include "src/kernel/event_class.h"
#include "src/session/trace/trace_session.h"

/*
 * As kernel_source_group(): where there is no better source, what would help to have one is what
 * helps.
 */
struct kernel_group_state trace_lacks_group(struct kernel_source *source,
					    const struct trace_options *o, enum kernel_group group);

/* Warn of what is not seen at all; `remedy`: and say what would help. */
void trace_lacks_say(const struct event_lack *lack, bool remedy, const struct session_sink *to);

/*
 * Say where the events come from, if not from the best source, and what was asked for and is not
 * seen at all: the result says it, too, but that may be hours later. 0; -ENODATA with `e`: that is
 * everything.
 */
int trace_lacks_warn(struct kernel_source *source, const struct trace_options *o,
		     const struct session_sink *to, struct err *e);

#endif
