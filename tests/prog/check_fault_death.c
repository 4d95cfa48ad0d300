/* SPDX-License-Identifier: GPL-2.0-or-later
 * Dies, or lives on, as argv[1] says: the status must be the one it has natively. A write behind a block's end comes first (one finding).
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

static sigjmp_buf back;

#define ALLOW(nr) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void confine(void)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), ALLOW(SYS_exit_group), ALLOW(SYS_rt_sigprocmask), ALLOW(SYS_rt_sigreturn),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(*code), code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static void crash(int sig) { (void)sig; *(volatile int *)hide((void *)16) = 1; }
static void leave(int sig) { _exit(100 + sig); }
static void jump(int sig) { siglongjmp(back, sig); }
static void *crash_in_thread(void *arg) { crash(0); return arg; }
static void divide(void) { __asm__ volatile("xor %%ecx, %%ecx; div %%ecx" : : : "eax", "ecx", "edx"); }

static void set(int sig, void (*handler)(int), int flags)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };

	sigaction(sig, &sa, NULL);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void block(int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static int crash_twice(int save_mask)
{
	set(SIGSEGV, jump, 0);
	for (volatile int i = 0; i < 2; i++)
		if (!sigsetjmp(back, save_mask))
			crash(0);
	return 8;
}

static void *pending(void *arg)
{
	block(SIGSEGV);
	pthread_kill(pthread_self(), SIGSEGV);
	printf("alive\n");
	fflush(stdout);
	set(SIGSEGV, leave, 0);
	raise(SIGSEGV);
	printf("still\n");
	fflush(stdout);
	*(volatile char *)arg = 1;
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	volatile char *p = malloc(64);
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t t;
	pid_t child;
	int status;

	p[64] = 1;
	if (!strcmp(how, "segv"))
		crash(0);
	if (!strcmp(how, "thread") && !pthread_create(&t, NULL, crash_in_thread, NULL))
		pthread_join(t, NULL);
	if (!strcmp(how, "ignored")) {
		signal(SIGSEGV, SIG_IGN);
		kill(getpid(), SIGSEGV);
		printf("alive\n");
		fflush(stdout);
		crash(0);
	}
	if (!strcmp(how, "blocked")) {
		set(SIGSEGV, leave, 0);
		block(SIGSEGV);
		p[65] = 1;		/* the same finding */
		crash(0);
	}
	if (!strcmp(how, "in-handler")) {
		set(SIGSEGV, crash, 0);
		crash(0);
	}
	if (!strcmp(how, "handler"))
		return set(SIGSEGV, leave, 0), crash(0), 9;
	if (!strcmp(how, "jump"))
		return crash_twice(1);
	if (!strcmp(how, "jump-plain"))	/* the mask stays as it was in the handler: the second one kills */
		return crash_twice(0);
	if (!strcmp(how, "pending"))
		return pending((void *)(p + 66)), 10;
	if (!strcmp(how, "reset"))
		return set(SIGSEGV, jump, SA_RESETHAND), sigsetjmp(back, 1), crash(0), 9;
	if (!strncmp(how, "confined", 8)) {
		if (!strcmp(how, "confined-handler") || !strcmp(how, "confined-trap"))
			set(SIGSEGV, leave, 0);
		confine();
		if (!strcmp(how, "confined-trap"))
			__asm__ volatile("int3");
		if (!strcmp(how, "confined-error"))	/* natively, nothing happens */
			p[68] = 1;
		else
			crash(0);
	}
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGSEGV);
	if (!strcmp(how, "stkflt"))
		raise(SIGSTKFLT);
	if (!strcmp(how, "stkflt-handler")) {
		set(SIGSTKFLT, leave, 0);
		block(SIGSEGV);
		block(SIGSTKFLT);
		raise(SIGSTKFLT);
		p[69] = 1;
		sigrelse(SIGSEGV);
		sigrelse(SIGSTKFLT);
	}
	if (!strcmp(how, "bus"))
		raise(SIGBUS);
	if (!strcmp(how, "fpe"))
		divide();
	if (!strcmp(how, "fpe-handler"))
		return set(SIGFPE, leave, 0), divide(), 9;
	if (!strcmp(how, "trap"))
		__asm__ volatile("int3");
	if (!strcmp(how, "trap-flag"))
		__asm__ volatile("pushf; orl $0x100, (%%rsp); popf; nop" : : : "memory");
	if (!strcmp(how, "ill"))
		__asm__ volatile("ud2");
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "fork")) {
		child = fork();
		if (!child) {
			p[67] = 1;
			set(SIGSEGV, leave, 0);
			crash(0);
		}
		waitpid(child, &status, 0);
		return WIFEXITED(status) && WEXITSTATUS(status) == 111 ? 12 : 1;
	}
	if (!strcmp(how, "vfork")) {
		child = vfork();
		if (!child) {
			set(SIGSEGV, leave, 0);
			crash(0);
			_exit(1);
		}
		waitpid(child, &status, 0);
		printf("%d\n", status);
		fflush(stdout);
		crash(0);
	}
	return 3;
}
