/* SPDX-License-Identifier: GPL-2.0-or-later
 * Threads, checks and reports behind a seccomp filter that came after the first call (shim_full.bats):
 *
 *	filtered kill	what is not on the list of doc/shim.md, and no C library needs, ends the process
 *	filtered fail	what is on that list and may be refused is refused
 *
 * Exits with the number of errors found.
 */
#include <pmm.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS	3
#define BLOCKS	60000

/* what glibc's malloc, threads and output need */
static const unsigned libc[] = {
	SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_futex, SYS_clone, SYS_clone3, SYS_rseq, SYS_set_robust_list, SYS_exit, SYS_exit_group,
	SYS_rt_sigreturn, SYS_getrandom, SYS_mprotect, SYS_madvise, SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_write, SYS_wait4,
};

/* what pmm.h asks for besides, in forked children as well */
static const unsigned monitor[] = {
	SYS_clock_gettime, SYS_getpid, SYS_gettid, SYS_prctl, SYS_process_vm_readv, SYS_sched_yield, SYS_sigaltstack, SYS_tgkill,
	SYS_close, SYS_getppid, SYS_openat, SYS_prlimit64, SYS_read, SYS_readlink,	/* children */
};

static struct sock_filter program[1 + 2 * 32];
static unsigned short length;

static void add(unsigned short code, unsigned char jump_false, unsigned k)
{
	program[length++] = (struct sock_filter){ code, 0, jump_false, k };
}

static void rule(unsigned number, unsigned action)
{
	add(BPF_JMP | BPF_JEQ | BPF_K, 1, number);
	add(BPF_RET | BPF_K, 0, action);
}

static int confine(int fail)
{
	struct sock_fprog filter = { 0, program };
	unsigned i;

	add(BPF_LD | BPF_W | BPF_ABS, 0, offsetof(struct seccomp_data, nr));
	for (i = 0; i < sizeof(libc) / sizeof(libc[0]); i++)
		rule(libc[i], SECCOMP_RET_ALLOW);
	for (i = 0; i < sizeof(monitor) / sizeof(monitor[0]); i++)
		rule(monitor[i], fail ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_ALLOW);
	add(BPF_RET | BPF_K, 0, SECCOMP_RET_KILL_PROCESS);
	filter.len = length;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

/* With `barrier` all threads have all of their blocks before they free any. */
static void *work(void *barrier)
{
	char **blocks = malloc(BLOCKS * sizeof(*blocks));
	int i;

	for (i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(i % 50 + 20);
	pmm_check();
	if (barrier)
		pthread_barrier_wait(barrier);
	for (i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	free(blocks);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_barrier_t barrier;
	pthread_t thread[THREADS];
	char *over = malloc(5);
	size_t errors;
	int i, status;
	pid_t child;

	pmm_set(PMM_AT_EXIT, PMM_TOTALS);
	pmm_set(PMM_KEEP, 100000);
	pmm_set(PMM_STACKS, 1);
	pthread_barrier_init(&barrier, NULL, THREADS);
	if (argc != 2 || confine(!strcmp(argv[1], "fail")))
		return 99;
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, &barrier))
			return 98;
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	child = fork();
	if (!child) {
		work(NULL);
		exit(pmm_check() != 0);
	}
	if (waitpid(child, &status, 0) != child || status)
		return 97;
	over[5] = 1;
	errors = pmm_check();
	free(over);
	free(over);
	pmm_report(PMM_SITES);
	return (int)errors;
}
