/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Where /proc is not to be read, as after chroot: each of 150 children, one after the other, has a ledger all the same. */
#include <pmm.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int lock_up(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_readlink, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOENT),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(void)
{
	struct pmm_stats stats;
	int i, status = 0, tracked = 0;

	pmm_set(PMM_AT_EXIT, 0);
	free(malloc(1));
	if (lock_up())
		return 1;
	for (i = 0; i < 150; i++) {
		if (fork() == 0) {
			free(malloc(10));
			pmm_get_stats(&stats);
			_exit(stats.nr_new == 1);
		}
		wait(&status);
		tracked += WEXITSTATUS(status);
	}
	printf("%d tracked\n", tracked);
	return 0;
}
