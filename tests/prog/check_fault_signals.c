/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a program's handlers see of signals that pmm keeps: all flags, masks, stacks, who sent it, changes to the context, jumps out. Prints the
 * same natively and checked; an access behind a block's end (a finding) lies inside the handlers and between all of it.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "victim.h"

static sigjmp_buf back;
static char *volatile block, alternate[65536];
static volatile int leave_by;		/* 0: siglongjmp, 1: longjmp that keeps the mask, 2: skip the instruction */

SITE static char overrun(void) { return block[128]; }

static int on_alternate(const void *p) { return (const char *)p >= alternate && (const char *)p < alternate + sizeof(alternate); }

/* Faults by an instruction of two bytes; rbx as the handler left it. */
SITE static long cause(int sig)
{
	long rbx = 5;

	if (sig == SIGSEGV)
		__asm__ volatile("mov %%eax, (%%rcx)" : "+b"(rbx) : "a"(1), "c"(48) : "memory");
	if (sig == SIGFPE)
		__asm__ volatile("div %%ecx" : "+b"(rbx) : "a"(1), "c"(0), "d"(0) : "memory");
	if (sig == SIGTRAP)
		__asm__ volatile("int3" : "+b"(rbx) : : "memory");
	return rbx;
}

static long where(int sig, const siginfo_t *info)
{
	return info->si_code <= 0 || sig == SIGTRAP ? 0 : (long)info->si_addr - (sig == SIGFPE ? (long)cause : 0);
}

static void show(int sig, const siginfo_t *info, const void *context)
{
	const ucontext_t *uc = context;
	sigset_t mask;
	char here;

	overrun();
	sigprocmask(SIG_BLOCK, NULL, &mask);
	printf(" %d on %s, mask", sig, on_alternate(&here) ? "alternate" : "usual");
	for (int s = 1; s < 32; s++)
		if (sigismember(&mask, s))
			printf(" %d", s);
	if (info)
		printf(", code %d at %ld from %d, trap %d err %d, frame %d", info->si_code, where(sig, info),
		       info->si_code <= 0 && info->si_pid == getpid(), info->si_code > 0 ? (int)uc->uc_mcontext.gregs[REG_TRAPNO] : 0,
		       info->si_code > 0 ? (int)uc->uc_mcontext.gregs[REG_ERR] : 0, (int)((uintptr_t)info - (uintptr_t)context));
	printf("\n");
	if (leave_by == 0)
		siglongjmp(back, 1);
	if (leave_by == 1)
		siglongjmp(back, 2);
}

static void with_info(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	show(sig, info, context);
	if (info->si_code > 0 && sig != SIGTRAP)
		uc->uc_mcontext.gregs[REG_RIP] += 2;
	uc->uc_mcontext.gregs[REG_RBX] = 77;
}

static void without_info(int sig) { show(sig, NULL, NULL); }

int main(void)
{
	static const int signals[] = { SIGSEGV, SIGFPE, SIGTRAP, SIGBUS };
	static const unsigned flags[] = { SA_SIGINFO, SA_SIGINFO | SA_ONSTACK, SA_ONSTACK, SA_SIGINFO | SA_NODEFER, SA_SIGINFO | SA_RESETHAND,
					  SA_NODEFER | SA_RESETHAND | SA_ONSTACK };
	stack_t ss = { .ss_sp = alternate, .ss_size = sizeof(alternate) }, was;

	setvbuf(stdout, NULL, _IONBF, 0);
	block = malloc(128);
	for (volatile int with_stack = 0; with_stack < 2; with_stack++, sigaltstack(&ss, &was))
		for (volatile unsigned s = 0; s < 4; s++)
			for (volatile unsigned f = 0; f < sizeof(flags) / sizeof(flags[0]); f++)
				for (leave_by = 0; leave_by < 3; leave_by++) {
					struct sigaction sa = { .sa_flags = (int)flags[f] }, now;
					volatile long rbx = 0;
					int how;

					if (flags[f] & SA_SIGINFO)
						sa.sa_sigaction = with_info;
					else
						sa.sa_handler = without_info;
					sigaddset(&sa.sa_mask, SIGUSR1);
					if (f == 1)
						sigfillset(&sa.sa_mask);
					printf("signal %d flags %x leave %d\n", signals[s], flags[f], leave_by);
					sigaction(signals[s], &sa, NULL);
					how = sigsetjmp(back, 1);
					if (!how && (signals[s] == SIGBUS || (leave_by == 2 && !(flags[f] & SA_SIGINFO))))
						kill(getpid(), signals[s]);
					else if (!how)
						rbx = cause(signals[s]);
					overrun();
					sigaction(signals[s], NULL, &now);
					printf(" back by %d, rbx %ld, handler %s, flags %x\n", how, rbx,
					       now.sa_handler == SIG_DFL ? "gone" : now.sa_handler == sa.sa_handler ? "same" : "other",
					       now.sa_flags & ~0x04000000);
				}
	sigaltstack(NULL, &was);
	printf("stack %d size %zu flags %d\n", was.ss_sp == alternate, was.ss_size, was.ss_flags);
	return 0;
}
