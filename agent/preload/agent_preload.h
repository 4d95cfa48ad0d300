/* SPDX-License-Identifier: MIT */
/*
 * The preload form of the agent: what its hooks share.
 */
#ifndef AGENT_PRELOAD_AGENT_PRELOAD_H
#define AGENT_PRELOAD_AGENT_PRELOAD_H

#include "agent/hook.h"

#define EXPORT __attribute__((visibility("default")))

/* How the C++ operators that come after ours are built. */
enum cxx_form {
	CXX_PLAIN,	/* the C++ library's: on malloc and free */
	CXX_SAME,	/* the allocator's own, beside its malloc */
	CXX_CUSTOM,	/* others': only what they call is recorded */
};

extern enum cxx_form cxx_form __attribute__((visibility("hidden")));

/* Find the real functions. False when there is no malloc after ours. */
bool resolve(void);

/* The hook of that name, with the function that it stands for in *real; NULL: there is none. */
void *resolve_hook(const char *name, void **real);

/*
 * The C++ library's operator. A C program may get its C++ library by dlopen, together with the code
 * that calls us here: then it is looked up when it is needed, since it may be gone the next time.
 * NULL when there is none.
 */
void *cxx_operator(enum cxx_which which);

/* Is the agent on? The first call finds the real functions, without which it is not. */
bool preload_on(void);

/* A context to record an event with, or NULL: pass through. */
static inline __attribute__((always_inline)) struct tctx *hook_enter_any(const struct caller *from)
{
	if (unlikely(!agent_is_on()) && !preload_on())
		return NULL;
	return agent_enter(from->sp);
}

/* hook_enter() on a context that is busy. */
struct tctx *hook_enter_busy(struct tctx *c, struct caller from);

/*
 * The same for calls that an allocator may make itself, as its calloc() its own malloc(): those
 * belong to the call of the program, and pass. What it calls of the program's (a new handler) does
 * not.
 */
static inline __attribute__((always_inline)) struct tctx *hook_enter(const struct caller *from)
{
	struct tctx *c;

	if (unlikely(!agent_is_on()) && !preload_on())
		return NULL;
	c = ctx_find();
	if (unlikely(c && c->busy))
		return hook_enter_busy(c, *from);
	return likely(c) ? agent_begin(c, from->sp, false) : NULL;
}

/*
 * What ctx->countdown points to: bytes this thread may still allocate before the next sample; 0 in
 * exact mode and before the thread's first allocation. The only thread-local variable: the sampled
 * fast path is two instructions with it and ten without.
 */
extern __thread uint64_t hook_countdown
	__attribute__((visibility("hidden"), tls_model("initial-exec")));

/* Sampled mode's fast path: is there nothing to record for this size on this thread? */
static inline bool hook_passes(size_t size)
{
	uint64_t left = LOAD(hook_countdown);	/* once: a signal handler may take from it, too */

	if (size >= left)
		return false;
	STORE(hook_countdown, left - size);
	return true;
}

/* malloc with another name to it: what malloc() and plain operators new share. */
void *preload_malloc(size_t size, uint32_t kind, const struct caller *from);

/* The real free, reported to the ledger first: what free() and the operators delete share. */
void preload_free(void *p, const struct caller *from);

#endif
