/* SPDX-License-Identifier: MIT */
/*
 * C++ operators new and delete in the check form, in all their forms, under their Itanium ABI
 * names.
 *
 * Blocks come from malloc and go back to it, as those of the C++ library's own operators do, and as
 * those of an allocator that brings its operators beside its malloc may. A failure is left to the
 * library, which calls the new-handler and throws; should it get memory after all, through malloc,
 * the block is given its right name. What other operators do (CXX_CUSTOM) is for them to
 * know: they are called, and only what they ask malloc and free for counts.
 */
#include "agent/check/check_hooks.h"

/* The library's operator found memory: give it its name. */
static void *named(void *p, uint32_t kind, const struct caller *from)
{
	struct tctx *c = p && cxx_form != CXX_CUSTOM ? hook_enter_any(from) : NULL;

	if (!c)
		return p;
	check_rename(c, p, kind);
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
	if (cxx_form != CXX_CUSTOM) {							\
		void *p = hooks_alloc(size, 0, false, KIND, &from);			\
											\
		if (likely(p))								\
			return p;							\
	}										\
	next = cxx_operator(WHICH);							\
	if (!next)									\
		return NULL;								\
	return named(((void *(*)(size_t, const void *))next)(size, tag), KIND, &from);	\
}											\
											\
EXPORT void *SYMBOL(size_t size, const void *tag);					\
EXPORT void *SYMBOL(size_t size, const void *tag)					\
{											\
	if (cxx_form != CXX_CUSTOM && size && hook_passes(size)) {			\
		void *p = agent.next.malloc(size);						\
											\
		if (likely(p))								\
			return p;							\
	}										\
	return SYMBOL##_body(size, tag);						\
}

CXX_NEW(NEW_FORM)

#define NEW_ALIGNED_FORM(SYMBOL, WHICH, KIND)                                                      \
	EXPORT void *SYMBOL(size_t size, size_t align, const void *tag);                           \
	EXPORT void *SYMBOL(size_t size, size_t align, const void *tag)                            \
	{                                                                                          \
		struct caller from = CALLER_HERE();                                                \
		void *next;                                                                        \
                                                                                                   \
		if (!agent.next.malloc && !resolve())                                              \
			return NULL;                                                               \
		if (cxx_form != CXX_CUSTOM && align && !(align & (align - 1))) {                   \
			void *p = hooks_alloc(size, align, false, KIND, &from);                    \
                                                                                                   \
			if (likely(p))                                                             \
				return p;                                                          \
		}                                                                                  \
		next = cxx_operator(WHICH);                                                        \
		if (!next)                                                                         \
			return NULL;                                                               \
		return named(((void *(*)(size_t, size_t, const void *))next)(size, align, tag),    \
			     KIND, &from);                                                         \
	}

CXX_NEW_ALIGNED(NEW_ALIGNED_FORM)

/*
 * All deletes take the pointer first; up to three more arguments are passed on as they came. SIZE
 * and ALIGN say which of them (a, b) says what.
 */
#define DELETE_FORM(SYMBOL, WHICH, HOW, SIZE, ALIGN)					\
static SLOW void SYMBOL##_body(void *p, size_t a, size_t b)				\
{											\
	struct check_said said = { PMM_RELEASE_##HOW, SIZE, ALIGN };			\
	struct caller from = CALLER_HERE();						\
	void *next;									\
											\
	(void)a, (void)b;								\
	if (!agent.next.malloc && !resolve())						\
		return;									\
	if (cxx_form != CXX_CUSTOM)							\
		hooks_free(p, &said, &from);						\
	else if ((next = agent.next.cxx[WHICH]))						\
		((void (*)(void *, size_t, size_t))next)(p, a, b);			\
}											\
											\
EXPORT void SYMBOL(void *p, size_t a, size_t b);					\
EXPORT void SYMBOL(void *p, size_t a, size_t b)						\
{											\
	if (cxx_form != CXX_CUSTOM && hooks_passes(p)) {				\
		agent.next.free(p);								\
		return;									\
	}										\
	SYMBOL##_body(p, a, b);								\
}

CXX_DELETE(DELETE_FORM)
