/* SPDX-License-Identifier: GPL-2.0-or-later
 * Threads that fault all the time and check what their handler is told: each fault once, of the right kind, at the right place. Works until
 * standard input ends; then prints "right" and exits with 7, or says what was wrong and exits with 1. First prints the address of a
 * function: f(x) = 3x + 1.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum kind { CLOSED, TRAP, DIVIDE, UNKNOWN, STEP, NR_KINDS };

static const struct { int signal, skip; } is[NR_KINDS] = {
	[CLOSED] = { SIGSEGV, 2 }, [TRAP] = { SIGTRAP, 0 }, [DIVIDE] = { SIGFPE, 2 }, [UNKNOWN] = { SIGILL, 2 }, [STEP] = { SIGTRAP, 0 },
};

static atomic_bool ended;
static atomic_ulong wrongs;
static char *closed;
static __thread enum kind kind;
static __thread unsigned long told;

static void handler(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	told++;
	if (signal != is[kind].signal || info->si_code <= 0 || (kind == CLOSED && info->si_addr != closed))
		wrongs++;
	uc->uc_mcontext.gregs[REG_RIP] += is[kind].skip;
	if (kind == STEP)
		uc->uc_mcontext.gregs[REG_EFL] &= ~0x100;
}

static void fault(void)
{
	switch (kind) {
	case CLOSED: __asm__ volatile("movb (%0), %%al" : : "D"(closed) : "rax"); break;
	case TRAP: __asm__ volatile("int3"); break;
	case DIVIDE: __asm__ volatile("xor %%ecx, %%ecx\nxor %%edx, %%edx\ndiv %%ecx" : : : "rcx", "rdx", "rax"); break;
	case UNKNOWN: __asm__ volatile("ud2"); break;
	default: __asm__ volatile("lea -128(%%rsp), %%rsp\npushf\norl $0x100, (%%rsp)\npopf\nnop\nlea 128(%%rsp), %%rsp" : : : "memory", "cc");
	}
}

static void *faults(void *arg)
{
	unsigned long made = 0;

	for (kind = (enum kind)(uintptr_t)arg; !ended; made++)
		fault();
	if (told != made)
		printf("fault %d: told %lu times instead of %lu\n", (int)kind, told, made);
	wrongs += told != made || !made;
	return NULL;
}

long function(uint64_t x);
__attribute__((noinline)) long function(uint64_t x) { return (long)(3 * x + 1); }

int main(void)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	pthread_t thread[NR_KINDS];
	char c;

	setvbuf(stdout, NULL, _IOLBF, 0);
	closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < NR_KINDS; i++)
		sigaction(is[i].signal, &action, NULL);
	for (uintptr_t i = 0; i < NR_KINDS; i++)
		pthread_create(&thread[i], NULL, faults, (void *)i);
	printf("%#lx\n", (unsigned long)(uintptr_t)function);
	while (read(0, &c, 1) > 0)
		;
	ended = true;
	for (int i = 0; i < NR_KINDS; i++)
		pthread_join(thread[i], NULL);
	if (wrongs)
		return printf("%lu wrong\n", wrongs), 1;
	puts("right");
	return 7;
}
