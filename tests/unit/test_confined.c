/* src/target/confined.c: which filters let pmm do its work. */
#include <sys/syscall.h>

#include "tests/unit/unit.h"

#include <linux/seccomp.h>

#include "src/target/confined.h"

/* Everything is allowed but one system call, which gets this verdict. */
static const char *refused_to(enum confined_use use, uint32_t nr, uint32_t verdict)
{
	const struct sock_filter v[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, verdict), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
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
		SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP, SECCOMP_RET_TRACE, SECCOMP_RET_USER_NOTIF,
		SECCOMP_RET_ERRNO, 0x12340000,
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
	static const struct { uint32_t nr; const char *name; } must[] = {
		{ SYS_memfd_create, "memfd_create" }, { SYS_mmap, "mmap" }, { SYS_mprotect, "mprotect" }, { SYS_munmap, "munmap" },
		{ SYS_close, "close" }, { SYS_rt_sigreturn, "rt_sigreturn" }, { SYS_restart_syscall, "restart_syscall" }, { SYS_brk, "brk" },
		{ SYS_rt_sigprocmask, "rt_sigprocmask" }, { SYS_getpid, "getpid" }, { SYS_getppid, "getppid" }, { SYS_gettid, "gettid" },
		{ SYS_clock_gettime, "clock_gettime" }, { SYS_tgkill, "tgkill" }, { SYS_sigaltstack, "sigaltstack" },
		{ SYS_pread64, "pread64" }, { SYS_process_vm_readv, "process_vm_readv" },
	};
	static const uint32_t may[] = { SYS_openat, SYS_read, SYS_readlink, SYS_prctl, SYS_prlimit64, SYS_sched_yield };

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
	const struct sock_filter v = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), args = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 16);

	(void)state;
	assert_string_equal(confined_refuses(CONFINED_ATTACH, &v, 1), "");
	assert_string_equal(confined_refuses(CONFINED_ATTACH, &args, 1), "memfd_create");
}

static void by_use(void **state)
{
	static const struct { uint32_t nr; const char *name; } must[] = {
		{ SYS_rt_sigreturn, "rt_sigreturn" }, { SYS_restart_syscall, "restart_syscall" }, { SYS_exit_group, "exit_group" },
		{ SYS_wait4, "wait4" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(must) / sizeof(must[0]); i++)
		assert_string_equal(refused_to(CONFINED_COPY, must[i].nr, SECCOMP_RET_ERRNO | 1), must[i].name);
	assert_null(refused_to(CONFINED_COPY, SYS_clone, SECCOMP_RET_ERRNO | 1));
	assert_string_equal(refused_to(CONFINED_COPY, SYS_clone, SECCOMP_RET_KILL_PROCESS), "clone");
	assert_null(refused_to(CONFINED_COPY, SYS_memfd_create, SECCOMP_RET_KILL_PROCESS));
	assert_string_equal(refused_to(CONFINED_STOP, SYS_restart_syscall, SECCOMP_RET_KILL_PROCESS), "restart_syscall");
	assert_null(refused_to(CONFINED_STOP, SYS_clone, SECCOMP_RET_KILL_PROCESS));
	assert_string_equal(refused_to(CONFINED_ASK, SYS_sigaltstack, SECCOMP_RET_KILL_PROCESS), "sigaltstack");
	assert_null(refused_to(CONFINED_ASK, SYS_sigaltstack, SECCOMP_RET_ERRNO | 1));
	assert_string_equal(refused_to(CONFINED_ASK, SYS_rt_sigreturn, SECCOMP_RET_ERRNO | 1), "rt_sigreturn");
	assert_null(refused_to(CONFINED_ASK, SYS_clone, SECCOMP_RET_KILL_PROCESS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts), cmocka_unit_test(each_call), cmocka_unit_test(no_filter),
		cmocka_unit_test(by_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
