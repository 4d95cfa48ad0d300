/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The alternate signal stacks of a process's threads: each is made to ask for its own. */
#include "src/ptrace/altstack.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include "src/ptrace/remote.h"
#include "src/proc/task.h"

#define ASK_NS		100000000u	/* for one thread to stop */
/* before it is tried again: it may come back to its own stack */
#define NAP_NS		1000000
#define MAX_TRIES	4

_Static_assert(sizeof(stack_t) <= REMOTE_SCRATCH_BYTES, "");

/* 0, -ENOMEM, or -EAGAIN: it could not be asked. */
static int ask(struct stopped *s, size_t i, struct altstacks *a)
{
	int64_t result = -ENOSYS;
	struct remote *r;
	stack_t stack = { .ss_flags = SS_DISABLE };
	int rc = remote_open(s, i, &r, NULL);

	if (rc)
		return rc == -ENOMEM ? rc : -EAGAIN;
	rc = remote_syscall(r, SYS_sigaltstack, (uint64_t[6]){ 0, remote_scratch(r) }, &result,
			    NULL);
	if (!rc && !result)
		rc = stop_read(s->pid, remote_scratch(r), &stack, sizeof(stack));
	remote_close(r);
	if (rc || result)
		return -EAGAIN;
	if (stack.ss_flags & SS_DISABLE)
		return 0;
	return vec_push(&a->v, (struct altstack){ s->v[i].tid, (uint64_t)(uintptr_t)stack.ss_sp,
						  stack.ss_size });
}

int altstacks_stopped(struct stopped *s, const struct gadget *gadget, struct altstacks *a)
{
	const struct gadget *before = s->gadget;
	int rc = 0;

	s->gadget = gadget;
	for (size_t i = 0; rc != -ENOMEM && i < s->nr; i++) {
		if (s->v[i].ended)
			continue;
		rc = ask(s, i, a);
		a->nr_silent += rc == -EAGAIN;
	}
	s->gadget = before;
	return rc == -ENOMEM ? rc : 0;
}

int altstacks_running(pid_t pid, pid_t tid, const struct gadget *gadget, struct altstacks *a,
		      uint64_t *ns)
{
	int rc = -EAGAIN;

	for (unsigned tries = 0; rc == -EAGAIN && tries < MAX_TRIES; tries++) {
		struct stopped s;

		if (tries)
			nanosleep(&(struct timespec){ .tv_nsec = NAP_NS << tries }, NULL);
		if (task_ended(pid, tid))
			return task_live(pid) > 0 ? 0 : -ESRCH;
		rc = stop_this(pid, tid, ASK_NS, &s, NULL);
		if (rc)
			continue;
		s.gadget = gadget;
		rc = ask(&s, 0, a);
		*ns += stop_resume(&s);
	}
	if (rc == -ENOMEM || rc == -ESRCH)
		return rc;
	a->nr_silent += rc != 0;
	return 0;
}
