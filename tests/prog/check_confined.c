/* SPDX-License-Identifier: GPL-2.0-or-later
 * Puts itself under seccomp in the way argv[1] says, a filter that kills for the system calls argv[2]..., and then does with the heap what needs
 * ever more of the ledger and of the guard pool: new stacks, many blocks, old and new ones released, and overruns, one before (found) and
 * 3 after, on pages' ends, and a SIGSEGV that it handles itself. "threads": with threads that meet errors all the time. Natively nothing of it
 * does harm. "vfork": a child made so puts itself under it. Prints "unharmed".
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "victim.h"

#define KEPT 3000

static char *old[KEPT], *new[KEPT];
static sigjmp_buf back;
static const struct { const char *name; int nr; } calls[] = {
	{ "mprotect", SYS_mprotect }, { "madvise", SYS_madvise }, { "process_madvise", 440 }, { "mmap", SYS_mmap }, { "munmap", SYS_munmap },
	{ "rt_sigaction", SYS_rt_sigaction }, { "rt_sigprocmask", SYS_rt_sigprocmask }, { "getpid", SYS_getpid }, { "gettid", SYS_gettid },
	{ "tgkill", SYS_tgkill }, { "brk", SYS_brk }, { "openat", SYS_openat }, { "futex", SYS_futex }, { "sched_yield", SYS_sched_yield },
};

static void jump(int sig) { siglongjmp(back, sig); }

SITE static char *deep(unsigned long way, int size)
{
	char *p = way > 1 ? way & 1 ? deep(way >> 1, size) : (deep)(way >> 1, size) : malloc((size_t)size);

	__asm__ volatile("" : "+r"(p));
	return p;
}

static int filter(char **names, int how)
{
	static struct sock_filter code[64] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0) };
	struct sock_fprog prog = { 1, code };

	for (; *names; names++)
		for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
			if (!strcmp(*names, calls[i].name)) {
				code[prog.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i].nr, 0, 1);
				code[prog.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
			}
	code[prog.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return how ? (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

/* As libraries find out what the kernel knows: none of these does anything. */
static void ask(void)
{
	uint32_t action = SECCOMP_RET_LOG;

	syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL);
	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL);
	syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 8);
}

static volatile int ends;

/* Meets an error over and over, and has blocks come and go. */
static void *busy(void *arg)
{
	char *mine[20] = { NULL };

	for (unsigned n = 0; !ends; n++) {
		free(mine[n % 20]);
		mine[n % 20] = malloc(64);
		mine[n % 20][64] = 1;
		*(volatile char *)arg = 1;
	}
	return NULL;
}

static int with_threads(char **names)
{
	char *p = malloc(64);
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, busy, p + 64);
	for (int i = 0; i < 2000; i++)
		free(deep((unsigned long)i, 64));
	if (filter(names, 0))
		return 2;
	for (int i = 0; i < 2000; i++)
		free(deep((unsigned long)i, 64));
	ends = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return write(1, "unharmed\n", 9) != 9;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int strict = !strcmp(how, "strict"), some = strict ? 10 : KEPT;
	volatile char *last;

	if (!strcmp(how, "threads"))
		return with_threads(argv + 2);
	signal(SIGSEGV, jump);
	for (int i = 0; i < some; i++)
		old[i] = deep((unsigned long)i, 64);
	free(old[1]);
	ask();
	if (!strcmp(how, "vfork") && !vfork()) {
		filter(argv + 2, 0);
		_exit(0);
	}
	last = old[5];
	last[64] = 1;
	if (strict ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) : strcmp(how, "none") && strcmp(how, "vfork") && filter(argv + 2, !strcmp(how, "syscall")))
		return 2;
	for (int i = 0; i < some; i++)
		memset(new[i] = deep((unsigned long)i * 7919 + 40000, 64), 1, 64);
	last[65] = 1;
	((volatile char *)new[7])[64] = 1;
	(void)*(volatile char *)hide(old[1]);
	if (!strict && !sigsetjmp(back, 0))
		*(volatile int *)hide((void *)16) = 1;
	for (int i = 2; i < some; i += 2) {
		free(old[i]);
		free(new[i]);
	}
	if (write(1, "unharmed\n", 9) != 9)
		return 1;
	return strict ? (int)syscall(SYS_exit, 0) : 0;
}
