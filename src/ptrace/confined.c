/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seccomp filters of a process, read from its threads (PTRACE_SECCOMP_GET_FILTER) and judged.
 *
 * The kernel obeys the most restrictive of a thread's filters, so each must let us do what we do,
 * whatever the others say. Every thread that has filters is stopped, read and let go, one at a
 * time, since nothing else shows which filters are whose; a filter is judged once only, however
 * many threads have it. A thread made meanwhile has the filters of the one that made it.
 */
#include "src/ptrace/confined.h"

#include <elf.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/stop_arch.h"
#include "include/pmm/bpf.h"
#include "src/base/nanotime.h"
#include "src/base/vec.h"
#include "src/ptrace/seize.h"
#include "src/ptrace/stop.h"
#include "src/proc/task.h"
#include "src/ptrace/tracer.h"

#define CAP_SYS_ADMIN_BIT	21
#define ALL_NS			5000000000u	/* for all threads */
/* of a thread: the kernel takes 32768 instructions, and counts 4 more for each filter */
#define MAX_FILTERS		6554
#define HINT_START		"start it without the filter"

struct call {
	struct bpf_call call;
	const char *name;
	bool may_fail;		/* with an error number */
};

static const struct call attach_calls[] = {
#define MUST(name)	{ { .nr = SYS_##name }, #name, false }
#define MAY(name)	{ { .nr = SYS_##name }, #name, true }
	/*
	 * those that we have it make; the kernel makes restart_syscall of a timed call that a stop
	 * interrupts
	 */
	MUST(memfd_create),
	MUST(mmap),
	MUST(mprotect),
	MUST(munmap),
	MUST(close),
	MUST(rt_sigreturn),
	MUST(restart_syscall),
	/*
	 * The agent's. It takes the result of the first row for what it is; an error of
	 * rt_sigprocmask or tgkill may mean something else to it than to the filter, and without
	 * the second row's there is no more memory, no modules, no stacks.
	 */
	MUST(brk),
	MUST(rt_sigprocmask),
	MUST(getpid),
	MUST(getppid),
	MUST(gettid),
	MUST(clock_gettime),
	MUST(tgkill),
	MUST(sigaltstack),
	MUST(madvise),
	MUST(pread64),
	MUST(process_vm_readv),
	/*
	 * Without: what it is called, its arguments, libraries loaded later (segment.c: describe();
	 * module.c: modules_scan(); ctx.c)
	 */
	MAY(openat),
	MAY(read),
	MAY(readlink),
	MAY(prctl),
	/*
	 * Without: no room made below RLIMIT_AS, the mapping may fail (segment.c:
	 * limit_make_room())
	 */
	{ { .nr = SYS_prlimit64 }, "prlimit64", true },
	/* Without: it spins */
	MAY(sched_yield),
};

/*
 * An ended copy that cannot be waited for would stay until the process ends, so what must be is
 * what it takes to undo it.
 */
static const struct call copy_calls[] = {
	MUST(rt_sigreturn), MUST(restart_syscall), MUST(exit_group), MUST(wait4),
	/* filters for containers want to see that it makes no namespaces (remote_fork()) */
	{ { .nr = SYS_clone, .known = 1, .args = { CLONE_FILES } }, "clone", true },
};

static const struct call stop_calls[] = { MUST(restart_syscall) };

static const struct call ask_calls[] = { MUST(rt_sigreturn), MUST(restart_syscall),
					 MAY(sigaltstack) };

static const struct {
	const struct call *v;
	size_t nr;
} needed[CONFINED_NR_USES] = {
#define CALLS(list)	{ list, sizeof(list) / sizeof((list)[0]) }
	[CONFINED_ATTACH] = CALLS(attach_calls),
	[CONFINED_COPY] = CALLS(copy_calls),
	[CONFINED_STOP] = CALLS(stop_calls),
	[CONFINED_ASK] = CALLS(ask_calls),
};

