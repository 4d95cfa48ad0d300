/* SPDX-License-Identifier: MIT */
/*
 * The entries that a preloaded agent hooks, each named once: the C library's functions with what
 * they return and take, the C++ operators with what they say of a block. From these lists come
 * struct next_functions, the names that are looked up (preload/resolve.c), and the operators' hooks
 * of both preloaded forms (preload/preload_hooks_cxx.c, check/check_hooks_cxx.c).
 *
 * The bodies of malloc() and its kin are written out in each form (preload/preload_hooks.c,
 * inject/inject_hooks.c, check/check_hooks.c): what they share is in hook.h, and what is left is
 * what makes the forms differ. They differ in how the real function is reached (a name, an entry's
 * pointer, or not at all), in which calls pass unrecorded, and in what is done without a context. A
 * common body would have a parameter for each of these.
 */
#ifndef AGENT_HOOK_ENTRIES_H
#define AGENT_HOOK_ENTRIES_H

/* X(what it returns, name, what it takes...) */
#define AGENT_ENTRIES(X)								\
	X(void *, malloc, size_t)							\
	X(void *, calloc, size_t, size_t)						\
	X(void *, realloc, void *, size_t)						\
	X(void *, reallocarray, void *, size_t, size_t)					\
	X(void, free, void *)								\
	X(void, cfree, void *)								\
	X(int, posix_memalign, void **, size_t, size_t)					\
	X(void *, aligned_alloc, size_t, size_t)					\
	X(void *, memalign, size_t, size_t)						\
	X(void *, valloc, size_t)							\
	X(void *, pvalloc, size_t)							\
	X(size_t, malloc_usable_size, void *)						\
	X(void *, mmap, void *, size_t, int, int, int, long)				\
	X(void *, mmap64, void *, size_t, int, int, int, long)				\
	X(int, munmap, void *, size_t)							\
	X(void *, mremap, void *, size_t, size_t, int, void *)				\
	X(int, brk, void *)								\
	X(void *, sbrk, long)								\
	X(int, dlclose, void *)								\
	X(void *, dlopen, const char *, int)						\
	X(void *, dlsym, void *, const char *)						\
	X(void *, dlvsym, void *, const char *, const char *)				\
	X(int, prctl, int, unsigned long, unsigned long, unsigned long, unsigned long)	\
	X(long, syscall, long, ...)							\
	X(int, setrlimit, int, const struct limit *)					\
	X(int, getrlimit, int, struct limit *)						\
	X(int, prlimit, int, int, const struct limit *, struct limit *)			\
	X(void, exit, int)								\
	X(void, _exit, int)								\
	X(void, _Exit, int)								\
	X(void, quick_exit, int)							\
	X(int, sigaction, int, const struct sig_action *, struct sig_action *)		\
	X(sig_handler *, signal, int, sig_handler *)					\
	X(sig_handler *, bsd_signal, int, sig_handler *)				\
	X(sig_handler *, ssignal, int, sig_handler *)					\
	X(sig_handler *, sysv_signal, int, sig_handler *)				\
	X(sig_handler *, __sysv_signal, int, sig_handler *)				\
	X(sig_handler *, sigset, int, sig_handler *)					\
	X(int, sigaltstack, const struct sig_stack *, struct sig_stack *)

/* X(symbol, which, kind): operator new(size) and new[], throwing, and with nothrow behind */
#define CXX_NEW(X)						\
	X(_Znwm, NEW, PMM_KIND_NEW)				\
	X(_Znam, NEW_A, PMM_KIND_NEW_ARRAY)			\
	X(_ZnwmRKSt9nothrow_t, NEW_NT, PMM_KIND_NEW)		\
	X(_ZnamRKSt9nothrow_t, NEW_A_NT, PMM_KIND_NEW_ARRAY)

/* ... with the alignment as second argument */
#define CXX_NEW_ALIGNED(X)								\
	X(_ZnwmSt11align_val_t, NEW_AL, PMM_KIND_NEW_ALIGNED)				\
	X(_ZnamSt11align_val_t, NEW_A_AL, PMM_KIND_NEW_ARRAY_ALIGNED)			\
	X(_ZnwmSt11align_val_tRKSt9nothrow_t, NEW_AL_NT, PMM_KIND_NEW_ALIGNED)		\
	X(_ZnamSt11align_val_tRKSt9nothrow_t, NEW_A_AL_NT, PMM_KIND_NEW_ARRAY_ALIGNED)

/*
 * X(symbol, which, how, size, alignment): operator delete(p, a, b) and delete[]. How: of
 * PMM_RELEASE_*. Which of a and b is the block's size and alignment; SIZE_MAX and 0 = neither.
 */
#define CXX_DELETE(X)										\
	X(_ZdlPv, DEL, DELETE, SIZE_MAX, 0)							\
	X(_ZdaPv, DEL_A, DELETE_ARRAY, SIZE_MAX, 0)						\
	X(_ZdlPvm, DEL_S, DELETE_SIZED, a, 0)							\
	X(_ZdaPvm, DEL_A_S, DELETE_ARRAY_SIZED, a, 0)						\
	X(_ZdlPvRKSt9nothrow_t, DEL_NT, DELETE, SIZE_MAX, 0)					\
	X(_ZdaPvRKSt9nothrow_t, DEL_A_NT, DELETE_ARRAY, SIZE_MAX, 0)				\
	X(_ZdlPvSt11align_val_t, DEL_AL, DELETE_ALIGNED, SIZE_MAX, a)				\
	X(_ZdaPvSt11align_val_t, DEL_A_AL, DELETE_ARRAY_ALIGNED, SIZE_MAX, a)			\
	X(_ZdlPvmSt11align_val_t, DEL_S_AL, DELETE_SIZED_ALIGNED, a, b)				\
	X(_ZdaPvmSt11align_val_t, DEL_A_S_AL, DELETE_ARRAY_SIZED_ALIGNED, a, b)			\
	X(_ZdlPvSt11align_val_tRKSt9nothrow_t, DEL_AL_NT, DELETE_ALIGNED, SIZE_MAX, a)		\
	X(_ZdaPvSt11align_val_tRKSt9nothrow_t, DEL_A_AL_NT, DELETE_ARRAY_ALIGNED, SIZE_MAX, a)

/* Array, aligned, sized, nothrow forms. */
enum cxx_which {
#define CXX_WHICH(SYMBOL, WHICH, ...) WHICH,
	CXX_NEW(CXX_WHICH)
	CXX_NEW_ALIGNED(CXX_WHICH)
	CXX_DELETE(CXX_WHICH)
#undef CXX_WHICH
	CXX_NR
};

#endif
