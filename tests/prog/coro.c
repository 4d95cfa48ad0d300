/* SPDX-License-Identifier: GPL-2.0-or-later
 * Coroutines (ucontext), two on malloc'ed stacks and two on mmap'ed ones, each switching away in
 * the middle of its work 100 times.
 *
 * expect:
 *   total          untracked=0
 *   site in_coro   allocs=400 frees=0 bytes=7600 live=7600 blocks=400
 *   site make      allocs=2 bytes=131072
 *   map make       allocs=2 bytes=131072
 * stack of in_coro: in_coro step body
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "victim.h"

#define STACK_BYTES 65536

static ucontext_t scheduler, coro[4];

SITE static void *in_coro(void) { return malloc(19); }

SITE static void step(int n)
{
	hide(in_coro());
	swapcontext(&coro[n], &scheduler);
}

static void body(int n)
{
	for (int i = 0; i < 100; i++)
		step(n);
}

SITE static void make(int n)
{
	void *stack = n < 2 ? malloc(STACK_BYTES) :
		mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	getcontext(&coro[n]);
	coro[n].uc_stack.ss_sp = stack;
	coro[n].uc_stack.ss_size = STACK_BYTES;
	coro[n].uc_link = &scheduler;
	makecontext(&coro[n], (void (*)(void))body, 1, n);
}

int main(void)
{
	for (int n = 0; n < 4; n++)
		make(n);
	for (int i = 0; i < 100; i++)
		for (int n = 0; n < 4; n++)
			swapcontext(&scheduler, &coro[n]);
	return 0;
}