static bool lets(const struct sock_filter *v, size_t nr, const struct call *call, bool *valid)
{
	uint32_t verdict = 0;
	int rc = bpf_run(v, nr, &call->call, &verdict);

	*valid = rc != -EINVAL;
	if (rc)
		return false;
	switch (verdict & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
		return true;
	case SECCOMP_RET_ERRNO:		/* error 0: it is not made and yet returns 0 */
		return call->may_fail && verdict & SECCOMP_RET_DATA;
	}
	return false;
}

const char *confined_refuses(enum confined_use use, const struct sock_filter *v, size_t nr)
{
	bool valid;

	for (size_t i = 0; i < needed[use].nr; i++)
		if (!lets(v, nr, &needed[use].v[i], &valid))
			return valid ? needed[use].v[i].name : "";
	return NULL;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct filter {
	struct sock_filter *v;
	size_t nr;
};

struct reading {
	struct seizing sz;
	struct stopped s;
	enum confined_use use;
	struct err *e;
	struct task_list tasks;
	VEC(struct filter) known;	/* judged: they let us */
	struct sock_filter buf[BPF_MAXINSNS];
};

static int filtered(pid_t pid, const char *hint, struct err *e)
{
	err_set(e, -EACCES, "process %d has its system calls filtered (seccomp)", (int)pid);
	err_hint(e, "%s", hint);
	return -EACCES;
}

static int refuse(pid_t pid, const char *name, struct err *e)
{
	if (!name[0])
		return filtered(pid, "pmm does not understand the filter; " HINT_START, e);
	err_set(e, -EACCES,
		"process %d has its system calls filtered (seccomp), and the filter does not "
		"simply allow '%s'",
		(int)pid, name);
	err_hint(e, "pmm has to make that system call in the process; allow it, whatever its "
		    "arguments, or " HINT_START);
	return -EACCES;
}

static bool is_known(const struct reading *r, size_t nr, size_t index)
{
	const size_t bytes = nr * sizeof(r->buf[0]);

	for (size_t i = 0; i < r->known.nr; i++) {
		/* the usual place first */
		const struct filter *f = &r->known.v[(index + i) % r->known.nr];

		if (f->nr == nr && !memcmp(f->v, r->buf, bytes))
			return true;
	}
	return false;
}

/* Judge the filter in the buffer unless that has been done. */
static int look_at(struct reading *r, size_t nr, size_t index)
{
	struct filter f = { .nr = nr };
	const char *name;

	if (is_known(r, nr, index))
		return 0;
	name = confined_refuses(r->use, r->buf, nr);
	if (name)
		return refuse(r->s.pid, name, r->e);
	f.v = malloc(nr * sizeof(*f.v));
	if (!f.v || r->known.nr >= MAX_FILTERS || vec_push(&r->known, f)) {
		free(f.v);
		return err_set(r->e, -ENOMEM, "process %d has too many seccomp filters",
			       (int)r->s.pid);
	}
	memcpy(f.v, r->buf, nr * sizeof(*f.v));
	return 0;
}

/* A thread's filters; it is stopped. -ESRCH it has ended. */
static int read_filters(struct reading *r, pid_t tid)
{
	for (size_t i = 0; i < MAX_FILTERS; i++) {
		long nr = tracer_ptrace(PTRACE_SECCOMP_GET_FILTER, tid, i, 0);
		int rc;

		if (nr == -ENOENT && i)
			return 0;
		if (nr == -ESRCH)
			return -ESRCH;
		if (nr == -EACCES)
			return filtered(r->s.pid,
					"the filter can be read by root only, outside of "
					"containers; run pmm there",
					r->e);
		if (nr <= 0 || nr > BPF_MAXINSNS ||
		    tracer_ptrace(PTRACE_SECCOMP_GET_FILTER, tid, i, (uint64_t)r->buf) != nr)
			return filtered(r->s.pid,
					"this kernel does not let the filter be read; " HINT_START,
					r->e);
		rc = look_at(r, (size_t)nr, i);
		if (rc)
			return rc;
	}
	return refuse(r->s.pid, "", r->e);
}

/*
 * The kernel continues a timed call by restart_syscall, which a filter that we do not know to
 * allow it could end the process for: let it begin anew then.
 */
static void begin_anew(struct stop_thread *t)
{
	if (!arch_continues_timed(&t->regs))
		return;
	arch_rewind(&t->regs);
	tracer_regset(PTRACE_SETREGSET, t->tid, NT_PRSTATUS, &t->regs, sizeof(t->regs));
}

static int read_thread(struct reading *r, pid_t tid)
{
	int rc = seize(&r->sz, tid);

	if (rc > 0)
		rc = seize_wait(&r->sz, &r->s.v[0]);
	if (rc) {
		seize_let_go(&r->sz);
		return rc;
	}
	if (r->s.nr && !r->s.v[0].ended) {
		rc = read_filters(r, tid);
		if (rc)
			begin_anew(&r->s.v[0]);
		tracer_ptrace(PTRACE_DETACH, tid, 0, 0);
	}
	r->s.nr = 0;
	return rc == -ESRCH ? 0 : rc;
}

static int run_reading(void *arg)
{
	struct reading *r = arg;
	int rc = 0;

	tracer_deadline(r->s.tracer, nanotime() + ALL_NS);
	for (size_t i = 0; !rc && i < r->tasks.tids.nr; i++) {
		uint64_t mode = 0;

		if (!task_status(r->s.pid, r->tasks.tids.v[i], "Seccomp", 10, &mode) && mode)
			rc = read_thread(r, r->tasks.tids.v[i]);
	}
	return rc;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* The strictest mode of any thread: a filter may have been set for one only. */
static uint64_t mode_of(pid_t pid, const struct task_list *tasks)
{
	uint64_t mode, any = SECCOMP_MODE_DISABLED;

	for (size_t i = 0; i < tasks->tids.nr; i++) {
		if (task_status(pid, tasks->tids.v[i], "Seccomp", 10, &mode) ||
		    mode == SECCOMP_MODE_DISABLED)
			continue;
		any = mode;
		if (mode != SECCOMP_MODE_FILTER)
			break;
	}
	return any;
}

/* What the kernel asks of who reads filters. */
static int check_ourselves(pid_t pid, struct err *e)
{
	uint64_t caps = 0, mode = 0;

	if (task_status(getpid(), 0, "CapEff", 16, &caps) || !(caps >> CAP_SYS_ADMIN_BIT & 1))
		return filtered(pid,
				"the filter could end it for what pmm would make it do, and root "
				"only may read what it allows; run pmm as root",
				e);
	if (!task_status(getpid(), 0, "Seccomp", 10, &mode) && mode)
		return filtered(pid,
				"the kernel does not let pmm read the filter, as pmm has one "
				"itself; run pmm outside of containers",
				e);
	return 0;
}

static int read_all(struct reading *r)
{
	int rc = tracer_new(&r->s.tracer, r->e);

	if (rc)
		return rc;
	r->sz = (struct seizing){ .s = &r->s, .e = r->e };
	rc = tracer_do(r->s.tracer, run_reading, r);
	tracer_free(r->s.tracer);
	for (size_t i = 0; i < r->known.nr; i++)
		free(r->known.v[i].v);
	vec_fini(&r->known);
	free(r->s.v);
	return rc;
}

int confined_check(pid_t pid, enum confined_use use, struct err *e)
{
	struct reading *r = calloc(1, sizeof(*r));
	uint64_t mode;
	int rc;

	if (!r)
		return err_set(e, -ENOMEM, "out of memory");
	r->s.pid = pid;
	r->use = use;
	r->e = e;
	rc = task_list(pid, &r->tasks);
	mode = rc ? SECCOMP_MODE_DISABLED : mode_of(pid, &r->tasks);
	rc = 0;
	if (mode != SECCOMP_MODE_DISABLED && mode != SECCOMP_MODE_FILTER)
		rc = filtered(pid,
			      "it may do no more than read, write and end (strict mode), and could "
			      "be ended for what pmm would make it do",
			      e);
	else if (mode)
		rc = check_ourselves(pid, e);
	if (!rc && mode)
		rc = read_all(r);
	vec_fini(&r->tasks.tids);
	free(r);
	return rc;
}
