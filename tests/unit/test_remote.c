/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a diverted thread comes back by: restarted system calls, the signal frame, the instructions
 * found in a program. Also of src/ptrace/gadget.c, process_memory.c, seize.c.
 */
#include "tests/unit/unit.h"
#include <fcntl.h>
#include <sys/mman.h>

#include <sys/syscall.h>
#include <unistd.h>

#include "arch/remote_arch.h"
#include "src/ptrace/gadget.h"
#include "src/ptrace/stop.h"
#include "src/proc/task.h"

static struct user_regs_struct in_call(long nr, long result)
{
	return (struct user_regs_struct){ .rip = 1000,
					  .rsp = 0x7ffff800,
					  .orig_rax = (unsigned long)nr,
					  .rax = (unsigned long)result };
}

static void rewinds(long nr, long result, unsigned long rip, long rax)
{
	struct user_regs_struct r = in_call(nr, result);

	arch_rewind(&r);
	assert_int_equal(r.rip, rip);
	assert_int_equal((long)r.rax, rax);
	assert_int_equal((long)r.orig_rax, -1);
}

static void interrupted_calls_begin_again(void **state)
{
	(void)state;
	rewinds(SYS_read, -512, 998, SYS_read);
	rewinds(SYS_read, -513, 998, SYS_read);
	rewinds(SYS_pause, -514, 998, SYS_pause);
	rewinds(SYS_nanosleep, -516, 998, SYS_nanosleep);
	rewinds(SYS_read, -EINTR, 1000, -EINTR);
	rewinds(SYS_read, 0, 1000, 0);
	rewinds(SYS_read, -EAGAIN, 1000, -EAGAIN);
	rewinds(-1, -512, 1000, -512);	/* no system call: just a number in a register */
}

static long made_restart(long nr, long result)
{
	struct user_regs_struct r = in_call(nr, result);

	return arch_restart_unless_handled(&r) ? (long)r.rax : 0;
}

static void calls_that_a_stop_fails_begin_again(void **state)
{
	(void)state;
	assert_int_equal(made_restart(SYS_epoll_wait, -EINTR), -514);
	assert_int_equal(made_restart(SYS_semop, -EINTR), -514);
	assert_int_equal(made_restart(SYS_recvfrom, -EINTR), -514);
	assert_int_equal(made_restart(SYS_epoll_wait, -EBADF), 0);
	assert_int_equal(made_restart(SYS_epoll_wait, 1), 0);
	assert_int_equal(made_restart(SYS_close, -EINTR), 0);	/* has closed it all the same */
	assert_int_equal(made_restart(SYS_nanosleep, -EINTR), 0);
	assert_int_equal(made_restart(-1, -EINTR), 0);
}

static void a_restarted_call_is_named_by_its_code(void **state)
{
	const uint8_t poll[] = { 0xb8, 7, 0, 0, 0, 0x0f, 0x05, 0x90, 0x90 },
		      other[] = { 0x90, 7, 0, 0, 0, 0x0f, 0x05, 0x90, 0x90 };
	const uint8_t before[] = { 0x90, 0x90, 0xb8, 0x0e, 1, 0, 0, 0x0f, 0x05 };
	struct user_regs_struct r = in_call(SYS_restart_syscall, -516);

	(void)state;
	arch_name_restarted(&r, other);
	arch_name_restarted(&r, before);
	assert_int_equal(r.orig_rax, SYS_restart_syscall);
	arch_name_restarted(&r, poll);
	assert_int_equal(r.orig_rax, SYS_poll);

	/* made to restart, and stopped again before it did */
	r = in_call(SYS_pselect6, SYS_restart_syscall);
	arch_name_restarted(&r, poll);
	assert_int_equal(r.rax, SYS_restart_syscall);
	arch_name_restarted(&r, before);
	assert_int_equal(r.rax, SYS_pselect6);
	assert_int_equal(r.orig_rax, SYS_pselect6);
	r.rax = 12;
	arch_name_restarted(&r, before);
	assert_int_equal(r.rax, 12);
}

static uint32_t word(const struct arch_frame *f, uint64_t address)
{
	uint32_t value;

	memcpy(&value, f->bytes + (address - f->address), sizeof(value));
	return value;
}

/* As the kernel wants it: arch/x86/kernel/signal_64.c, fpu/signal.c. */
static void the_frame_is_one_of_the_kernels(void **state)
{
	static struct arch_xstate x = { .nr = 2696 };
	static struct arch_frame f;
	struct user_regs_struct r = in_call(SYS_read, -512);
	const uint64_t features = 0xe7, in_use = 7, way[2] = { 0x1234, 0x5678 };
	struct arch_ucontext *c;
	uint64_t fp;

	(void)state;
	memcpy(x.image + ARCH_XSTATE_SW, &features, 8);
	memcpy(x.image + ARCH_XSTATE_BV, &in_use, 8);
	r.rbx = 77;
	r.cs = 0x33;
	r.ss = 0x2b;
	arch_frame(&r, 0xabcd, &x, way, 2, &f);
	assert_int_equal(f.context % 16, 0);
	assert_int_equal(f.context - f.address, sizeof(way));
	assert_memory_equal(f.bytes, way, sizeof(way));
	c = (struct arch_ucontext *)(f.bytes + sizeof(way));
	fp = c->fpstate;
	assert_int_equal(fp % 64, 0);
	assert_true(f.address + f.nr <= r.rsp - ARCH_RED_ZONE);
	assert_true(fp >= f.context + sizeof(*c));
	assert_int_equal(c->rip, 998);
	assert_int_equal(c->rax, SYS_read);
	assert_int_equal(c->rsp, r.rsp);
	assert_int_equal(c->rbx, 77);
	assert_int_equal(c->cs, 0x33);
	assert_int_equal(c->ss, 0x2b);
	assert_int_equal(c->sigmask, 0xabcd);
	assert_int_equal(word(&f, fp + 464), ARCH_XSTATE_MAGIC1);
	assert_int_equal(word(&f, fp + 472), 7);
	assert_int_equal(word(&f, fp + 480), arch_xstate_used(&x));
	assert_int_equal(word(&f, fp + 468), arch_xstate_used(&x) + 4);
	assert_int_equal(word(&f, fp + arch_xstate_used(&x)), ARCH_XSTATE_MAGIC2);
}

