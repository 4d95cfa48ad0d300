/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's events of a process that is watched, for its heap (--trace). */
#ifndef SESSION_ATTACH_ATTACH_TRACE_H
#define SESSION_ATTACH_ATTACH_TRACE_H

#include "src/session/attach/attach_session_priv.h"

/*
 * Programs into the kernel, where it is asked for; the process is left alone. 0 or -errno with `e`.
 */
int attach_trace_open(struct attach_session *s, struct err *e);

/* Begin; the process is being watched. 0 or -errno with `e`. */
int attach_trace_begin(struct attach_session *s, struct err *e);

/* The last records, while the ledger can still be asked; before attach_detach(). */
void attach_trace_end(struct attach_session *s);

/* Put them into the heap that is kept. */
void attach_trace_give(struct attach_session *s, struct heap *h);

/* Nothing of it is in the kernel any more. */
void attach_trace_fini(struct attach_session *s);

#endif
