/*
 * The preload form of the agent: what its hooks share.
 */
#ifndef AGENT_PRELOAD_PRELOAD_H
#define AGENT_PRELOAD_PRELOAD_H

#include "agent/core.h"
#include "agent/ctx.h"
#include "agent/record.h"
#include "agent/sample.h"
#include "agent/unwind.h"

#define EXPORT __attribute__((visibility("default")))
#define SLOW __attribute__((noinline))

/* Who called the function this is expanded in; makes gcc keep a frame pointer there. */
#define CALLER_HERE() ({							\
	uint64_t *fp_ = __builtin_frame_address(0);				\
	(struct caller){ .ra = fp_[1], .sp = (uint64_t)(fp_ + 2), .rbp = fp_[0] }; \
})

/* Call the real allocator on behalf of context c. */
#define REAL(c, call) ({							\
	STORE((c)->busy, TCTX_IN_ALLOCATOR);					\
	__typeof__(call) r_ = (call);						\
	STORE((c)->busy, TCTX_RECORDING);					\
	r_;									\
})

/* How the C++ operators that come after ours are built. */
enum cxx_form {
	CXX_PLAIN,	/* the C++ library's: on malloc and free */
	CXX_SAME,	/* the allocator's own, beside its malloc */
	CXX_CUSTOM,	/* somebody else's: whatever they call is what counts */
};

extern enum cxx_form cxx_form __attribute__((visibility("hidden")));

/* Find the real functions. False when there is no malloc after ours. */
bool resolve(void);

/* A C++ operator (index of A.next.cxx) of a library that was loaded later; NULL when there is none. */
void *resolve_late(unsigned which);

/* A context to record an event with, or NULL: pass through. */
static inline struct tctx *hook_enter(const struct caller *from)
{
	if (unlikely(!A.next.malloc) && !resolve())
		return NULL;
	return agent_on() ? agent_enter(from->sp) : NULL;
}

/*
 * Bytes this thread may still allocate before the next sample; 0 in exact mode and before the thread's first allocation.
 * The only thread-local variable: the sampled fast path is two instructions with it and ten without.
 */
extern __thread uint64_t hook_countdown __attribute__((visibility("hidden"), tls_model("initial-exec")));

/* Sampled mode's fast path: is there nothing to record for this size on this thread? */
static inline bool hook_passes(size_t size)
{
	if (size >= hook_countdown)
		return false;
	hook_countdown -= size;
	return true;
}

/* Is this allocation to be recorded? Always in exact mode. */
static inline bool hook_hit(struct tctx *c, size_t size)
{
	if (likely(!A.sampled))
		return true;
	if (!c->sampling) {
		c->sampling = true;
		hook_countdown = sample_next(c);
	}
	if (hook_passes(size))
		return false;
	hook_countdown = sample_next(c);
	return true;
}

/* Record what an allocation function returned. */
void hook_allocated(struct tctx *c, void *p, size_t size, uint32_t kind, const struct caller *from);

/* The real free, reported to the ledger first: what free() and the operators delete share. */
void hook_free(void *p, const struct caller *from);

/* malloc with another name to it: what malloc() and plain operators new share. */
void *hook_malloc(size_t size, uint32_t kind, const struct caller *from);

#endif
