/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/ptrace/confined.c: which filters let pmm do its work. */
#include <sys/syscall.h>

#include "tests/unit/unit.h"

#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/ptrace/confined.h"

/* Everything is allowed but one system call, which gets this verdict. */
static const char *refused_to(enum confined_use use, uint32_t nr, uint32_t verdict)
{
	const struct sock_filter v[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, verdict),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return confined_refuses(use, v, 4);
}

static const char *refused(uint32_t nr, uint32_t verdict)
{
	return refused_to(CONFINED_ATTACH, nr, verdict);
}

static void verdicts(void **state)
{
	static const uint32_t bad[] = {
		SECCOMP_RET_KILL_PROCESS,
		SECCOMP_RET_KILL_THREAD,
		SECCOMP_RET_TRAP,
		SECCOMP_RET_TRACE,
		SECCOMP_RET_USER_NOTIF,
		SECCOMP_RET_ERRNO,
		0x12340000,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_string_equal(refused(SYS_madvise, bad[i]), "madvise");
		assert_string_equal(refused(SYS_openat, bad[i]), "openat");
		assert_null(refused(SYS_bpf, bad[i]));
	}
	assert_null(refused(SYS_madvise, SECCOMP_RET_LOG));
	assert_string_equal(refused(SYS_madvise, SECCOMP_RET_ERRNO | 1), "madvise");
	assert_null(refused(SYS_openat, SECCOMP_RET_ERRNO | 1));
}

static void each_call(void **state)
{
	static const struct { uint32_t nr; const char *name;
	} must[] = {
		{ SYS_memfd_create, "memfd_create" },
		{ SYS_mmap, "mmap" },
		{ SYS_mprotect, "mprotect" },
		{ SYS_munmap, "munmap" },
		{ SYS_close, "close" },
		{ SYS_rt_sigreturn, "rt_sigreturn" },
		{ SYS_restart_syscall, "restart_syscall" },
		{ SYS_brk, "brk" },
		{ SYS_rt_sigprocmask, "rt_sigprocmask" },
		{ SYS_getpid, "getpid" },
		{ SYS_getppid, "getppid" },
		{ SYS_gettid, "gettid" },
		{ SYS_clock_gettime, "clock_gettime" },
		{ SYS_tgkill, "tgkill" },
		{ SYS_sigaltstack, "sigaltstack" },
		{ SYS_pread64, "pread64" },
		{ SYS_process_vm_readv, "process_vm_readv" },
	};
	static const uint32_t may[] = { SYS_openat, SYS_read,	   SYS_readlink,
					SYS_prctl,  SYS_prlimit64, SYS_sched_yield };

	(void)state;
	for (size_t i = 0; i < sizeof(must) / sizeof(must[0]); i++)
		assert_string_equal(refused(must[i].nr, SECCOMP_RET_ERRNO | 1), must[i].name);
	for (size_t i = 0; i < sizeof(may) / sizeof(may[0]); i++) {
		assert_null(refused(may[i], SECCOMP_RET_ERRNO | 1));
		assert_non_null(refused(may[i], SECCOMP_RET_KILL_THREAD));
	}
}

static void no_filter(void **state)
{
	const struct sock_filter v = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
				 args = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 16);

	(void)state;
	assert_string_equal(confined_refuses(CONFINED_ATTACH, &v, 1), "");
	assert_string_equal(confined_refuses(CONFINED_ATTACH, &args, 1), "memfd_create");
}

