/* SPDX-License-Identifier: GPL-2.0-or-later
 * Allocates on small stacks with an inaccessible page below: threads of PTHREAD_STACK_MIN, coroutines of 4 KiB, a signal handler on an alternate
 * stack of 4 KiB and the kernel's frame, a child of clone() that shares our memory and has 4 KiB. Says "ready" and waits for orders: some rounds
 * for each, "done" after them. Leaves no block.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "attach.h"

#define PAGE		4096ul
#define MOST_BYTES	(64 * PAGE)
#define ROUNDS		20

struct small {
	char *bottom;		/* above an inaccessible page */
	size_t bytes;
};

static void need(int ok)
{
	if (!ok)
		_exit(97);
}

static struct small stack_new(size_t bytes)
{
	struct small s = { .bytes = (bytes + PAGE - 1) & -PAGE };
	char *all = mmap(NULL, PAGE + s.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(all != MAP_FAILED && s.bytes <= MOST_BYTES && !mprotect(all, PAGE, PROT_NONE));
	s.bottom = all + PAGE;
	return s;
}

static void stack_free(struct small s) { need(!munmap(s.bottom - PAGE, PAGE + s.bytes)); }

/* A copy for each way, so that each is the first to come from there. */
#define BLOCKS(NAME)									\
SITE static void NAME(void)								\
{											\
	char *p = hide(malloc(100)), *q = hide(calloc(3, 40)), *r = hide(realloc(NULL, 30));	\
											\
	p = hide(realloc(p, 5000));							\
	need(p && q && r);								\
	free(hide(aligned_alloc(64, 128)));						\
	free(r);									\
	free(q);									\
	free(p);									\
}

BLOCKS(of_thread)
BLOCKS(of_coroutine)
BLOCKS(of_handler)
BLOCKS(of_child)

static void *thread(void *arg)
{
	of_thread();
	return arg;
}

static void in_thread(size_t bytes)
{
	struct small s = stack_new(bytes);
	pthread_attr_t attr;
	pthread_t t;

	need(!pthread_attr_init(&attr) && !pthread_attr_setstack(&attr, s.bottom, s.bytes));
	need(!pthread_create(&t, &attr, thread, NULL) && !pthread_join(t, NULL));
	pthread_attr_destroy(&attr);
	stack_free(s);
}

static ucontext_t home, away;

static void in_coroutine(size_t bytes)
{
	struct small s = stack_new(bytes);

	need(!getcontext(&away));
	away.uc_stack.ss_sp = s.bottom;
	away.uc_stack.ss_size = s.bytes;
	away.uc_link = &home;
	makecontext(&away, of_coroutine, 0);
	need(!swapcontext(&home, &away));
	stack_free(s);
}

static void handler(int number)
{
	(void)number;
	of_handler();
}

static void in_handler(size_t bytes)
{
	struct small s = stack_new(bytes);
	stack_t ss = { .ss_sp = s.bottom, .ss_size = s.bytes }, none = { .ss_flags = SS_DISABLE };
	struct sigaction act = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	need(!sigaltstack(&ss, NULL) && !sigaction(SIGUSR1, &act, NULL) && !raise(SIGUSR1));
	need(!sigaltstack(&none, NULL));
	stack_free(s);
}

static int child(void *arg)
{
	(void)arg;
	of_child();
	return 0;
}

static void in_clone(size_t bytes)
{
	struct small s = stack_new(bytes);
	int status, pid = clone(child, s.bottom + s.bytes, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);

	need(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
	stack_free(s);
}

int main(void)
{
	size_t least = getauxval(AT_MINSIGSTKSZ) ? getauxval(AT_MINSIGSTKSZ) : 2048;

	say("ready\n");
	while (order()) {
		for (unsigned int i = 0; i < ROUNDS; i++) {
			in_thread((size_t)PTHREAD_STACK_MIN);
			in_thread(32 << 10);
			in_coroutine(PAGE);
			in_coroutine(8 << 10);
			in_handler(least + PAGE);
			in_clone(PAGE);
		}
		say("done\n");
	}
	return 0;
}
