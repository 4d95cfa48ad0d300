/* SPDX-License-Identifier: GPL-2.0-or-later
 * Confines itself in the way argv[1] says, then allocates as if nothing had happened: 2000 blocks
 * of 50 bytes (site confined), the half freed, every byte of them checked. Prints "unharmed".
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "victim.h"

SITE static unsigned char *confined(void) { return malloc(50); }

static int limit(int what, rlim_t n)
{
	struct rlimit r = { n, n };

	return setrlimit(what, &r);
}

#define ALLOW(nr) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static int filter(void)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		ALLOW(SYS_mmap), ALLOW(SYS_munmap), ALLOW(SYS_mprotect), ALLOW(SYS_madvise),
		ALLOW(SYS_brk), ALLOW(SYS_mremap), ALLOW(SYS_getrandom), ALLOW(SYS_write),
		ALLOW(SYS_exit_group), ALLOW(SYS_futex), ALLOW(SYS_rt_sigprocmask), ALLOW(SYS_rt_sigreturn),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(*code), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static int confine(const char *how)
{
	if (!strcmp(how, "fds"))
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
	return !strcmp(how, "as") ? limit(RLIMIT_AS, 64 << 20) :
	       !strcmp(how, "data") ? limit(RLIMIT_DATA, 16 << 20) :
	       !strcmp(how, "little") ? limit(RLIMIT_DATA, 2 << 20) :
	       !strcmp(how, "nofile") ? limit(RLIMIT_NOFILE, 0) :
	       !strcmp(how, "fsize") ? limit(RLIMIT_FSIZE, 0) :
	       !strcmp(how, "nproc") ? setuid(65534) || limit(RLIMIT_NPROC, 0) :
	       !strcmp(how, "chroot") ? chdir("/proc/self") || chroot(".") || setuid(65534) :
	       !strcmp(how, "mlock") ? mlockall(MCL_CURRENT | MCL_FUTURE) :
	       !strcmp(how, "seccomp") ? filter() : 0;
}

int main(int argc, char **argv)
{
	static unsigned char *p[2000];

	if (argc < 2 || confine(argv[1]))
		return 2;
	for (int i = 0; i < 2000; i++)
		memset(p[i] = confined(), i & 255, 50);
	for (int i = 0; i < 2000; i++)
		for (int k = 0; k < 50; k++)
			if (p[i][k] != (i & 255))
				return 1;
	for (int i = 0; i < 2000; i += 2)
		free(p[i]);
	return write(1, "unharmed\n", 9) != 9;
}
