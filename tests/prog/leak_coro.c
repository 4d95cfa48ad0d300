/* SPDX-License-Identifier: GPL-2.0-or-later
 * Blocks held by the frames of coroutines that have switched away, on stacks out of malloc and out of mmap. Below their stack pointers
 * nothing counts on a stack whose owner is known; these are ordinary memory, so all of them counts.
 *
 * expect:
 *   on_block       reachable=1/601
 *   on_mapping     reachable=1/602
 *   stack_block    reachable=1/65536
 */
#include <sys/mman.h>
#include <ucontext.h>

#include "leak.h"

enum { STACK_BYTES = 65536 };

static ucontext_t caller, coro[2];

SITE static void *stack_block(void) { return make(STACK_BYTES); }

SITE static void on_block(void)
{
	void *volatile p = make(601);

	swapcontext(&coro[0], &caller);
	hide(p);
}

SITE static void on_mapping(void)
{
	void *volatile p = make(602);

	swapcontext(&coro[1], &caller);
	hide(p);
}

static void start(int n, void (*run)(void), void *stack)
{
	getcontext(&coro[n]);
	coro[n].uc_stack.ss_sp = stack;
	coro[n].uc_stack.ss_size = STACK_BYTES;
	coro[n].uc_link = &caller;
	makecontext(&coro[n], run, 0);
	swapcontext(&caller, &coro[n]);
}

static void cases(void)
{
	start(0, on_block, stack_block());
	start(1, on_mapping, mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}
