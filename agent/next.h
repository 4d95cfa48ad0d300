/* SPDX-License-Identifier: MIT */
/*
 * The functions that come after ours: the real allocator and what else is interposed.
 */
#ifndef AGENT_NEXT_H
#define AGENT_NEXT_H

#include <stddef.h>
#include <stdint.h>

/* struct rlimit of 64-bit machines. */
struct limit {
	uint64_t now, most;
};

/* struct sigaction as the C library has it on 64-bit machines. */
typedef void sig_handler(int);

struct sig_action {
	sig_handler *handler;
	uint64_t mask[16];
	int flags;
	void (*restorer)(void);
};

/* stack_t. */
struct sig_stack {
	void *start;
	int flags;
	uint64_t bytes;
};

/* The real allocator: the next definition of each entry after ours. NULL where there is none. */
struct next_functions {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*reallocarray)(void *, size_t, size_t);
	void (*free)(void *);
	void (*cfree)(void *);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
	size_t (*malloc_usable_size)(void *);
	void *(*mmap)(void *, size_t, int, int, int, long);
	void *(*mmap64)(void *, size_t, int, int, int, long);
	int (*munmap)(void *, size_t);
	void *(*mremap)(void *, size_t, size_t, int, void *);
	int (*brk)(void *);
	void *(*sbrk)(long);
	int (*dlclose)(void *);
	void *(*dlopen)(const char *, int);
	void *(*dlsym)(void *, const char *);
	void *(*dlvsym)(void *, const char *, const char *);
	int (*prctl)(int, unsigned long, unsigned long, unsigned long, unsigned long);
	long (*syscall)(long, ...);
	int (*setrlimit)(int, const struct limit *);
	int (*getrlimit)(int, struct limit *);
	int (*prlimit)(int, int, const struct limit *, struct limit *);
	void (*exit)(int);
	void (*_exit)(int);
	void (*_Exit)(int);
	void (*quick_exit)(int);
	int (*sigaction)(int, const struct sig_action *, struct sig_action *);
	sig_handler *(*signal)(int, sig_handler *);
	sig_handler *(*bsd_signal)(int, sig_handler *);
	sig_handler *(*ssignal)(int, sig_handler *);
	sig_handler *(*sysv_signal)(int, sig_handler *);
	sig_handler *(*__sysv_signal)(int, sig_handler *);
	sig_handler *(*sigset)(int, sig_handler *);
	int (*sigaltstack)(const struct sig_stack *, struct sig_stack *);
	void *mallinfo2;
	void *cxx[32];		/* enum in agent/preload/agent_preload.h */
};

#endif
