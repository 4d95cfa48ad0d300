/* SPDX-License-Identifier: GPL-2.0-or-later
 * Actions and masks set by system calls without the C library, as some runtimes do it: "own" ones (inline assembly), or by syscall(). Prints what its
 * handlers and the kernel's answers say: the same natively and checked. Errors in between are let through; `overrun` makes all of them.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "victim.h"

struct action { void *handler; unsigned long flags; void (*restorer)(void); uint64_t mask; };

static char *volatile block;
static int own;
static sigjmp_buf back;

static long call(long nr, long a, const void *b, void *c)
{
	register long r10 __asm__("r10") = 8;
	long ret = nr;

	if (!own)
		return syscall(nr, a, b, c, 8);
	__asm__ volatile("syscall" : "+a"(ret) : "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
	return ret;
}

extern void from_handler(void);
__asm__(".globl from_handler\nfrom_handler: mov $15, %eax\nsyscall");

SITE static void overrun(void)
{
	char *p;

	usleep(1000);			/* is looked at every 30 us at most, ... */
	p = malloc(64);			/* ... here */
	block[128] = p[64] = 1;
	free(p);
}

static void handle(int sig, siginfo_t *info, void *context)
{
	printf("signal %d, code %d, address %p\n", sig, info->si_code, sig == SIGSEGV ? info->si_addr : NULL);
	overrun();
	if (sig == SIGSEGV)
		siglongjmp(back, 1);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += sig == SIGFPE ? 2 : 0;
}

static void set(int sig, void *handler, uint64_t mask)
{
	struct action a = { handler, SA_SIGINFO | 0x04000000, from_handler, mask }, was = { 0 };

	printf("%ld", call(SYS_rt_sigaction, sig, &a, &was));
	if (!own)
		printf(" was %d, mask %lx", was.handler == handle ? 3 : was.handler ? 1 : 0, was.mask);
	printf("\n");
}

static void mask(int how, uint64_t wish)
{
	uint64_t was = 0;

	printf("%ld", call(SYS_rt_sigprocmask, how, &wish, &was));
	if (!own)
		printf(" was %lx", was);
	printf("\n");
	overrun();
}

int main(int argc, char **argv)
{
	own = argc > 1 && !strcmp(argv[1], "own");
	setvbuf(stdout, NULL, _IONBF, 0);
	block = malloc(128);
	overrun();
	for (int *sig = (int[]){ SIGSEGV, SIGTRAP, SIGFPE, SIGBUS, SIGUSR1, 0 }; *sig; sig++)
		set(*sig, handle, *sig == SIGUSR1 ? ~0ul : 0);
	overrun();
	if (!sigsetjmp(back, 1))
		*(volatile int *)hide((void *)16) = 1;
	__asm__ volatile("int3; xor %%ecx, %%ecx; div %%ecx" : : : "eax", "ecx", "edx");
	raise(SIGUSR1);
	raise(SIGBUS);
	mask(SIG_BLOCK, 1 << (SIGSEGV - 1) | 1 << (SIGUSR2 - 1));
	mask(SIG_SETMASK, ~0ul);
	mask(SIG_SETMASK, 0);
	set(SIGSEGV, SIG_IGN, 0);
	kill(getpid(), SIGSEGV);
	set(SIGSEGV, SIG_DFL, 0);
	overrun();
	printf("%ld\n", call(SYS_rt_sigaction, 99, NULL, NULL) < 0 ? -1L : 0L);
	*(volatile int *)hide((void *)16) = 1;
	return 0;
}
