/*
 * Which of the agent's system calls would survive a seccomp filter.
 *
 * The filter is run for each, with the arguments that are always the same; one that looks at others is taken to refuse. That a filter answers
 * with an error instead of death is no help: the program's own call is then tried no less often.
 */
#include "agent/preload/confine.h"

#include "agent/core.h"
#include "agent/preload/keeper.h"
#include "agent/preload/leave.h"
#include "agent/stack.h"
#include "agent/sys.h"
#include "include/pmm/bpf.h"

#define CALL(name)			{ .nr = ARCH_SYS_##name }
#define CALL_WITH(name, arg, value)	{ .nr = ARCH_SYS_##name, .known = 1u << (arg), .args = { [arg] = (value) } }

static const struct bpf_call breaks[] = { CALL_WITH(brk, 0, 0) };

static const struct bpf_call asking[] = { CALL(rt_sigprocmask) };

static const struct bpf_call returning[] = { CALL(rt_sigreturn) };

static const struct bpf_call growing[] = {
	CALL_WITH(mprotect, 2, SYS_PROT_READ | SYS_PROT_WRITE),
	CALL_WITH(madvise, 2, SYS_MADV_POPULATE_WRITE),
};

static const struct bpf_call guarding[] = {
	CALL_WITH(mprotect, 2, SYS_PROT_READ | SYS_PROT_WRITE), CALL_WITH(mprotect, 2, SYS_PROT_NONE),
	CALL_WITH(madvise, 2, SYS_MADV_GUARD_INSTALL), CALL_WITH(madvise, 2, SYS_MADV_GUARD_REMOVE),
	CALL_WITH(madvise, 2, SYS_MADV_DONTNEED), CALL(munlock),
	CALL(rt_sigaction), CALL(rt_sigprocmask), CALL(rt_sigreturn), CALL(rt_tgsigqueueinfo), CALL(tgkill), CALL(getpid), CALL(gettid),
};

/* struct sock_fprog of linux/filter.h. */
struct program {
	uint16_t nr;
	const struct sock_filter *v;
};

static bool lets_all(const struct program *f, const struct bpf_call *call, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint32_t verdict = 0;

		if (bpf_run(f->v, f->nr, &call[i], &verdict))
			return false;
		verdict &= SECCOMP_RET_ACTION_FULL;
		if (verdict != SECCOMP_RET_ALLOW && verdict != SECCOMP_RET_LOG)
			return false;
	}
	return true;
}

#define LETS(f, calls) lets_all(f, calls, sizeof(calls) / sizeof(*(calls)))

static bool readable(const void *from, size_t bytes)
{
	uint64_t end = (uint64_t)from + bytes;

	for (uint64_t at = (uint64_t)from; at < end; at = (at | (ARCH_PAGE - 1)) + 1)
		if (!sys_readable(at))
			return false;
	return true;
}

/* Is it a call that the kernel would not refuse at once? A program that is confined already cannot be asked what it can read. */
static bool serious(uint64_t mode, uint64_t flags, const struct program *f)
{
	if (mode == CONFINE_STRICT)
		return !flags && !f;
	if (mode != CONFINE_FILTER || !f)
		return false;
	return A.confined || (readable(f, sizeof(*f)) && f->nr && readable(f->v, f->nr * sizeof(*f->v)));
}

/* A child made by vfork: the filter is its own, and all this its parent's. */
static bool is_vforked(void)
{
	return !A.confined && LOAD(A.state) == AGENT_ON && LOAD(*A.alive) && (int)sys0(getpid) != A.pid;
}

static void ask_no_more(void)
{
	struct tctx *c = LOAD(A.state) == AGENT_ON && !A.no_asking ? ctx_find() : NULL;

	if (c) {
		stack_note(c, (uint64_t)__builtin_frame_address(0));
		stack_learn(c);
	}
	A.no_asking = true;
}

void confine(uint64_t mode, uint64_t flags, const void *program)
{
	const struct program *f = program;

	if (!serious(mode, flags, f) || is_vforked())
		return;
	if (mode == CONFINE_STRICT || !LETS(f, asking))
		ask_no_more();
	A.no_break |= mode == CONFINE_STRICT || !LETS(f, breaks);
	A.no_return |= mode == CONFINE_STRICT ? false : !LETS(f, returning);
	A.no_growth |= mode == CONFINE_STRICT || !LETS(f, growing);
	if (mode == CONFINE_STRICT || !LETS(f, guarding))
		__atomic_store_n(&A.no_guards, true, __ATOMIC_SEQ_CST);
	STORE(A.confined, true);
	signals_unguard();
	if (mode == CONFINE_STRICT && LOAD(A.state) == AGENT_ON)
		agent_off(PMM_OFF_CONFINED);
}
