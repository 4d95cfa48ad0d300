/* SPDX-License-Identifier: MIT */
/*
 * Which of the agent's system calls would survive a seccomp filter.
 *
 * The filter is run for each, with the arguments that are always the same; one that looks at others
 * is taken to refuse. That a filter answers with an error instead of death is no help in this
 * process: the program's own call is then tried no less often. A program that is executed does
 * without what it does not get.
 */
#include "agent/preload/confine.h"

#include "agent/agent_core.h"
#include "agent/ctx.h"
#include "agent/env.h"
#include "agent/preload/reserved_signals.h"
#include "agent/preload/leave.h"
#include "agent/agent_stack.h"
#include "agent/sys.h"
#include "include/pmm/bpf.h"
#include "include/pmm/channel.h"

/*
 * Of glibc's fork() (CLONE_CHILD_CLEARTID, CLONE_CHILD_SETTID, SIGCHLD), and its posix_spawn()
 * (CLONE_VM, CLONE_VFORK, SIGCHLD).
 */
#define FORK_FLAGS	0x1200011u
#define SPAWN_FLAGS	0x4111u

#define CALL(name)			{ .nr = ARCH_SYS_##name }
#define CALL_WITH(name, arg, value)                                                                \
	{                                                                                          \
		.nr = ARCH_SYS_##name, .known = 1u << (arg), .args = { [arg] = (value) }           \
	}

static const struct bpf_call breaks[] = { CALL_WITH(brk, 0, 0) };

static const struct bpf_call asking[] = { CALL(rt_sigprocmask) };

static const struct bpf_call returning[] = { CALL(rt_sigreturn) };

static const struct bpf_call growing[] = {
	CALL_WITH(mprotect, 2, SYS_PROT_READ | SYS_PROT_WRITE),
	CALL_WITH(madvise, 2, SYS_MADV_POPULATE_WRITE),
};

/* Besides, on kernels before 5.14 (agent/segment.c). */
static const struct bpf_call touching[] = {
	CALL_WITH(futex, 1, SYS_FUTEX_WAKE_OP_PRIVATE),
};

/* A ledger for a forked child, and telling the monitor of it. */
static const struct bpf_call making_files[] = {
	CALL(memfd_create),  CALL(ftruncate),
	CALL(mmap),	     CALL(munmap),
	CALL(mprotect),	     CALL(madvise),
	CALL(fcntl),	     CALL(close),
	CALL(prlimit),	     CALL_WITH(socket, 0, 1 /* AF_UNIX */),
	CALL(setsockopt),    CALL(connect),
	CALL(getsockopt),    CALL(sendmsg),
	CALL(recvmsg),	     CALL(ppoll),
	CALL(openat),	     CALL(read),
	CALL(clock_gettime),
};

/*
 * What a program that is executed asks for besides, before it has a ledger (all forms of the
 * agent).
 */
static const struct bpf_call starting[] = {
	CALL(getpid),
	CALL(getppid),
	CALL(gettid),
	CALL(statx),
	CALL(readlink),
	CALL(pread64),
	CALL(brk),
	CALL(futex),
	CALL(getrandom),
	CALL_WITH(prctl, 0, 16 /* PR_GET_NAME */),
	CALL(process_vm_readv),
	CALL(process_madvise),
	CALL(rt_sigaction),
	CALL(rt_sigprocmask),
	CALL(rt_sigreturn),
	CALL(sigaltstack),
};

/*
 * Processes and programs, as the C library begins them; where a filter looks at other arguments, it
 * is taken to allow it.
 */
static const struct bpf_call beginning[] = {
	CALL(execve),
	CALL(execveat),
	CALL(fork),
	CALL(vfork),
	CALL_WITH(clone, 0, FORK_FLAGS),
	CALL_WITH(clone, 0, SPAWN_FLAGS),
};

static const struct bpf_call guarding[] = {
	CALL_WITH(mprotect, 2, SYS_PROT_READ | SYS_PROT_WRITE),
	CALL_WITH(mprotect, 2, SYS_PROT_NONE),
	CALL_WITH(madvise, 2, SYS_MADV_GUARD_INSTALL),
	CALL_WITH(madvise, 2, SYS_MADV_GUARD_REMOVE),
	CALL_WITH(madvise, 2, SYS_MADV_DONTNEED),
	CALL(munlock),
	CALL(rt_sigaction),
	CALL(rt_sigprocmask),
	CALL(rt_sigreturn),
	CALL(rt_tgsigqueueinfo),
	CALL(tgkill),
	CALL(getpid),
	CALL(gettid),
};

/* struct sock_fprog of linux/filter.h. */
struct program {
	uint16_t nr;
	const struct sock_filter *v;
};

