/* SPDX-License-Identifier: GPL-2.0-or-later
 * Runs a program under a seccomp filter: attach_filter KIND CMD [ARG...]. The filter is a list of the system calls allowed, as containers
 * have it:
 *   all        allows all
 *   list       all others fail with EPERM
 *   memfd      the same without memfd_create
 *   madvise    all others are deadly; without madvise
 *   restart    all others are deadly; without restart_syscall
 *   mmap       as "list", but mmap is allowed for usual arguments only
 *   perf       allows all but perf_event_open
 *   bpf        allows all but bpf and perf_event_open
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PUT(...) (program[nr++] = (struct sock_filter)__VA_ARGS__)
#define FIELD(name) offsetof(struct seccomp_data, name)

static const unsigned allowed[] = {
	SYS_read, SYS_write, SYS_openat, SYS_open, SYS_close, SYS_stat, SYS_fstat, SYS_newfstatat, SYS_lseek, SYS_mmap, SYS_mprotect,
	SYS_munmap, SYS_brk, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_pread64, SYS_access, SYS_sched_yield, SYS_mremap,
	SYS_madvise, SYS_nanosleep, SYS_clock_nanosleep, SYS_getpid, SYS_getppid, SYS_gettid, SYS_clone, SYS_clone3, SYS_fork, SYS_vfork,
	SYS_execve, SYS_exit, SYS_exit_group, SYS_wait4, SYS_readlink, SYS_uname, SYS_fcntl, SYS_getcwd, SYS_sigaltstack, SYS_prctl,
	SYS_arch_prctl, SYS_futex, SYS_set_tid_address, SYS_restart_syscall, SYS_clock_gettime, SYS_tgkill, SYS_set_robust_list,
	SYS_prlimit64, SYS_process_vm_readv, SYS_getrandom, SYS_memfd_create, SYS_rseq,
};

static struct sock_filter program[200];

static unsigned short build(const char *kind)
{
	int deadly = !strcmp(kind, "madvise") || !strcmp(kind, "restart");
	unsigned short nr = 0;

	if (!strcmp(kind, "all"))
		PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	PUT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(arch)));
	PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0));
	PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
	PUT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(nr)));
	PUT(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1));
	PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
	if (!strcmp(kind, "mmap")) {
		PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 4));
		PUT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(args[2])));
		PUT(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x1000, 0, 1));
		PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
		PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	}
	if (!strcmp(kind, "bpf")) {
		PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 2, 0));
		PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 1, 0));
		PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
		PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
	}
	if (!strcmp(kind, "perf")) {
		PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 1, 0));
		PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	}
	for (unsigned i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
		if ((!strcmp(kind, "memfd") && allowed[i] == SYS_memfd_create) || (!strcmp(kind, "madvise") && allowed[i] == SYS_madvise) ||
		    (!strcmp(kind, "restart") && allowed[i] == SYS_restart_syscall))
			continue;
		PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], 0, 1));
		PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	}
	PUT(BPF_STMT(BPF_RET | BPF_K, deadly ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM));
	return nr;
}

int main(int argc, char **argv)
{
	struct sock_fprog filter;

	if (argc < 3)
		return 2;
	filter.len = build(argv[1]);
	filter.filter = program;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0))
		return 1;
	execv(argv[2], argv + 2);
	return 127;
}