static void by_use(void **state)
{
	static const struct { uint32_t nr; const char *name;
	} must[] = {
		{ SYS_rt_sigreturn, "rt_sigreturn" },
		{ SYS_restart_syscall, "restart_syscall" },
		{ SYS_exit_group, "exit_group" },
		{ SYS_wait4, "wait4" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(must) / sizeof(must[0]); i++)
		assert_string_equal(refused_to(CONFINED_COPY, must[i].nr, SECCOMP_RET_ERRNO | 1),
				    must[i].name);
	assert_null(refused_to(CONFINED_COPY, SYS_clone, SECCOMP_RET_ERRNO | 1));
	assert_string_equal(refused_to(CONFINED_COPY, SYS_clone, SECCOMP_RET_KILL_PROCESS),
			    "clone");
	assert_null(refused_to(CONFINED_COPY, SYS_memfd_create, SECCOMP_RET_KILL_PROCESS));
	assert_string_equal(
		refused_to(CONFINED_STOP, SYS_restart_syscall, SECCOMP_RET_KILL_PROCESS),
		"restart_syscall");
	assert_null(refused_to(CONFINED_STOP, SYS_clone, SECCOMP_RET_KILL_PROCESS));
	assert_string_equal(refused_to(CONFINED_ASK, SYS_sigaltstack, SECCOMP_RET_KILL_PROCESS),
			    "sigaltstack");
	assert_null(refused_to(CONFINED_ASK, SYS_sigaltstack, SECCOMP_RET_ERRNO | 1));
	assert_string_equal(refused_to(CONFINED_ASK, SYS_rt_sigreturn, SECCOMP_RET_ERRNO | 1),
			    "rt_sigreturn");
	assert_null(refused_to(CONFINED_ASK, SYS_clone, SECCOMP_RET_KILL_PROCESS));
}

/* ---- processes ------------------------------------------------------------------------------- */

enum filter { NO_FILTER, ALLOWS_ALL, KILLS_MADVISE, TWO_FILTERS, STRICT };

static void install(const struct sock_filter *v, unsigned short nr)
{
	const struct sock_fprog p = { nr, (struct sock_filter *)v };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		_exit(1);
}

/* A process that waits behind a filter; it says so by a byte. */
static pid_t filtered_process(enum filter filter)
{
	static const struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	static const struct sock_filter but_one[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	int fd[2], never[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(fd) || pipe(never), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(never[1]);
		if (filter == ALLOWS_ALL || filter == TWO_FILTERS)
			install(all, 1);
		if (filter == KILLS_MADVISE || filter == TWO_FILTERS)
			install(but_one, 4);
		if (filter == STRICT && prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
			_exit(1);
		if (write(fd[1], "", 1) != 1 || read(never[0], &c, 1) >= 0)
			syscall(SYS_exit, 0);
	}
	close(fd[1]);
	close(never[0]);
	assert_int_equal(read(fd[0], &c, 1), 1);
	close(fd[0]);
	return pid;
}

static int checked(enum filter filter, enum confined_use use, struct err *e)
{
	pid_t pid = filtered_process(filter);
	int rc = confined_check(pid, use, e), status;

	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);	/* it goes on */
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	return rc;
}

static bool says(const struct err *e, const char *text)
{
	return strstr(e->text, text) || strstr(e->hint, text);
}

static void a_process_without_a_filter(void **state)
{
	struct err e = { 0 };

	(void)state;
	for (unsigned use = 0; use < CONFINED_NR_USES; use++)
		assert_int_equal(checked(NO_FILTER, use, &e), 0);
	assert_string_equal(e.text, "");
	/* who is not there has none */
	assert_int_equal(confined_check(0x7ffffff0, CONFINED_ATTACH, &e), 0);
}

static void a_process_in_strict_mode(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_equal(checked(STRICT, CONFINED_STOP, &e), -EACCES);
	assert_true(says(&e, "has its system calls filtered (seccomp)"));
	assert_true(says(&e, "strict mode"));
}

/* Filters are read where that is allowed; elsewhere what is said is why not. */
static void processes_with_filters(void **state)
{
	struct err e = { 0 };
	int rc = checked(ALLOWS_ALL, CONFINED_ATTACH, &e);

	(void)state;
	if (rc) {
		assert_int_equal(rc, -EACCES);
		assert_true(says(&e, "has its system calls filtered (seccomp)"));
		assert_true(says(&e, "root") || says(&e, "containers") ||
			    says(&e, "kernel does not let"));
		skip();
	}
	assert_string_equal(e.text, "");
	assert_int_equal(checked(KILLS_MADVISE, CONFINED_STOP, &e), 0);
	assert_int_equal(checked(KILLS_MADVISE, CONFINED_ATTACH, &e), -EACCES);
	assert_true(says(&e, "does not simply allow 'madvise'"));
	assert_int_equal(checked(TWO_FILTERS, CONFINED_COPY, &e), 0);
	assert_int_equal(checked(TWO_FILTERS, CONFINED_ATTACH, &e), -EACCES);
	assert_true(says(&e, "does not simply allow 'madvise'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts),
		cmocka_unit_test(each_call),
		cmocka_unit_test(no_filter),
		cmocka_unit_test(by_use),
		cmocka_unit_test(a_process_without_a_filter),
		cmocka_unit_test(a_process_in_strict_mode),
		cmocka_unit_test(processes_with_filters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