/* The verdict; false: there is none without arguments that are not known. */
static bool verdict_of(const struct program *f, const struct bpf_call *call, uint32_t *verdict)
{
	if (bpf_run(f->v, f->nr, call, verdict))
		return false;
	*verdict &= SECCOMP_RET_ACTION_FULL;
	return true;
}

static bool kills(uint32_t verdict)
{
	return verdict == SECCOMP_RET_KILL_PROCESS || verdict == SECCOMP_RET_KILL_THREAD ||
	       verdict == SECCOMP_RET_TRAP;
}

static bool kills_any(const struct program *f, const struct bpf_call *call, size_t nr)
{
	uint32_t verdict;

	for (size_t i = 0; i < nr; i++)
		if (!verdict_of(f, &call[i], &verdict) || kills(verdict))
			return true;
	return false;
}

static bool lets_any(const struct program *f, const struct bpf_call *call, size_t nr)
{
	uint32_t verdict;

	for (size_t i = 0; i < nr; i++)
		if (!verdict_of(f, &call[i], &verdict) ||
		    (!kills(verdict) && verdict != SECCOMP_RET_ERRNO))
			return true;
	return false;
}

static bool lets_all(const struct program *f, const struct bpf_call *call, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint32_t verdict = 0;

		if (!verdict_of(f, &call[i], &verdict))
			return false;
		if (verdict != SECCOMP_RET_ALLOW && verdict != SECCOMP_RET_LOG)
			return false;
	}
	return true;
}

#define NR(calls) (sizeof(calls) / sizeof(*(calls)))
#define LETS(f, calls) lets_all(f, calls, NR(calls))

static bool readable(const void *from, size_t bytes)
{
	uint64_t end = (uint64_t)from + bytes;

	for (uint64_t at = (uint64_t)from; at < end; at = (at | (ARCH_PAGE - 1)) + 1)
		if (!sys_readable(at))
			return false;
	return true;
}

/*
 * Is it a call that the kernel would not refuse at once? A program that is confined already cannot
 * be asked what it can read.
 */
static bool serious(uint64_t mode, uint64_t flags, const struct program *f)
{
	if (mode == CONFINE_STRICT)
		return !flags && !f;
	if (mode != CONFINE_FILTER || !f)
		return false;
	return agent.confined ||
	       (readable(f, sizeof(*f)) && f->nr && readable(f->v, f->nr * sizeof(*f->v)));
}

/* A child made by vfork: the filter is its own, and all this its parent's. */
static bool is_vforked(void)
{
	return !agent.confined && agent_is_on() && LOAD(*agent.alive) &&
	       (int)sys0(getpid) != agent.pid;
}

/*
 * What begins under the filter may be without a ledger: all that is forked where files cannot be
 * made, what is executed where that is death.
 */
static void close_to_children(const struct program *f)
{
	bool kills = kills_any(f, making_files, NR(making_files)) ||
		     kills_any(f, starting, NR(starting));

	if (kills)
		env_mark(PMM_ENV, PMM_ENV_CLOSED);
	if ((kills || agent.no_files) && lets_any(f, beginning, NR(beginning)) &&
	    agent_is_on() && agent_begun() &&
	    LOAD(agent.ledger->off_reason) == PMM_OFF_NONE)
		STORE(agent.ledger->off_reason, PMM_OFF_NO_CHILDREN);
}

static void ask_no_more(void)
{
	struct tctx *c = agent_is_on() && !agent.no_asking ? ctx_find() : NULL;

	if (c) {
		stack_note(c, (uint64_t)__builtin_frame_address(0));
		stack_learn(c);
	}
	agent.no_asking = true;
}

void confine(uint64_t mode, uint64_t flags, const void *program)
{
	const struct program *f = program;
	bool touches;

	if (!serious(mode, flags, f) || is_vforked())
		return;
	if (!agent.confined && agent_is_on())
		ctx_find(); /* a child that was forked and has done nothing yet has a ledger now or
			       never */
	if (mode == CONFINE_STRICT || !LETS(f, asking))
		ask_no_more();
	agent.no_break |= mode == CONFINE_STRICT || !LETS(f, breaks);
	agent.no_return |= mode == CONFINE_STRICT ? false : !LETS(f, returning);
	touches = mode != CONFINE_STRICT && (!agent.touches_pages || LETS(f, touching));
	agent.no_files |= !touches || agent.no_break || !LETS(f, making_files);
	if (mode != CONFINE_STRICT)
		close_to_children(f);
	agent.no_growth |= !touches || !LETS(f, growing);
	if (mode == CONFINE_STRICT || !LETS(f, guarding))
		__atomic_store_n(&agent.no_guards, true, __ATOMIC_SEQ_CST);
	STORE(agent.confined, true);
	signals_release();
	if (mode == CONFINE_STRICT && agent_is_on())
		agent_off(PMM_OFF_CONFINED);
}
