/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace beside an attach: on the same loop, a step every 5 ms. */
#include "src/session/attach/attach_trace.h"

#include <string.h>

#include "src/base/nanotime.h"
#include "src/session/session.h"
#include "src/session/trace/heap_trace.h"

static int block_at(void *arg, pid_t pid, uint64_t address, struct ledger_at_block *out)
{
	struct attach_session *s = arg;

	return s->a && pid == s->o.pid ? attach_block_at(s->a, address, out) : -ESRCH;
}

/* Once it has failed, nothing more comes, and the process is watched on. */
static void step(struct attach_session *s)
{
	int rc = heap_trace_step(s->trace);

	if (!rc)
		return;
	session_note(s->to, "the kernel's events are not recorded any more: %s", strerror(-rc));
	loop_del(s->o.loop, s->trace_timer);
	s->trace_timer = NULL;
}

static void on_timer(void *arg, uint64_t now_ns)
{
	struct attach_session *s = arg;

	step(s);
	if (s->trace_timer)
		loop_set_timer(s->o.loop, s->trace_timer, now_ns + KERNEL_STEP_NS);
}

int attach_trace_open(struct attach_session *s, struct err *e)
{
	const struct heap_trace_options o = { .source = s->o.trace,
					      .classes = s->o.trace_classes,
					      .block_at = block_at,
					      .arg = s };

	return s->o.trace ? heap_trace_open(&s->trace, &o, s->to, e) : 0;
}

int attach_trace_begin(struct attach_session *s, struct err *e)
{
	int rc;

	if (!s->trace)
		return 0;
	heap_trace_set_zero(s->trace, nanotime() - attach_now_ns(s->a));
	rc = heap_trace_target(s->trace, s->o.pid, false);
	if (!rc)
		rc = heap_trace_hide(s->trace, s->o.pid, attach_hook_pc(s->a));
	if (!rc)
		rc = loop_add_timer(s->o.loop, nanotime() + KERNEL_STEP_NS, on_timer, s,
				    &s->trace_timer);
	return rc ? err_set(e, rc, "process %d cannot be traced: %s", (int)s->o.pid, strerror(-rc))
		  : 0;
}

void attach_trace_end(struct attach_session *s)
{
	if (!s->trace)
		return;
	/* what the detach makes the process do is not its own */
	heap_trace_leave(s->trace, s->o.pid);
	if (s->trace_timer)
		step(s);
	loop_del(s->o.loop, s->trace_timer);
	s->trace_timer = NULL;
}

void attach_trace_give(struct attach_session *s, struct heap *h)
{
	int rc = s->trace ? heap_trace_give(s->trace, h, 0) : 0;

	if (rc)
		session_note(s->to, "the kernel's events could not be kept: %s", strerror(-rc));
}

void attach_trace_fini(struct attach_session *s)
{
	loop_del(s->o.loop, s->trace_timer);
	heap_trace_close(s->trace);
	s->trace_timer = NULL;
	s->trace = NULL;
}
