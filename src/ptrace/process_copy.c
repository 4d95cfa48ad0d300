/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process as it was at one moment: its copy, and what is to be had elsewhere (apart.h). */
#include "src/ptrace/process_copy.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "arch/remote_arch.h"
#include "src/base/fmt.h"
#include "src/ptrace/apart.h"
#include "src/ptrace/confined.h"
#include "src/ptrace/copy.h"
#include "src/ptrace/gadget.h"
#include "src/proc/pages.h"
#include "src/proc/smaps.h"
#include "src/ptrace/process_copy_priv.h"
#include "src/ptrace/stop.h"
#include "src/proc/task.h"
#include "src/ptrace/tracer.h"
#include "src/ptrace/register_words.h"

#define STOP_NS		5000000000u
/* without a copy: searched in no more than some milliseconds */
#define HURRIED_BYTES	(16ull << 20)
#define MAX_TRIES	6		/* to find a thread that can be used */
#define NAP_NS		1000000u	/* at first, between tries */

/* ---- registers ------------------------------------------------------------------------------- */

static int read_thread(struct process_copy_thread *t, struct arch_xstate *x)
{
	struct iovec io = { x->image, ARCH_XSTATE_BYTES };
	int rc = (int)tracer_ptrace(PTRACE_GETREGSET, t->tid, ARCH_NT_XSTATE, (uintptr_t)&io);
	size_t used = 0;

	x->nr = io.iov_len;
	if (!rc && x->nr >= ARCH_XSTATE_MIN)
		used = arch_xstate_used(x);
	return register_words_fill(t, x->image, used);
}

static int run_read_threads(void *arg)
{
	struct process_copy *s = arg;
	const struct stopped *stopped = &s->state->stopped;
	struct arch_xstate *x = aligned_alloc(64, (sizeof(*x) + 63) & ~63ul);
	int rc = x ? vec_reserve(&s->threads, stopped->nr) : -ENOMEM;

	for (size_t i = 0; !rc && i < stopped->nr; i++) {
		struct process_copy_thread t = { .tid = stopped->v[i].tid,
						 .regs = stopped->v[i].regs };

		if (stopped->v[i].ended)
			continue;
		arch_rewind(&t.regs);
		rc = read_thread(&t, x);
		if (!rc)
			s->threads.v[s->threads.nr++] = t;
	}
	free(x);
	return rc;
}

