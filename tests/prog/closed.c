/* SPDX-License-Identifier: GPL-2.0-or-later
 * Sets a seccomp filter that kills for what a ledger takes (and lets processes and programs begin), then begins some.
 *
 *	closed fork		forks a child that allocates, after
 *	closed late		forks a child that sets the filter before it does anything else, and allocates
 *	closed exec PROG ARG	executes PROG, after
 *	closed both PROG ARG	forks a child that executes it, after
 *	closed inside		lets no process or program begin
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

SITE static void *before(void) { return malloc(40); }
SITE static void *after(void) { return malloc(50); }

#define KILL(nr) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define DENY(nr) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1)

static struct sock_filter kills[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	KILL(SYS_memfd_create), KILL(SYS_socket), KILL(SYS_connect), KILL(SYS_sendmsg), KILL(SYS_fcntl), KILL(SYS_ftruncate),
	KILL(SYS_statx), KILL(SYS_ppoll), KILL(SYS_setsockopt), KILL(SYS_getsockopt), KILL(SYS_recvmsg), KILL(SYS_gettid), KILL(SYS_getppid),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static struct sock_filter denies[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	KILL(SYS_memfd_create), DENY(SYS_execve), DENY(SYS_execveat), DENY(SYS_clone), DENY(SYS_fork), DENY(SYS_vfork), DENY(SYS_clone3),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static void confine(struct sock_filter *code, size_t n)
{
	struct sock_fprog prog = { (unsigned short)n, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		_exit(9);
}

#define CONFINE(code) confine(code, sizeof(code) / sizeof(*(code)))

static void many(void *(*make)(void))
{
	for (int i = 0; i < 100; i++)
		if (!make())
			_exit(8);
}

static int ended(pid_t pid)
{
	int status;

	return pid < 0 || waitpid(pid, &status, 0) != pid ? 7 : WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pid_t pid;

	many(before);
	if (!strcmp(how, "late")) {
		pid = fork();
		if (pid)
			return ended(pid);
		CONFINE(kills);
		many(after);
		return 0;
	}
	if (!strcmp(how, "inside")) {
		CONFINE(denies);
		many(after);
		return 0;
	}
	CONFINE(kills);
	if (!strcmp(how, "exec") && argc > 3) {
		execv(argv[2], argv + 2);
		return 6;
	}
	pid = fork();
	if (pid)
		return ended(pid);
	if (!strcmp(how, "both") && argc > 3) {
		execv(argv[2], argv + 2);
		return 6;
	}
	many(after);
	return 0;
}
