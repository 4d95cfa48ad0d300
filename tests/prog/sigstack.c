/* SPDX-License-Identifier: GPL-2.0-or-later
 * SIGSEGV on an alternate stack: the handler allocates and leaves through siglongjmp, 500 times.
 *
 * expect:
 *   total            untracked=0
 *   site in_handler  allocs=500 frees=0 bytes=15500 live=15500 blocks=500
 *   site between     allocs=500 frees=500 bytes=10500 live=0 blocks=0
 */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#include "victim.h"

static sigjmp_buf back;

SITE static void *in_handler(void) { return malloc(31); }
SITE static void *between(void) { return malloc(21); }

static void handler(int sig)
{
	hide(in_handler());
	siglongjmp(back, sig);
}

SITE static void fault(void) { *(volatile int *)hide((void *)16) = 1; }

int main(void)
{
	static char stack[65536];
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	sigaltstack(&ss, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	for (volatile int i = 0; i < 500; i++) {
		void *p = hide(between());

		if (!sigsetjmp(back, 1))
			fault();
		free(p);
	}
	return 0;
}