static int open_mem(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* ---- taking ---------------------------------------------------------------------------------- */

/* Is it worth the attempt to make a copy? Else says in s->why what is against it. */
static bool want_copy(struct process_copy *s, const struct process_copy_options *o)
{
	if (o->no_copy) {
		err_set(&s->why, 0, "no copy was asked for");
		return false;
	}
	return !copy_possible(s->pid, &s->why) &&
	       !gadget_find(s->pid, &s->state->copy.gadget, &s->why);
}

/* Most of what has to be read while the process is stopped; shared memory may be pmm's own. */
static uint64_t own_bytes(pid_t pid)
{
	static const char *const parts[] = { "RssAnon", "VmSwap" };
	pid_t live = task_live(pid);
	uint64_t sum = 0, kib;

	for (size_t i = 0; live > 0 && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!task_status(pid, live, parts[i], 10, &kib))
			sum += kib << 10;
	return sum;
}

/* Of a process that cannot be copied: 0, or -E2BIG. */
static int may_hold(const struct process_copy *s, const struct process_copy_options *o,
		    struct err *e)
{
	uint64_t bytes = o->no_copy || !o->most_held_bytes ? 0 : own_bytes(s->pid);

	if (bytes <= o->most_held_bytes)
		return 0;
	err_set(e, -E2BIG, "no copy could be made: %s", s->why.text);
	err_hint(e,
		 "without one it is stopped while all of its %s are read, seconds for each GiB: "
		 "--stop does that",
		 fmt_bytes(bytes).s);
	return -E2BIG;
}

/*
 * Stop all and make the copy; when no thread is fit for it just now, again a bit later. Ends with
 * the threads stopped. 0 or -errno.
 */
static int stop_and_copy(struct process_copy *s, const struct process_copy_options *o, bool wanted,
			 struct err *e)
{
	struct process_copy_state *state = s->state;
	const uint64_t timeout_ns = o->timeout_ns ? o->timeout_ns : STOP_NS;

	for (unsigned tries = 0;; tries++) {
		int rc = stop_all(s->pid, timeout_ns, &state->stopped, e);

		if (rc || !wanted)
			return rc;
		rc = copy_make(&state->stopped, &state->copy, &s->why);
		if (rc != -EAGAIN || tries == MAX_TRIES)
			return 0;
		stop_resume(&state->stopped);
		nanosleep(&(struct timespec){ .tv_nsec = NAP_NS << tries }, NULL);
	}
}

static int left_out_failed(const struct process_copy *s, int rc, struct err *e)
{
	if (rc == -ENOMEM)
		return err_set(e, rc, "out of memory");
	return copy_is_gone(s->pid, "it was killed", e);
}

/* All threads are stopped. */
static int read_stopped(struct process_copy *s, const struct process_copy_options *o, struct err *e)
{
	int rc = tracer_do(s->state->stopped.tracer, run_read_threads, s);
	pid_t live = task_live(s->pid);

	if (!rc)
		rc = entrusted_stopped(&s->entrusted, live > 0 ? live : s->pid);
	if (rc == -ENOMEM)
		return err_set(e, rc, "out of memory");
	if (rc)
		return err_set(e, rc, "the registers of process %d cannot be read: %s", (int)s->pid,
			       strerror(-rc));
	rc = proc_maps_read(live > 0 ? live : s->pid, &s->maps, e);
	if (!rc && o->stopped)
		rc = o->stopped(o->arg, e);
	if (rc || !s->state->copy.child.pid)
		return rc;
	rc = apart_stopped(&s->state->apart, live > 0 ? live : s->pid, s->state->copy.child.pid,
			   &s->maps);
	return rc ? left_out_failed(s, rc, e) : 0;
}

/*
 * Behind the stop: let the process continue where there is a copy, and find out what the copy has.
 */
static int settle(struct process_copy *s, struct err *e)
{
	struct process_copy_state *state = s->state;
	int rc;

	state->task = task_proc(s->pid);
	state->mem = open_mem(state->task);
	state->pages = pages_open(state->task);
	if (!state->copy.child.pid) {
		if (own_bytes(s->pid) > HURRIED_BYTES)
			stop_calm_down(&state->stopped);
		rc = smaps_flagged(state->task, "um", &state->brought);
		return rc ? left_out_failed(s, rc, e) : 0;
	}
	rc = copy_hold(&state->stopped, &state->copy, &s->pause_ns, e);
	if (rc)
		return rc;
	s->copy = state->copy.child.pid;
	s->why = (struct err){ 0 };
	state->copy_mem = open_mem(s->copy);
	state->copy_pages = pages_open(s->copy);
	rc = apart_after(&state->apart, s->copy);
	s->held_bytes = state->apart.held.bytes;
	s->late = state->apart.late;
	if (!rc)
		rc = entrusted_after(&s->entrusted, task_proc(s->pid));
	return rc ? left_out_failed(s, rc, e) : 0;
}

/* What is to be known before the stop so that this be short. */
static int prepare(struct process_copy *s, bool wanted, struct err *e)
{
	pid_t pid = task_proc(s->pid);
	int rc = entrusted_before(&s->entrusted, pid);

	if (!rc && wanted)
		rc = apart_before(&s->state->apart, pid);
	return rc ? err_set(e, rc, "out of memory") : 0;
}

int process_copy_take(pid_t pid, const struct process_copy_options *o, struct process_copy *s,
		      struct err *e)
{
	bool wanted = false;
	int rc = stop_possible(pid, e);

	*s = (struct process_copy){ .pid = pid };
	if (!rc)
		rc = confined_check(pid, CONFINED_STOP, e);
	if (rc)
		return rc;
	s->state = calloc(1, sizeof(*s->state));
	if (!s->state)
		return err_set(e, -ENOMEM, "out of memory");
	s->state->mem = s->state->copy_mem = s->state->pages = s->state->copy_pages = -1;
	copy_reap_leftovers(pid);
	s->state->may_ask = !confined_check(pid, CONFINED_ASK, NULL);
	wanted = want_copy(s, o);
	rc = wanted ? 0 : may_hold(s, o, e);
	if (!rc)
		rc = prepare(s, wanted, e);
	if (!rc)
		rc = stop_and_copy(s, o, wanted, e);
	if (!rc && wanted && !s->state->copy.child.pid)
		rc = may_hold(s, o, e);
	if (!rc) {
		rc = read_stopped(s, o, e);
		if (!rc)
			rc = settle(s, e);
		else if (s->state->copy.child.pid)
			copy_hold(&s->state->stopped, &s->state->copy, &s->pause_ns, NULL);
	}
	if (rc)
		process_copy_free(s);
	return rc;
}

/* A process that was killed has no memory some time before it counts as ended. */
bool process_copy_intact(const struct process_copy *s)
{
	uint8_t byte;

	if (!s->state)
		return true;
	if (s->copy)
		return !task_ended(s->copy, s->copy);
	vec_each(&s->maps, m)
		if (m->perms & PROC_MAP_READ && process_copy_read(s, m->start, &byte, 1))
			return true;
	return false;
}

int process_copy_ask(struct process_copy *s, struct altstacks *a)
{
	struct process_copy_state *state = s->state;
	struct gadget gadget;
	int rc = 0;

	if (!state->may_ask)
		return -EACCES;
	if (!s->copy) {
		rc = gadget_find(s->pid, &gadget, NULL);
		return rc ? rc : altstacks_stopped(&state->stopped, &gadget, a);
	}
	for (size_t i = 0; !rc && i < s->threads.nr; i++)
		rc = altstacks_running(s->pid, s->threads.v[i].tid, &state->copy.gadget, a,
				       &s->pause_ns);
	return rc == -ESRCH ? 0 : rc;
}

static void close_all(const struct process_copy_state *state)
{
	const int fds[] = { state->mem, state->copy_mem, state->pages, state->copy_pages };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

uint64_t process_copy_free(struct process_copy *s)
{
	struct process_copy_state *state = s->state;
	uint64_t ns = s->pause_ns;

	if (!state)
		return 0;
	if (state->copy.child.pid)
		copy_end(&state->copy);
	else
		ns = stop_resume(&state->stopped);
	close_all(state);
	vec_fini(&state->brought);
	apart_fini(&state->apart);
	free(state);
	vec_each(&s->threads, t)
		free(t->words);
	vec_fini(&s->threads);
	proc_maps_fini(&s->maps);
	entrusted_fini(&s->entrusted);
	*s = (struct process_copy){ 0 };
	return ns;
}

unsigned process_copy_reap_leftovers(pid_t pid)
{
	return copy_reap_leftovers(pid);
}
