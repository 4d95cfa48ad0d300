/* SPDX-License-Identifier: MIT */
/*
 * Opening and closing pages of the guard pool.
 *
 * Markers: a part in use is readable and writable memory that is full of guard markers; a page is
 * opened by removing its marker. Installing one drops the page's memory. Markers cannot be
 * installed in locked memory: a program that called mlockall() locked the pool with all else, which
 * is undone for the pool.
 *
 * Protection: open pages are a mapping of their own between closed ones. Neighbours merge again
 * when they are alike in all else, for which a part is once written to as a whole, so that all of
 * it is accounted alike and has one anon_vma (mm/vma.c: is_mergeable_anon_vma).
 */
#include "agent/guard/guard_pages.h"

#include "agent/agent.h"
#include "agent/sys.h"

#define MAPPINGS_USUAL	65530u
#define TRIES		8
#define PER_OPEN	2	/* mappings */
#define PR_GET_SECCOMP	21
#define BUSY_TRIES	1000		/* one that was interrupted for good is not waited for */
#define BUSY_NS		1000000u

static struct {
	enum pmm_guard_mechanism mechanism;
	bool vectors;			/* process_madvise() on this process works */
	bool distrust;
	uint64_t start, bytes;
	uint64_t mappings, max_mappings;	/* for protection */
	uint32_t busy;			/* threads that open or close pages */
} P;

struct range {
	uint64_t at, bytes;
};

/* madvise that is asked again when the kernel was only busy. */
static long advise(uint64_t at, uint64_t bytes, int advice)
{
	long ret;

	for (unsigned i = 0; i < TRIES; i++) {
		ret = sys3(madvise, at, bytes, advice);
		if (ret != -SYS_EINTR && ret != -SYS_EAGAIN)
			break;
	}
	return ret;
}

static bool protect(uint64_t at, uint64_t bytes, int prot)
{
	return !sys_failed(sys3(mprotect, at, bytes, prot));
}

/* The same for advice that drops memory, which locked memory must not be given. */
static bool drop(uint64_t at, uint64_t bytes, int advice)
{
	long ret = advise(at, bytes, advice);

	if (ret == -SYS_EINVAL && P.mechanism && !sys_failed(sys2(munlock, P.start, P.bytes)))
		ret = advise(at, bytes, advice);
	return !sys_failed(ret);
}

/*
 * Kernels and what imitates them may accept advice that they do not know: see whether it had an
 * effect.
 */
static bool markers_work(uint64_t page)
{
	return protect(page, ARCH_PAGE, SYS_PROT_READ | SYS_PROT_WRITE) &&
	       drop(page, ARCH_PAGE, SYS_MADV_GUARD_INSTALL) && !sys_readable(page) &&
	       !sys_failed(advise(page, ARCH_PAGE, SYS_MADV_GUARD_REMOVE)) && sys_readable(page) &&
	       drop(page, ARCH_PAGE, SYS_MADV_GUARD_INSTALL);
}

static long advise_vector(const struct range *r, unsigned nr, int advice)
{
	return arch_syscall(ARCH_SYS_process_madvise, SYS_PIDFD_SELF, (long)r, nr, advice, 0, 0);
}

/*
 * Was the program begun under a filter of system calls? One may end it for a call as new as
 * process_madvise().
 */
static bool filtered(void)
{
	return sys2(prctl, PR_GET_SECCOMP, 0) != 0;
}

enum pmm_guard_mechanism pages_start(uint64_t start, uint64_t bytes, bool force_mprotect,
				     uint64_t max_mappings)
{
	struct range first = { start, ARCH_PAGE };

	if (!max_mappings)
		max_mappings = MAPPINGS_USUAL;
	P.start = start;
	P.bytes = bytes;
	P.mappings = 0;
	P.max_mappings = max_mappings - max_mappings / 4;
	P.mechanism = PMM_GUARD_NONE;
	P.vectors = false;
	sys3(madvise, start, bytes, SYS_MADV_NOHUGEPAGE);
	sys3(madvise, start, bytes, SYS_MADV_DONTDUMP);
	if (force_mprotect || !markers_work(start)) {
		P.mechanism = PMM_GUARD_MPROTECT;
	} else {
		P.mechanism = PMM_GUARD_MADVISE;
		P.vectors = !filtered() &&
			    advise_vector(&first, 1, SYS_MADV_GUARD_INSTALL) == (long)ARCH_PAGE;
	}
	protect(start, ARCH_PAGE, SYS_PROT_NONE);
	return P.mechanism;
}

/*
 * Core files have what is in use, and nothing of the rest, which the kernel would go through page
 * by page.
 */
