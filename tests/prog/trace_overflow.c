/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_overflow HOW: overflows a stack in that way, or does something that looks like it. `count`
 * prints how many calls there were; the others die of SIGSEGV, those with a handler end with 7.
 */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define SITE	__attribute__((noinline, noclone))
#define KIB	1024
#define STACK	(256 * KIB)

static volatile int calls, sum;
static char reserve[64 * KIB];

SITE static int deeper(int n)
{
	volatile char frame[1000];

	calls++;
	frame[n % 1000] = (char)n;
	return deeper(n + 1) + frame[n % 7];
}

static int odd(int n);

SITE static int even(int n)
{
	volatile char frame[200];

	frame[n % 200] = 1;
	return odd(n + 1) + frame[0];
}

SITE static int odd(int n)
{
	volatile char frame[300];

	frame[n % 300] = 1;
	return even(n + 1) + frame[0];
}

/* Its frame is 2 MiB less what lies below the stack pointer; it is entered at the far end. */
SITE static int far(void)
{
	volatile char frame[2048 * KIB];

	frame[0] = 1;
	return frame[0];
}

/* The same, touched page by page from the near end. */
SITE __attribute__((optimize("stack-clash-protection"))) static int probed(void)
{
	volatile char frame[2048 * KIB];

	frame[0] = 1;
	return frame[0];
}

SITE static int allocated(size_t bytes)
{
	volatile char *p = alloca(bytes);

	p[0] = 1;
	return p[0];
}

/* An access below the stack that is none by the stack pointer. */
SITE static int below(void)
{
	volatile char here[16];

	here[0] = 1;
	return *((volatile char *)pthread_getspecific(0) - 1) + here[0];
}

/* The same where what lies below the stack is reserved, as an allocator does with its arenas. */
static int far_reserved(void)
{
	char *low = (char *)pthread_getspecific(0) - 64 * KIB;

	/* what else lies there is an arena, and reserved as well */
	mmap(low - 4096 * KIB, 4096 * KIB, PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	return far();
}

static void overflow(const char *how)
{
	sum = !strcmp(how, "cyclic") ? even(1)
	    : !strcmp(how, "far") ? far()
	    : !strcmp(how, "far-reserved") ? far_reserved()
	    : !strcmp(how, "probed") ? probed()
	    : !strcmp(how, "alloca") ? allocated(512 * KIB)
	    : !strcmp(how, "below") ? below() : deeper(1);
}

static void *in_thread(void *how)
{
	pthread_attr_t a;
	void *low;
	size_t bytes;

	pthread_getattr_np(pthread_self(), &a);
	pthread_attr_getstack(&a, &low, &bytes);
	pthread_setspecific(0, low);
	overflow(how);
	return NULL;
}

static void thread(const char *how, size_t stack, size_t guard)
{
	pthread_key_t key;
	pthread_attr_t a;
	pthread_t t;

	pthread_key_create(&key, NULL);
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, stack);
	pthread_attr_setguardsize(&a, guard);
	pthread_create(&t, &a, in_thread, (void *)how);
	pthread_join(t, NULL);
}

static void coroutine(int guard)
{
	static ucontext_t back, there;
	char *p = mmap(NULL, STACK + 4 * KIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (guard)
		mprotect(p, 4 * KIB, PROT_NONE);
	else			/* what is below may be anything: here it is the program's own data */
		mmap(p - 4 * KIB, 4 * KIB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	getcontext(&there);
	there.uc_stack.ss_sp = p + 4 * KIB;
	there.uc_stack.ss_size = STACK;
	there.uc_link = &back;
	makecontext(&there, (void (*)(void))deeper, 1, 1);
	swapcontext(&back, &there);
}

static void handler(int number)
{
	char text[32];

	(void)number;
	if (write(1, text, snprintf(text, sizeof(text), "%d\n", calls)) > 0)
		_exit(7);
}

static void handle(int flags)
{
	struct sigaction a = { .sa_handler = handler, .sa_flags = flags };
	stack_t s = { .ss_sp = reserve, .ss_size = sizeof(reserve) };

	sigaltstack(&s, NULL);
	sigaction(SIGSEGV, &a, NULL);
}

/* A mapping 1.5 MiB below: the stack stops 1 MiB above it. */
static void neighbour(void)
{
	char here, *at = (char *)((unsigned long)&here & -4096ul) - 1536 * KIB;

	if (mmap(at, 8 * KIB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == at)
		overflow("");
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	sigset_t all;

	if (!strcmp(how, "count"))
		handle(SA_ONSTACK);
	if (!strcmp(how, "no-room"))
		handle(0);
	if (!strcmp(how, "ignored"))
		signal(SIGSEGV, SIG_IGN);
	if (!strcmp(how, "blocked")) {
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
	}
	if (!strcmp(how, "coroutine") || !strcmp(how, "coroutine-bare"))
		coroutine(!strcmp(how, "coroutine"));
	else if (!strcmp(how, "neighbour"))
		neighbour();
	else if (!strcmp(how, "pointer"))		/* the stack pointer points into nothing */
		__asm__ volatile("mov $0x10000000, %rsp; push %rax");
	else if (!strcmp(how, "data"))			/* or into the program's constants */
		__asm__ volatile("mov %0, %%rsp; push %%rax" : : "r"(&handler));
	else if (!strncmp(how, "main-", 5))
		overflow(how + 5);
	else if (!strcmp(how, "count") || !strcmp(how, "no-room") || !strcmp(how, "ignored") || !strcmp(how, "blocked"))
		overflow(how);
	else
		thread(how, STACK, !strcmp(how, "no-guard") ? 0 : !strcmp(how, "guard") ? 64 * KIB : 4 * KIB);
	return 0;
}
