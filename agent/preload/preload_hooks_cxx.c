/* SPDX-License-Identifier: MIT */
/*
 * C++ operators new and delete, in all their forms, under their Itanium ABI names.
 *
 * The C++ library's own are malloc and free with a loop for the new-handler, so the common forms go
 * straight to the real allocator and only a failure is left to the library, which then calls the
 * handler and throws. Other forms call the next operator; what it allocates through malloc is then
 * given its right name.
 */
#include "agent/preload/agent_preload.h"

/* The next operator allocated: name the block, or record it if it is not recorded yet. */
static void *next_done(void *p, size_t size, uint32_t kind, const struct caller *from)
{
	struct tctx *c = p ? hook_enter(from) : NULL;

	if (!c)
		return p;
	if (c->last_address == (uint64_t)p)
		record_rename(c, (uint64_t)p, kind);
	else if (cxx_form == CXX_SAME && hook_hit(c, size))
		hook_allocated(c, p, size, kind, from);
	agent_leave(c);
	return p;
}

/* Aligned new where there was no C++ library at the start. NULL on failure: left to the library. */
static void *aligned_new(size_t size, size_t align, uint32_t kind, const struct caller *from)
{
	struct tctx *c;
	void *p;

	if (!agent.next.memalign || !(c = hook_enter(from)))
		return agent.next.memalign ? agent.next.memalign(align, size ? size : 1) : NULL;
	p = REAL(c, agent.next.memalign(align, size ? size : 1));
	if (p && hook_hit(c, size))
		hook_allocated(c, p, size, kind, from);
	agent_leave(c);
	return p;
}

/* operator new(size) and new[]: throwing, and with nothrow as second argument. */
#define NEW_FORM(SYMBOL, WHICH, KIND)							\
static SLOW void *SYMBOL##_body(size_t size, const void *tag)				\
{											\
	struct caller from = CALLER_HERE();						\
	void *next;									\
											\
	if (!agent.next.malloc && !resolve())						\
		return NULL;								\
	if (cxx_form == CXX_PLAIN) {							\
		void *p = preload_malloc(size ? size : 1, KIND, &from);			\
											\
		if (likely(p))								\
			return p;							\
	}										\
	next = cxx_operator(WHICH);							\
	if (!next)									\
		return NULL;								\
	return next_done(((void *(*)(size_t, const void *))next)(size, tag), size, KIND, &from); \
}											\
											\
EXPORT void *SYMBOL(size_t size, const void *tag);					\
EXPORT void *SYMBOL(size_t size, const void *tag)					\
{											\
	if (cxx_form == CXX_PLAIN && size && hook_passes(size)) {		\
		void *p = agent.next.malloc(size);						\
											\
		if (likely(p))								\
			return p;							\
	}										\
	return SYMBOL##_body(size, tag);						\
}

CXX_NEW(NEW_FORM)

/* With alignment: through the next operator, if there is one. */
#define NEW_ALIGNED_FORM(SYMBOL, WHICH, KIND)						\
EXPORT void *SYMBOL(size_t size, size_t align, const void *tag);			\
EXPORT void *SYMBOL(size_t size, size_t align, const void *tag)			\
{											\
	struct caller from = CALLER_HERE();						\
	void *next, *p;									\
											\
	if (!agent.next.malloc && !resolve())						\
		return NULL;								\
	if (cxx_form == CXX_PLAIN && !agent.next.cxx[WHICH]) {				\
		p = aligned_new(size, align, KIND, &from);				\
		if (likely(p))								\
			return p;							\
	}										\
	next = cxx_operator(WHICH);							\
	if (!next)									\
		return NULL;								\
	return next_done(((void *(*)(size_t, size_t, const void *))next)(size, align, tag), \
			 size, KIND, &from);						\
}

CXX_NEW_ALIGNED(NEW_ALIGNED_FORM)

/* All deletes take the pointer first; up to three more arguments are passed on as they came. */
#define DELETE_FORM(SYMBOL, WHICH, ...)						\
static SLOW void SYMBOL##_body(void *p, size_t a, size_t b)				\
{											\
	struct caller from = CALLER_HERE();						\
	void (*next)(void *, size_t, size_t);						\
											\
	if (!agent.next.malloc && !resolve())						\
		return;									\
	if (cxx_form == CXX_PLAIN) {							\
		preload_free(p, &from);							\
		return;									\
	}										\
	next = (void (*)(void *, size_t, size_t))agent.next.cxx[WHICH];			\
	if (cxx_form == CXX_SAME && p) {						\
		struct tctx *c = hook_enter(&from);					\
		struct block_info was;							\
											\
		if (c) {								\
			record_free(c, (uint64_t)p, &was);				\
			agent_leave(c);							\
		}									\
	}										\
	if (next)									\
		next(p, a, b);								\
}											\
											\
EXPORT void SYMBOL(void *p, size_t a, size_t b);					\
EXPORT void SYMBOL(void *p, size_t a, size_t b)						\
{											\
	if (agent.sampled && cxx_form == CXX_PLAIN && !*sample_filter((uint64_t)p)) {	\
		agent.next.free(p);								\
		return;									\
	}										\
	SYMBOL##_body(p, a, b);								\
}

CXX_DELETE(DELETE_FORM)