static void our_own_code_has_the_instructions(void **state)
{
	uint8_t code[sizeof(arch_sigreturn)];
	struct gadget g;

	(void)state;
	assert_int_equal(gadget_find(getpid(), &g, NULL), 0);
	assert_int_equal(stop_read(getpid(), g.syscall_ret, code, sizeof(arch_syscall_ret)), 0);
	assert_memory_equal(code, arch_syscall_ret, sizeof(arch_syscall_ret));
	assert_int_not_equal(g.sigreturn, 0);
	assert_int_equal(stop_read(getpid(), g.sigreturn, code, sizeof(arch_sigreturn)), 0);
	assert_true(!memcmp(code, arch_sigreturn, sizeof(arch_sigreturn)) ||
		    !memcmp(code, arch_sigreturn_short, sizeof(arch_sigreturn_short)));
}

static const char constant[] = "as it was";

static void memory_is_read_and_written_whole_or_not_at_all(void **state)
{
	char text[16] = "";
	uint64_t last = (uint64_t)(uintptr_t)constant;

	(void)state;
	assert_int_equal(stop_read(getpid(), last, text, sizeof(constant)), 0);
	assert_string_equal(text, "as it was");
	/* the page is read-only */
	assert_int_equal(stop_write(getpid(), last, "also const", 9), 0);
	assert_memory_equal((const char *)(uintptr_t)last, "also cons", 9);
	assert_int_equal(stop_write(getpid(), last, "as it was", 9), 0);
	assert_int_equal(stop_read(getpid(), 16, text, sizeof(text)), -EFAULT);
	assert_int_equal(stop_write(getpid(), 16, text, sizeof(text)), -EFAULT);
	assert_int_equal(stop_read(4194304, last, text, 1), -ESRCH);
}

static void tasks_are_as_proc_has_them(void **state)
{
	struct task_list list = { 0 };
	uint64_t value;

	(void)state;
	assert_int_equal(task_list(getpid(), &list), 0);
	assert_int_equal(list.tids.nr, 1);
	assert_int_equal(list.tids.v[0], getpid());
	vec_fini(&list.tids);
	assert_int_equal(task_list(4194304, &list), -ESRCH);
	vec_fini(&list.tids);
	assert_int_equal(task_live(getpid()), getpid());
	assert_int_equal(task_status(getpid(), getpid(), "PPid", 10, &value), 0);
	assert_int_equal(value, getppid());
	assert_int_equal(task_stat(getpid(), getpid(), 4, &value), 0);
	assert_int_equal(value, getppid());
	assert_int_equal(task_status(getpid(), 0, "Nothing", 10, &value), -ENODATA);
	assert_int_equal(task_tracer(getpid(), getpid()), 0);
	assert_true(task_ended(4194304, 4194304));
}

/* What can be read from there on, page by page where the quick way does not go, and no further. */
static void memory_is_read_as_far_as_there_is_any(void **state)
{
	static char got[4 * 4096];
	char *at = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int mem = open("/proc/self/mem", O_RDONLY);

	(void)state;
	assert_true(mem >= 0);
	memset(at, 'a', 4 * 4096);
	mprotect(at + 4096, 4096, PROT_NONE);		/* the program itself may not */
	munmap(at + 3 * 4096, 4096);
	assert_int_equal(stop_read_some(getpid(), mem, (uint64_t)at + 100, got, sizeof(got) - 100),
			 3 * 4096 - 100);
	assert_memory_equal(got, at + 2 * 4096, 4096);
	assert_int_equal(got[3 * 4096 - 101], 'a');
	assert_int_equal(got[3 * 4096 - 100], 0);
	assert_int_equal(stop_read_some(getpid(), -1, (uint64_t)at + 100, got, 8000), 3996);
	assert_int_equal(stop_read_some(getpid(), mem, (uint64_t)at + 4096 + 50, got, 5), 5);
	assert_int_equal(stop_read_some(getpid(), -1, (uint64_t)at + 4096, got, 5), 0);
	assert_int_equal(stop_read_some(getpid(), mem, (uint64_t)at + 3 * 4096, got, 5), 0);
	assert_int_equal(stop_read_some(getpid(), mem, (uint64_t)at, got, 0), 0);
	close(mem);
	munmap(at, 3 * 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interrupted_calls_begin_again),
		cmocka_unit_test(calls_that_a_stop_fails_begin_again),
		cmocka_unit_test(a_restarted_call_is_named_by_its_code),
		cmocka_unit_test(the_frame_is_one_of_the_kernels),
		cmocka_unit_test(our_own_code_has_the_instructions),
		cmocka_unit_test(memory_is_read_and_written_whole_or_not_at_all),
		cmocka_unit_test(memory_is_read_as_far_as_there_is_any),
		cmocka_unit_test(tasks_are_as_proc_has_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
