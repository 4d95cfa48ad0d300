/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stack of our own for the main thread (makecontext(3)). */
#include "src/base/stack.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "src/base/thread.h"

#define STACK_BYTES (8ull << 20)
#define GUARD_BYTES (64ull << 10)	/* larger than any frame */

struct call {
	ucontext_t caller, callee;
	int (*function)(void *arg);
	void *arg;
	int result;
};

/* makecontext() passes numbers. */
static void begin(unsigned high, unsigned low)
{
	struct call *c = (struct call *)((uintptr_t)high << 32 | low);

	c->result = c->function(c->arg);
}

static bool is_small(void)
{
	struct rlimit l;

	return !getrlimit(RLIMIT_STACK, &l) && l.rlim_cur < STACK_BYTES;
}

/* The C library takes the limit for the size of threads' stacks unless stated otherwise. */
static void enlarge_threads(void)
{
	pthread_attr_t attr;

	if (pthread_attr_init(&attr))
		return;
	if (!pthread_attr_setstacksize(&attr, THREAD_STACK_BYTES))
		pthread_setattr_default_np(&attr);
	pthread_attr_destroy(&attr);
}

int stack_run(int (*function)(void *arg), void *arg)
{
	struct call c = { .function = function, .arg = arg };
	const uintptr_t at = (uintptr_t)&c;
	void *stack = MAP_FAILED;

	if (is_small()) {
		enlarge_threads();
		stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
	}
	if (stack == MAP_FAILED || mprotect(stack, GUARD_BYTES, PROT_NONE) || getcontext(&c.callee))
		return function(arg);
	c.callee.uc_stack = (stack_t){ .ss_sp = stack, .ss_size = STACK_BYTES };
	c.callee.uc_link = &c.caller;
	makecontext(&c.callee, (void (*)(void))begin, 2, (unsigned)(at >> 32), (unsigned)at);
	if (swapcontext(&c.caller, &c.callee))
		return function(arg);
	munmap(stack, STACK_BYTES);
	return c.result;
}
