/* SPDX-License-Identifier: MIT */
/*
 * x86-64, seen from a tracer: what a stopped thread's registers say about the system call it was
 * in.
 */
#ifndef ARCH_X86_64_STOP_ARCH_H
#define ARCH_X86_64_STOP_ARCH_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "arch/regs_arch.h"

/* The kernel's own codes, never seen by a program (linux/errno.h). */
#define ARCH_ERESTARTSYS		512
#define ARCH_ERESTARTNOINTR		513
#define ARCH_ERESTARTNOHAND		514
#define ARCH_ERESTART_RESTARTBLOCK	516

/* Is it in a timed call, to be continued by restart_syscall? */
static inline bool arch_continues_timed(const struct user_regs_struct *r)
{
	return (long)r->orig_rax >= 0 && (long)r->rax == -ARCH_ERESTART_RESTARTBLOCK;
}

/* The system call that was interrupted by the stop, -1 = none. */
static inline long arch_interrupted(const struct user_regs_struct *r)
{
	unsigned long error = -(unsigned long)r->rax;

	if ((long)r->orig_rax < 0)
		return -1;
	return error == EINTR || error == ARCH_ERESTARTSYS || error == ARCH_ERESTARTNOINTR ||
			       error == ARCH_ERESTARTNOHAND || error == ARCH_ERESTART_RESTARTBLOCK
		       ? (long)r->orig_rax
		       : -1;
}

/*
 * Calls that fail with EINTR when their thread is stopped, though no signal handler ran (signal(7),
 * "Interruption of system calls and library functions by stop signals"), and have done nothing yet
 * when they do. Those on sockets and terminals do so only with a timeout.
 */
static inline bool arch_fails_when_stopped(long nr)
{
	switch (nr) {
	case SYS_epoll_wait: case SYS_epoll_pwait: case SYS_epoll_pwait2:
	case SYS_semop: case SYS_semtimedop: case SYS_rt_sigtimedwait:
	case SYS_io_getevents: case SYS_io_pgetevents: case SYS_io_uring_enter:
	case SYS_read: case SYS_readv: case SYS_write: case SYS_writev:
	case SYS_recvfrom: case SYS_recvmsg: case SYS_recvmmsg:
	case SYS_sendto: case SYS_sendmsg: case SYS_accept: case SYS_accept4:
		return true;
	}
	return false;
}

/*
 * Make such a call one that starts again unless a signal handler is to run: exactly what happens
 * without the stop, but that a timeout starts anew. Returns whether anything was changed.
 */
static inline bool arch_restart_unless_handled(struct user_regs_struct *r)
{
	if ((long)r->orig_rax < 0 || (long)r->rax != -EINTR ||
	    !arch_fails_when_stopped((long)r->orig_rax))
		return false;
	r->rax = (unsigned long)-ARCH_ERESTARTNOHAND;
	return true;
}

/*
 * Set a call that the kernel would start again back to its beginning, as plain registers that need
 * no kernel for that.
 */
static inline void arch_rewind(struct user_regs_struct *r)
{
	long nr = arch_interrupted(r);

	if (nr >= 0 && (long)r->rax != -EINTR) {
		r->rip -= 2;	/* syscall: 0f 05 */
		r->rax = r->orig_rax;
	}
	r->orig_rax = (unsigned long)-1;
}

/*
 * Bytes before the return of a system call that say which it was: mov $nr, %eax; syscall. And those
 * of the instruction that comes next.
 */
#define ARCH_CALL_BYTES 7
#define ARCH_NEXT_BYTES 2

/* mov $nr, %eax: the number, -1 = it is something else. */
static inline long arch_call_number(const uint8_t *code)
{
	return code[0] == 0xb8 && code[2] < 2 && !code[3] && !code[4]
		       ? (long)(code[1] | (unsigned)code[2] << 8)
		       : -1;
}

/*
 * A timed call that was interrupted before is restart_syscall by now, and what it restarts is lost
 * with the kernel's signal frame. Where the code says which call it was it can begin anew: it waits
 * too long then rather than failing with EINTR. The thread is behind the call, or before it
 * where it has not come so far since it was made to restart. `code`: the bytes around its rip.
 */
static inline void arch_name_restarted(struct user_regs_struct *r,
				       const uint8_t code[ARCH_CALL_BYTES + ARCH_NEXT_BYTES])
{
	const uint8_t *next = code + ARCH_CALL_BYTES;
	const long behind = arch_call_number(code),
		   before = arch_call_number(code + ARCH_NEXT_BYTES);

	if (r->rax == SYS_restart_syscall && next[0] == 0x0f && next[1] == 0x05 && before >= 0)
		r->rax = (unsigned long)before;
	else if ((long)r->orig_rax == SYS_restart_syscall && behind >= 0)
		r->orig_rax = (unsigned long)behind;
}

/* The arguments of the system call that the thread is in. */
static inline void arch_syscall_args(const struct user_regs_struct *r, uint64_t args[6])
{
	const uint64_t all[6] = { r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9 };

	for (unsigned i = 0; i < 6; i++)
		args[i] = all[i];
}

/*
 * How well a thread that is in this system call bears being used for others, from outside
 * (/proc/PID/task/TID/syscall): 0 best. A timed call continues correctly as long as we live.
 */
static inline unsigned arch_rank_syscall(long nr, const uint64_t args[6])
{
	switch (nr) {
	case SYS_futex:
		return args[3] ? 1 : 0;	/* with a time limit */
	case SYS_read:
	case SYS_readv:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_accept:
	case SYS_accept4:
	case SYS_wait4: case SYS_waitid: case SYS_pause: case SYS_rt_sigsuspend: case SYS_flock:
		return 0;
	case SYS_clock_nanosleep:
	case SYS_nanosleep:
	case SYS_poll:
	case SYS_ppoll:
	case SYS_select:
	case SYS_pselect6:
	case SYS_epoll_wait: case SYS_epoll_pwait: case SYS_rt_sigtimedwait:
		return 1;
	}
	return 3;
}

#define ARCH_RANK_WORST		3
#define ARCH_RANK_RUNNING	2	/* a thread that is in no system call */

#endif
