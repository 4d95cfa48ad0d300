/* SPDX-License-Identifier: MIT */
/*
 * The injected form of the agent: what its hooks share.
 */
#ifndef AGENT_INJECT_AGENT_INJECT_H
#define AGENT_INJECT_AGENT_INJECT_H

#include "agent/hook.h"
#include "include/pmm/inject.h"

/* Run the function as it was, with its own type. */
#define NEXT(entry, type) ((type)(entry)->next)

/*
 * Call the function from a frame of ours while no context is busy: counted, since pmm must not
 * unmap us meanwhile. A jump to it would do as well but cannot be relied on.
 */
#define PASS(call) ({								\
	ADD(agent.passing, 1);							\
	__typeof__(call) r_ = (call);						\
	ADD(agent.passing, -1);							\
	r_;									\
})

/* A context to record the outermost call with, or NULL: pass through. */
static inline struct tctx *inject_enter(const struct caller *from)
{
	return likely(agent_is_on()) ? agent_enter_outermost(from, false) : NULL;
}

/*
 * Is there nothing to record for this size on this thread? When the agent is off, and on sampled
 * mode's fast path. The caller then jumps to the function.
 */
static inline bool inject_passes(size_t size)
{
	const struct ctx_entry *e;
	struct tctx *c;
	uint64_t tp;

	if (unlikely(!agent_is_on()))
		return true;
	if (!agent.sampled)
		return false;
	tp = arch_thread_pointer();
	e = &agent.ctx_hash[ctx_hash_of(tp)];
	if (unlikely(LOAD(e->tp) != tp))
		return false;
	c = LOAD(e->ctx);
	if (unlikely(!c || size >= c->bytes_left || c->busy))
		return false;
	c->bytes_left -= size;
	return true;
}

/* The same for a release; a sample may live at `p`, or a guarded block. */
static inline bool inject_passes_free(const void *p)
{
	if (unlikely((uint64_t)p - agent.guards_at < agent.guards_bytes))
		return false;
	return !p || unlikely(!agent_is_on()) ||
	       (agent.sampled && !*sample_filter((uint64_t)p));
}

/* The hooks, by role; each with the entry as the argument after its function's last. */
void *inject_malloc(size_t size, const struct pmm_entry *e);
void *inject_calloc(size_t n, size_t each, const struct pmm_entry *e);
void *inject_realloc(void *old, size_t size, const struct pmm_entry *e);
void *inject_reallocarray(void *old, size_t n, size_t each, const struct pmm_entry *e);
void inject_free(void *p, size_t a, size_t b, const struct pmm_entry *e);
int inject_posix_memalign(void **out, size_t align, size_t size, const struct pmm_entry *e);
void *inject_memalign(size_t align, size_t size, const struct pmm_entry *e);

void *inject_new(size_t size, const struct pmm_entry *e);
void *inject_new_nothrow(size_t size, const void *tag, const struct pmm_entry *e);
void *inject_new_aligned(size_t size, size_t align, const struct pmm_entry *e);
void *inject_new_aligned_nothrow(size_t size, size_t align, const void *tag,
				 const struct pmm_entry *e);

int inject_munmap(void *at, size_t bytes, const struct pmm_entry *e);
void *inject_mremap(void *old, size_t old_bytes, size_t bytes, int flags, void *fixed,
		    const struct pmm_entry *e);

size_t inject_usable_size(void *p, const struct pmm_entry *e);
int inject_sigaction(int signal, const struct sig_action *new, struct sig_action *old,
		     const struct pmm_entry *e);

/* In assembly (arch/inject_arch.h), which has the entry in a register. */
void inject_mmap(void);
void inject_custom_alloc(void);
void inject_custom_realloc(void);
void inject_custom_free(void);
void inject_prctl(void);
void inject_syscall(void);

#endif
