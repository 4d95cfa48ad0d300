/* SPDX-License-Identifier: GPL-2.0-or-later
 * Ends in the way argv[1] says, with "before" on stdout still buffered; argv[2] says what else there is. Static variables, main's frame and a
 * register of end()'s, which what it calls must save, hold blocks:
 *
 * expect:
 *   lost        definite=3/300
 *   kept        reachable=2/120
 *   framed      reachable=1/40 returned:definite=1/40
 *   registered  reachable=1/30 returned:definite=1/30
 *
 * And marks, which tests/prog/leave_driver.c counts on the stack: two in main's frame, one in a register of end()'s.
 */
#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leave_mark.h"
#include "victim.h"

static volatile unsigned long mark = LEAVE_MARK;
static sigset_t none;
static void *volatile keeps[2];

static void last(void) { write(1, "handler\n", 8); }
static __attribute__((destructor)) void destroy(void) { write(1, "destructor\n", 11); }
static void caught(int sig) { (void)sig, _exit(44); }
static void again(int sig) { write(1, "again\n", 6), raise(sig); }
static void harmless(int sig) { (void)sig, write(1, "signal\n", 7); }

SITE static void *lost(void) { return malloc(100); }
SITE static void *kept(void) { return malloc(60); }
SITE static void *framed(void) { return malloc(40); }
SITE static void *registered(void) { return malloc(30); }

SITE static void end(const char *how)
{
	register unsigned long held __asm__("rbx") = mark ^ 3;
	register void *block __asm__("r12") = registered();

	__asm__ volatile("" : "+r"(held), "+r"(block));
	if (!strcmp(how, "exit"))
		exit(3);
	if (!strcmp(how, "err"))
		err(4, "err");
	if (!strcmp(how, "_exit"))
		_exit(5);
	if (!strcmp(how, "_Exit"))
		_Exit(6);
	if (!strcmp(how, "quick_exit"))
		quick_exit(7);
	if (!strcmp(how, "syscall"))
		syscall(SYS_exit_group, 8);
	if (!strcmp(how, "daemon") && !daemon(1, 1))
		_exit(0);
	if (!strcmp(how, "raw"))
		__asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(9));
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		*(volatile int *)opaque(8) = 1;
	if (!strcmp(how, "trap"))
		__asm__ volatile("int3");
	if (!strcmp(how, "raise"))
		raise(SIGTERM);
	if (!strcmp(how, "realtime"))
		sigqueue(getpid(), SIGRTMIN + 3, (union sigval){ 0 });
	if (!strcmp(how, "overflow"))
		end(strdup(how));
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "sleep"))
		for (;;)
			pause();
	__asm__ volatile("" : "+r"(held), "+r"(block));
}

static void *end_here(void *how)
{
	end(how);
	return NULL;
}

static void *wait_here(void *arg)
{
	for (;;)
		sigsuspend(&none);
	return arg;
}

int main(int argc, char **argv)
{
	volatile unsigned long frame[3];
	const char *how = argc > 1 ? argv[1] : "return", *with = argc > 2 ? argv[2] : "";
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
	pthread_t t;

	frame[2] = (unsigned long)framed();
	frame[0] = mark ^ 1;
	frame[1] = mark ^ 2;
	for (size_t i = 0; i < opaque(3); i++)
		hide(lost());
	for (size_t i = 0; i < opaque(2); i++)
		keeps[i] = kept();
	atexit(last);
	at_quick_exit(last);
	printf("before\n");
	if (!strcmp(with, "handler"))		/* the program's own wishes count */
		signal(SIGTERM, caught);
	if (!strcmp(with, "ignored"))
		signal(SIGTERM, SIG_IGN);
	if (!strcmp(with, "seen") && (signal(SIGTERM, SIG_DFL) != SIG_DFL || sigaction(SIGSEGV, NULL, &(struct sigaction){ 0 })))
		return 90;
	if (!strcmp(with, "once")) {		/* a first time, then by default */
		struct sigaction a = { .sa_handler = again, .sa_flags = SA_RESETHAND };

		sigaction(SIGTERM, &a, NULL);
		if (!vfork())			/* what it sets is its own */
			_exit(sigaction(SIGTERM, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL));
		sigaction(SIGTERM, NULL, &a);
		if (a.sa_handler != again || (unsigned)a.sa_flags % 0x04000000 || !(a.sa_flags & (int)SA_RESETHAND))
			return 91;
	}
	if (!strcmp(with, "cramped")) {		/* no room for a signal's frame with large vector registers */
		static char stack[2048];

		sigaltstack(&(stack_t){ .ss_sp = stack, .ss_size = sizeof(stack) }, NULL);
	}
	if (!strcmp(with, "timer") && signal(SIGALRM, harmless) != SIG_ERR)
		setitimer(ITIMER_REAL, &often, NULL);
	if (!strcmp(with, "threads"))
		for (int i = 0; i < 100; i++)
			pthread_create(&t, NULL, wait_here, NULL);
	if (!strcmp(with, "thread") && !pthread_create(&t, NULL, end_here, (void *)how))
		pthread_join(t, NULL);
	if (!strcmp(with, "closed"))
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
	if (!strcmp(with, "vfork") && !vfork())
		_exit(9);
	if (!strcmp(with, "fork") && !fork()) {
		free(malloc(10));
		end(how);
		_exit(1);
	}
	if (!strcmp(with, "fork")) {
		int status;

		wait(&status);
		printf("child %d %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0, WIFEXITED(status) ? WEXITSTATUS(status) : 0);
		return 10;
	}
	end(how);
	return frame[0] ? 12 : 13;
}
