/* SPDX-License-Identifier: GPL-2.0-or-later
 * Crashes, or does not, as argv[1] says: what `pmm check` tells of it is in tests/cli/check_crash.bats, and the status, output and core file
 * must be as natively.
 */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

static sigjmp_buf back;
static char alternate[65536];
static const char text[] = "constant";

SITE static void at(volatile void *p) { *(volatile int *)p = 1; }
SITE static int from(volatile void *p) { return *(volatile int *)p; }
static void set(int sig, void (*handler)(int), int flags)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };

	sigaction(sig, &sa, NULL);
}

static void say(int sig) { (void)sig; (void)!write(1, "handler\n", 8); }
static void jump(int sig) { siglongjmp(back, sig); }
static void leave(int sig) { say(sig); _exit(4); }
static void leave_by_exit(int sig) { say(sig); exit(5); }
static void leave_well(int sig) { say(sig); _exit(0); }
static void aborts(int sig) { say(sig); abort(); }
static void raise_again(int sig) { say(sig); signal(sig, SIG_DFL); raise(sig); }
static void reset(int sig) { say(sig); signal(sig, SIG_DFL); }
static void again(int sig) { say(sig); at((void *)24); }

static void repair(int sig, siginfo_t *info, void *context)
{
	(void)context;
	mprotect((void *)((size_t)info->si_addr & ~4095ul), 4096, PROT_READ | PROT_WRITE);
	say(sig);
}

static void *in_thread(void *arg) { at((void *)32); return arg; }

SITE static int deeper(int n)
{
	volatile char frame[256];

	frame[n % 256] = (char)n;
	return deeper(n + 1) + frame[(n + 1) % 256];
}

static void *overflow(void *arg) { free(malloc(10)); deeper(0); return arg; }

static void on_alternate(void)
{
	stack_t ss = { .ss_sp = alternate, .ss_size = sizeof(alternate) };

	sigaltstack(&ss, NULL);
}

/* A deep frame whose bytes are left as they were: what a handler's frame has left there must not be taken for one. */
SITE static void exit_deep(void) { char room[20000]; hide(room); _exit(9); }

/* A stack that has room for the frames of two signals, and little more. */
static void small_stack_handler(int sig) { (void)sig; abort(); }

static void small_stack(void)
{
	size_t bytes = 2 * (size_t)sysconf(_SC_MINSIGSTKSZ) + 4096;
	stack_t ss = { .ss_sp = malloc(bytes), .ss_size = bytes };

	sigaltstack(&ss, NULL);
	set(SIGUSR1, small_stack_handler, SA_ONSTACK);
	raise(SIGUSR1);
}

static void faults_handled(const char *how)
{
	struct sigaction sa = { .sa_sigaction = repair, .sa_flags = SA_SIGINFO };
	volatile char *p;

	if (!strcmp(how, "repaired")) {
		sigaction(SIGSEGV, &sa, NULL);
		p = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		p[5] = 1;
		exit(6);
	}
	if (!strcmp(how, "jumped") || !strcmp(how, "jumped-deep")) {
		set(SIGSEGV, jump, 0);
		for (volatile int i = 0; i < 5; i++)
			if (!sigsetjmp(back, 1))
				at(NULL);
		if (how[6])
			exit_deep();
		exit(7);
	}
	if (!strcmp(how, "leaves-well"))
		set(SIGSEGV, leave_well, 0);
	if (!strcmp(how, "leaves"))
		set(SIGSEGV, leave, 0);
	if (!strcmp(how, "leaves-by-exit"))
		set(SIGSEGV, leave_by_exit, 0);
	if (!strcmp(how, "leaves-alternate")) {
		on_alternate();
		set(SIGSEGV, leave, SA_ONSTACK);
	}
	if (!strcmp(how, "aborts"))
		set(SIGSEGV, aborts, 0);
	if (!strcmp(how, "raises"))
		set(SIGSEGV, raise_again, 0);
	if (!strcmp(how, "raises-unblocked"))
		set(SIGSEGV, raise_again, SA_NODEFER);
	if (!strcmp(how, "small-stack"))
		small_stack();
	if (!strcmp(how, "resets"))
		set(SIGSEGV, reset, 0);
	if (!strcmp(how, "again"))
		set(SIGSEGV, again, SA_NODEFER | SA_RESETHAND);
	at((void *)8);
}

struct node { struct node *next; int value; };

SITE static int chase(struct node *n) { return n->next->value; }

