/* SPDX-License-Identifier: GPL-2.0-or-later
 * Instructions of all kinds let through to where they may not go: registers and flags afterwards are as natively. Prints what does not depend on
 * the bytes that they read. The first argument, a number, repeats the last part that often, to be timed.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "victim.h"

static char good[1 << 16], *volatile freed, *volatile live;
static volatile int traps, alarms;
static timer_t timer;
static sigjmp_buf back;

static void on_trap(int sig) { (void)sig; traps++; }

/* Where each signal takes longer than the time between two (a tracer), they come without end: some for each access are enough. */
static void on_alarm(int sig)
{
	(void)sig;
	if (++alarms == 4)
		timer_settime(timer, 0, &(struct itimerspec){ 0 }, NULL);
}

static void on_segv(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;

	printf(" signal %d code %d at %ld, rcx %ld, trap flag %d\n", sig, info->si_code,
	       info->si_addr == freed ? -1 : (long)info->si_addr, info->si_addr == freed ? 0 : (long)uc->uc_mcontext.gregs[REG_RCX],
	       (int)(uc->uc_mcontext.gregs[REG_EFL] >> 8 & 1));
	siglongjmp(back, 1);
}

static void plain(void)
{
	uint64_t flags, x = 1;

	__asm__ volatile("stc; movb (%1), %%al; pushf; pop %0" : "=r"(flags) : "r"(live + 8192) : "rax", "memory");
	printf("carry %d trap %d\n", (int)(flags & 1), (int)(flags >> 8 & 1));
	__asm__ volatile("movq %0, -4(%1)" : : "r"(x), "r"(live + 8192) : "memory");
	__asm__ volatile("movq %0, 4092(%1)" : : "r"(x), "r"(freed) : "memory");
	__asm__ volatile("lock incl 4094(%0)" : : "r"(freed) : "memory", "cc");
	__asm__ volatile("movups %%xmm0, 4088(%0); movups 4088(%0), %%xmm1" : : "r"(freed) : "memory", "xmm1");
	__asm__ volatile("movl $0x41, -4096(%0)" : : "r"(live) : "memory");
	if (__builtin_cpu_supports("avx2"))
		__asm__ volatile("vpcmpeqd %%ymm2, %%ymm2, %%ymm2; vmovdqu (%0), %%ymm1; vpgatherdd %%ymm2, (%1,%%ymm1,1), %%ymm0"
				 : : "r"((int[]){ 0, 4094, 8190, 100, 12286, 5, 16000, 7 }), "r"(freed) : "memory", "xmm0", "xmm1", "xmm2");
	printf("plain\n");
}

#define REP(INSN, FROM, TO, COUNT) do {							\
	char *si = (FROM), *di = (TO);							\
	long cx = (COUNT);								\
											\
	__asm__ volatile(INSN : "+S"(si), "+D"(di), "+c"(cx) : "a"(0x55) : "memory", "cc");	\
	printf("%s: %ld %ld %ld\n", INSN, (long)(si - (FROM)), (long)(di - (TO)), cx);	\
} while (0)

static void repeated(void)
{
	REP("rep movsb", freed, good, 16000);
	REP("rep movsb", good, freed, 16000);
	REP("rep movsw", freed, good, 8000);
	REP("rep movsl", freed, good, 4000);
	REP("rep movsq", good, freed, 2000);
	REP("rep movsb", freed, freed + 8000, 8000);
	REP("rep stosb", freed, freed, 16000);
	REP("rep stosw", freed, freed, 8000);
	REP("rep stosl", freed, freed, 4000);
	REP("rep stosq", freed, freed, 2000);
	REP("std; rep movsb; cld", freed + 15999, good + 15999, 16000);
	REP("rep lodsb", freed, good, 5000);
	REP("rep movsb", freed, good, 0);
	REP("rep movsb", freed, good, 1);
}

static void flags(void)
{
	uint64_t pushed, popped;

	/* two bytes in the block, six behind it */
	__asm__ volatile("mov %%rsp, %%r12; lea 8198(%2), %%rsp; pushf; mov %%r12, %%rsp; pushf; pop %1; movzwq 8190(%2), %0"
			 : "=&r"(pushed), "=&r"(popped) : "r"(live) : "r12", "memory");
	printf("flags pushed: trap %d, then %d\n", (int)(pushed >> 8 & 1), (int)(popped >> 8 & 1));
	__asm__ volatile("mov %%rsp, %%r12; lea 4096(%1), %%rsp; movq $0x203, (%%rsp); popf; mov %%r12, %%rsp; pushf; pop %0"
			 : "=&r"(popped) : "r"(live + 4096 - 8) : "r12", "memory");
	printf("flags popped: trap %d\n", (int)(popped >> 8 & 1));
}

static void traced(void)
{
	signal(SIGTRAP, on_trap);
	__asm__ volatile("pushf; orl $0x100, (%%rsp); popf\n\tnop\n\tmovb (%0), %%al\n\tmovb 5000(%0), %%al\n\tnop\n\t"
			 "pushf; andl $~0x100, (%%rsp); popf" : : "r"(freed) : "rax", "memory", "cc");
	printf("traps %d\n", traps);
}

/* The instruction, let through, is stopped by something else that is the program's. */
static void stopped_twice(void)
{
	struct sigaction sa = { .sa_sigaction = on_segv, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &sa, NULL);
	if (!sigsetjmp(back, 1))
		__asm__ volatile("movsb" : : "S"(freed), "D"(24), "c"(3) : "memory");
	if (!sigsetjmp(back, 1))
		__asm__ volatile("rep movsb" : : "S"(freed), "D"(24), "c"(300) : "memory");
	if (!sigsetjmp(back, 1))
		((void (*)(void))freed)();
}

static void interrupted(long times)
{
	struct itimerspec often = { { 0, 50000 }, { 0, 50000 } };
	struct timespec from, to;

	signal(SIGALRM, on_alarm);
	timer_create(CLOCK_MONOTONIC, NULL, &timer);
	for (int i = 0; i < 1000; i++) {
		if (!i || alarms >= 4) {
			alarms = 0;
			timer_settime(timer, 0, &often, NULL);
		}
		*(volatile char *)(freed + i % 16384) = 1;
	}
	timer_delete(timer);
	printf("interrupted\n");
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (long i = 0; i < times; i++)
		*(volatile char *)freed = 1;
	clock_gettime(CLOCK_MONOTONIC, &to);
	if (times)
		fprintf(stderr, "%.2f us each\n", ((to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / 1e3 / (double)times);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, malloc(1 << 16), _IOFBF, 1 << 16);
	live = malloc(8192);
	freed = malloc(16384);
	malloc(100000);		/* natively, what lies behind is there, too */
	free(freed);
	plain();
	repeated();
	flags();
	traced();
	stopped_twice();
	interrupted(argc > 1 ? atol(argv[1]) : 0);
	return 0;
}
