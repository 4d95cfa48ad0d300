/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heaps as a part of a trace: attached to before it sees anything, left once it sees no more. */
#include "src/session/trace/trace_session_priv.h"

#include <errno.h>
#include <string.h>

/* Of that the kernel need not say anything. */
bool trace_session_heap_alone(const struct trace_options *o)
{
	return o->classes == 1u << EVENT_HEAP;
}

const struct kernel_source_ops *trace_session_source(const struct trace_options *o)
{
	return trace_session_heap_alone(o) ? &no_source : o->source;
}

/* The launched command's process is there, and waits: from here on it is traced. */
static int on_forked(void *arg, pid_t pid, struct err *e)
{
	struct trace_session *s = arg;
	int rc = kernel_source_target(s->source, pid, true);

	if (rc)
		return err_set(e, rc, "process %d cannot be traced: %s", (int)pid, strerror(-rc));
	s->command = pid;
	if (s->with_stacks && s->o.map_events)
		trace_stacks_follow(&s->stacks, &pid, 1);
	return 0;
}

static void on_command_ended(void *arg, int status)
{
	struct trace_session *s = arg;

	s->status = status;
	s->ending = true;
}

int trace_session_refuse_both(struct err *e)
{
	err_set(e, -ENOTSUP, "without BPF a command's heap and its events cannot be seen together");
	err_hint(e, "ask for one after the other, or be root");
	return -ENOTSUP;
}

int trace_session_open_heaps(struct trace_session *s, struct err *e)
{
	const struct trace_heaps_options o = { .loop = s->o.loop,
					       .pids = s->o.kernel.pids,
					       .nr_pids = s->o.kernel.nr_pids,
					       .argv = s->o.command,
					       .follow = s->o.kernel.follow,
					       .signals = s->o.signals,
					       .mask = s->o.mask,
					       .forked = on_forked,
					       .ended = on_command_ended,
					       .arg = s,
					       .older_ns = s->o.older_ns,
					       .min_bytes = s->o.kernel.min_bytes };

	if (!(s->o.classes >> EVENT_HEAP & 1))
		return 0;
	if (!o.argv && !o.nr_pids) {
		err_set(e, -EINVAL, "'heap' needs processes or a command to attach to");
		err_hint(e, "give '--pid PID' or '-- COMMAND'");
		e->exit_code = 2;
		return -EINVAL;
	}
	return trace_heaps_open(&s->heaps, &o, s->to, e);
}

/* Of agents of pmm that are in the processes already. */
int trace_session_hide_hooks(struct trace_session *s)
{
	int rc = 0;

	for (size_t i = 0; s->with_stacks && !rc && i < s->o.kernel.nr_pids; i++)
		rc = trace_stacks_hide(&s->stacks, s->o.kernel.pids[i],
				       trace_heaps_hook_pc(s->o.kernel.pids[i]));
	return rc;
}

void trace_session_leave_alone(struct trace_session *s)
{
	for (size_t i = 0; i < s->o.kernel.nr_pids; i++)
		kernel_source_target(s->source, s->o.kernel.pids[i], false);
}
