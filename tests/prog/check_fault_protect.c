/* SPDX-License-Identifier: GPL-2.0-or-later
 * Blocks whose pages the program protects itself: each write to them is told to its handler, which opens the page; a stack runs over into
 * its guard page; a block is released while it can only be read. `stale`, `copy` and `behind` are errors all the same; `copy` is interrupted, and
 * so made twice.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "victim.h"

#define PAGE	4096ul
#define BYTES	(8 * PAGE)

static ucontext_t main_context, coroutine;
static sigjmp_buf over;
static int writes, overflows;
static char *barred, *released;

static void fault(int signal, siginfo_t *info, void *context)
{
	char *page = (char *)((size_t)info->si_addr & ~(PAGE - 1));

	(void)signal, (void)context;
	if ((size_t)(page - barred) > BYTES)
		siglongjmp(over, 1);
	writes++;
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

SITE static void stale(volatile char *to) { *to = released[1]; }
SITE static void copy(const char *from, char *to) { __asm__ volatile("movsb" : "+S"(from), "+D"(to) : : "memory"); }
SITE static void behind(volatile char *p) { (void)p[BYTES + 300]; }
SITE static int deep(volatile int n) { return n ? deep(n + 1) + n : 0; }

static void on_stack(void)
{
	if (!sigsetjmp(over, 1))
		deep(1);
	overflows++;
}

static void barriers(void)
{
	for (int round = 0; round < 3; round++) {
		mprotect(barred, BYTES + 1, PROT_READ);
		for (size_t at = 0; at < BYTES; at += PAGE)
			stale(hide(barred + at + (size_t)round));
	}
	mprotect(barred, BYTES + 1, PROT_NONE);
	for (size_t at = 0; at < BYTES; at += PAGE)
		copy(released + 2, barred + at);
	behind(hide(barred));
	mprotect(barred, BYTES + 1, PROT_READ | PROT_WRITE);
}

static void stacks(void)
{
	char *stack = aligned_alloc(PAGE, 16 * PAGE);

	mprotect(stack, PAGE, PROT_NONE);
	getcontext(&coroutine);
	coroutine.uc_stack = (stack_t){ .ss_sp = stack + PAGE, .ss_size = 15 * PAGE };
	coroutine.uc_link = &main_context;
	makecontext(&coroutine, on_stack, 0);
	swapcontext(&main_context, &coroutine);
	mprotect(stack, PAGE, PROT_READ | PROT_WRITE);
	free(stack);
}

int main(void)
{
	static char alternate[1 << 16];
	struct sigaction a = { .sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };

	sigaltstack(&(stack_t){ .ss_sp = alternate, .ss_size = sizeof(alternate) }, NULL);
	sigaction(SIGSEGV, &a, NULL);
	released = hide(malloc(10));
	free(released);
	barred = aligned_alloc(PAGE, BYTES + 200);
	barriers();
	for (int i = 0; i < 10; i++)
		stacks();
	printf("%d writes, %d overflows\n", writes, overflows);
	char *large = hide(aligned_alloc(PAGE, 100 * PAGE));
	mprotect(large, 100 * PAGE, PROT_READ);
	free(large);
	for (int i = 0; i < 100; i++)		/* somebody gets its pages */
		free(hide(memset(malloc(400000), 1, 400000)));
	printf("end\n");
}