SITE static void mapped(const char *how)
{
	char *p = NULL;
	int fd;

	if (!strcmp(how, "past-file") || !strcmp(how, "read-only-file")) {
		fd = open("data.bin", O_RDWR | O_CREAT | O_TRUNC, 0600);
		(void)!ftruncate(fd, 100);
		p = mmap(NULL, 8192, how[0] == 'p' ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
		at(how[0] == 'p' ? p + 4096 : p);
	}
	if (!strcmp(how, "no-access"))
		from(mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	if (!strcmp(how, "unmapped")) {
		p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		munmap(p, 4096);
		from(p + 16);
	}
	if (!strcmp(how, "constant"))
		at((void *)text);
	if (!strcmp(how, "jump-null"))
		((void (*)(void))hide(NULL))();
	if (!strcmp(how, "jump-data"))
		((void (*)(void))hide(alternate))();
	if (!strcmp(how, "jump-heap"))
		((void (*)(void))hide(malloc(64)))();
	if (!strcmp(how, "no-address"))
		from(hide((void *)0x4141414141414140));
	if (!strcmp(how, "poison")) {
		p = calloc(1, sizeof(struct node));
		free(p);
		chase(hide(p));
	}
	if (!strcmp(how, "large")) {
		p = mmap(NULL, 32 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		munmap(p, 16 << 20);	/* the block goes there, and ends at what is left */
		p = malloc(4 << 20);
		at(p + (4 << 20) + 8192);
	}
	if (!strcmp(how, "large-freed")) {
		p = malloc(4 << 20);
		free(p);
		at(hide(p + 1000));
	}
}

static void stacks(const char *how)
{
	struct rlimit limit = { 1 << 20, RLIM_INFINITY };
	pthread_t t;

	setrlimit(RLIMIT_STACK, &limit);
	if (!strcmp(how, "overflow"))
		overflow(NULL);
	if (!strcmp(how, "overflow-thread") && !pthread_create(&t, NULL, overflow, NULL))
		pthread_join(t, NULL);
	if (!strcmp(how, "overflow-caught")) {
		on_alternate();
		set(SIGSEGV, leave, SA_ONSTACK);
		overflow(NULL);
	}
}

SITE static void divide(void) { __asm__ volatile("xor %%ecx, %%ecx; div %%ecx" : : : "eax", "ecx", "edx"); }
SITE static void illegal(void) { __asm__ volatile("ud2"); }
SITE static void breakpoint(void) { __asm__ volatile("int3"); }

SITE static void sent(const char *how)
{
	sigset_t segv;

	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "corrupted")) {
		volatile size_t *p = malloc(24);
		for (int i = 0; i < 8; i++)
			p[i] = 0x41414141;
		free(malloc(5000));
		free(malloc(100000));
		abort();
	}
	if (!strcmp(how, "term"))
		kill(getpid(), SIGTERM);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "sent"))
		kill(getpid(), SIGSEGV);
	if (!strcmp(how, "blocked")) {
		sigemptyset(&segv);
		sigaddset(&segv, SIGSEGV);
		sigprocmask(SIG_BLOCK, &segv, NULL);
		at((void *)40);
	}
	if (!strcmp(how, "divide"))
		divide();
	if (!strcmp(how, "illegal"))
		illegal();
	if (!strcmp(how, "breakpoint"))
		breakpoint();
	if (!strcmp(how, "asserted"))
		assert(how == text);
}

static void children(const char *how)
{
	pid_t child = 0;
	int status = 0;

	if (!strncmp(how, "child", 5)) {
		child = fork();
		if (!child) {
			if (!strcmp(how, "child-bare-leaves"))
				set(SIGSEGV, leave, 0);
			if (strncmp(how, "child-bare", 10))
				free(malloc(50));
			if (!strcmp(how, "child-killed"))
				kill(getpid(), SIGKILL);
			at((void *)48);
		}
	}
	if (!strcmp(how, "vforked")) {
		child = vfork();
		if (!child)
			at((void *)56);
	}
	if (child)
		waitpid(child, &status, 0);
	if (child)
		exit(WIFSIGNALED(status) ? 3 : 1);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t t;

	if (strcmp(how, "bare"))	/* else the heap was never used */
		free(malloc(40));
	if (!strcmp(how, "thread") && !pthread_create(&t, NULL, in_thread, NULL))
		pthread_join(t, NULL);
	if (!strcmp(how, "failed"))
		at(malloc(1 << 20));
	children(how);
	mapped(how);
	stacks(how);
	sent(how);
	faults_handled(how);
	return 0;
}