bool pages_prepare(uint64_t at, uint64_t bytes)
{
	bool ok = protect(at, bytes, SYS_PROT_READ | SYS_PROT_WRITE);

	if (!LOAD(agent.confined))
		sys3(madvise, at, bytes, SYS_MADV_DODUMP);
	if (ok && P.mechanism == PMM_GUARD_MADVISE) {
		ok = drop(at, bytes, SYS_MADV_GUARD_INSTALL);
	} else if (ok) {
		*(volatile char *)at = 0;
		sys3(madvise, at, bytes, SYS_MADV_DONTNEED);
	}
	if (!ok || P.mechanism != PMM_GUARD_MADVISE)
		ok &= protect(at, bytes, SYS_PROT_NONE);
	return ok;
}

/* Two more mappings: may they be? */
static bool mappings_take(void)
{
	if (ADD(P.mappings, PER_OPEN) + PER_OPEN <= P.max_mappings)
		return true;
	ADD(P.mappings, -PER_OPEN);
	return false;
}

bool pages_full(void)
{
	return P.mechanism != PMM_GUARD_MADVISE && LOAD(P.mappings) + PER_OPEN > P.max_mappings;
}

bool pages_open(uint64_t at, uint64_t bytes)
{
	if (P.mechanism == PMM_GUARD_MADVISE)
		return !sys_failed(advise(at, bytes, SYS_MADV_GUARD_REMOVE));
	if (!mappings_take())
		return false;
	if (protect(at, bytes, SYS_PROT_READ | SYS_PROT_WRITE))
		return true;
	ADD(P.mappings, -PER_OPEN);
	return false;
}

bool pages_vectors(void)
{
	return P.vectors && !LOAD(agent.confined);
}

bool pages_open_many(const uint64_t *at, unsigned nr, uint64_t bytes)
{
	struct range r[PAGES_MANY];

	for (unsigned i = 0; i < nr; i++)
		r[i] = (struct range){ at[i], bytes };
	if (advise_vector(r, nr, SYS_MADV_GUARD_REMOVE) != (long)(nr * bytes))
		return false;
	/* what it refuses comes with the first access */
	advise_vector(r, nr, SYS_MADV_POPULATE_WRITE);
	return true;
}

void pages_distrust(void)
{
	STORE(P.distrust, true);
}

bool pages_distrusted(void)
{
	return LOAD(P.distrust);
}

void pages_regain(uint64_t at, uint64_t bytes)
{
	if (unlikely(LOAD(P.distrust)))
		protect(at, bytes, SYS_PROT_READ | SYS_PROT_WRITE);
}

/* Closed before they are regained: no access is let through in between. */
bool pages_close(uint64_t at, uint64_t bytes)
{
	bool ok;

	if (P.mechanism == PMM_GUARD_MADVISE) {
		ok = drop(at, bytes, SYS_MADV_GUARD_INSTALL);
		pages_regain(at, bytes);
		return ok;
	}
	if (!protect(at, bytes, SYS_PROT_NONE))
		return false;
	ADD(P.mappings, -PER_OPEN);
	return drop(at, bytes, SYS_MADV_DONTNEED);
}

bool pages_force(uint64_t at, uint64_t bytes)
{
	bool ok = protect(at, bytes, SYS_PROT_READ | SYS_PROT_WRITE);

	return P.mechanism == PMM_GUARD_MADVISE
		       ? !sys_failed(advise(at, bytes, SYS_MADV_GUARD_REMOVE)) && ok
		       : ok;
}

void pages_open_all(uint64_t at, uint64_t bytes)
{
	if (P.mechanism == PMM_GUARD_MADVISE)
		advise(at, bytes, SYS_MADV_GUARD_REMOVE);
	else if (bytes)
		protect(at, bytes, SYS_PROT_READ | SYS_PROT_WRITE);
}

/*
 * The anon_vmas of a child's mappings differ: what is split now stays so, beside what it will split
 * itself.
 */
bool pages_enter(void)
{
	/*
	 * counted before no_guards is read; guard_disarm() sets that before it reads the count: one
	 * of the two sees the other
	 */
	__atomic_fetch_add(&P.busy, 1, __ATOMIC_SEQ_CST);
	if (likely(!__atomic_load_n(&agent.no_guards, __ATOMIC_SEQ_CST)))
		return true;
	ADD(P.busy, -1u);
	return false;
}

void pages_leave(void)
{
	__atomic_fetch_sub(&P.busy, 1, __ATOMIC_RELEASE);	/* pairs with pages_wait() */
}

void pages_wait(void)
{
	for (unsigned i = 0; i < BUSY_TRIES && __atomic_load_n(&P.busy, __ATOMIC_SEQ_CST); i++)
		sys_sleep_ns(BUSY_NS);
}

void pages_forked(void)
{
	P.busy = 0;			/* of the parent's threads */
	ADD(P.mappings, P.mappings);
}
