/* SPDX-License-Identifier: MIT */
/*
 * System calls and small helpers of the agent. No libc: nothing here touches errno, locks or the
 * heap.
 */
#ifndef AGENT_SYS_H
#define AGENT_SYS_H

#include <stddef.h>
#include <stdint.h>

#include "arch/agent_arch.h"

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

#define SYS_PROT_NONE		0
#define SYS_PROT_READ		1
#define SYS_PROT_WRITE		2
#define SYS_MAP_SHARED		0x01
#define SYS_MAP_PRIVATE		0x02
#define SYS_MAP_ANONYMOUS	0x20
#define SYS_MAP_NORESERVE	0x4000
#define SYS_MADV_DONTNEED	4
#define SYS_MADV_DONTFORK	10
#define SYS_MADV_NOHUGEPAGE	15
#define SYS_MADV_DONTDUMP	16
#define SYS_MADV_DODUMP		17
#define SYS_MADV_WIPEONFORK	18
#define SYS_MADV_POPULATE_WRITE	23
#define SYS_MADV_GUARD_INSTALL	102	/* 6.13 */
#define SYS_MADV_GUARD_REMOVE	103
#define SYS_PIDFD_SELF		(-10000)	/* 6.14 */
#define SYS_CLOCK_MONOTONIC_COARSE 6
/* rt_sigprocmask(): as in <signal.h>, which is not for who links nothing */
#define SYS_SIG_BLOCK		0
#define SYS_SIG_UNBLOCK		1
#define SYS_SIG_SETMASK		2
#define SYS_CLOCK_REALTIME	0
#define SYS_CLOCK_MONOTONIC	1
#define SYS_FUTEX_WAKE_OP_PRIVATE 133
#define SYS_FUTEX_ADD_0		(1 << 28)
#define SYS_EINTR		4
#define SYS_EAGAIN		11
#define SYS_EINVAL		22
#define SYS_ESRCH		3
#define SYS_O_RDONLY		0
#define SYS_O_CLOEXEC		02000000
#define SYS_AT_FDCWD		(-100)

#define sys0(nr)		arch_syscall(ARCH_SYS_##nr, 0, 0, 0, 0, 0, 0)
#define sys1(nr, a)		arch_syscall(ARCH_SYS_##nr, (long)(a), 0, 0, 0, 0, 0)
#define sys2(nr, a, b)		arch_syscall(ARCH_SYS_##nr, (long)(a), (long)(b), 0, 0, 0, 0)
#define sys3(nr, a, b, c)							\
	arch_syscall(ARCH_SYS_##nr, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define sys4(nr, a, b, c, d)                                                                       \
	arch_syscall(ARCH_SYS_##nr, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

static inline bool sys_failed(long ret)
{
	return (unsigned long)ret > -4096ul;
}

/* Map memory; NULL on failure. */
static inline void *sys_mmap(size_t bytes, int prot, int flags, int fd)
{
	long ret = arch_syscall(ARCH_SYS_mmap, 0, (long)bytes, prot, flags, fd, 0);

	return sys_failed(ret) ? NULL : (void *)ret;
}

static inline int sys_open(const char *path, int flags)
{
	return (int)sys4(openat, SYS_AT_FDCWD, path, flags | SYS_O_CLOEXEC, 0);
}

/* Nanoseconds of a clock. */
static inline uint64_t sys_clock_ns(int clock)
{
	int64_t ts[2] = { 0, 0 };

	sys2(clock_gettime, clock, ts);
	return (uint64_t)ts[0] * 1000000000u + (uint64_t)ts[1];
}

/* Some time later; a signal may be sooner. */
static inline void sys_sleep_ns(uint64_t ns)
{
	int64_t ts[2] = { (int64_t)(ns / 1000000000u), (int64_t)(ns % 1000000000u) };

	arch_syscall(ARCH_SYS_ppoll, 0, 0, (long)ts, 0, 0, 0);
}

/*
 * Is the page at this address readable? Asks the kernel to read 8 bytes there; `how` is invalid, so
 * nothing changes.
 */
static inline bool sys_readable(uintptr_t address)
{
	return sys4(rt_sigprocmask, -1, address, 0, 8) == -SYS_EINVAL;
}

/*
 * Words that others may read or write at the same time. LOAD, STORE and ADD order nothing else.
 * LOAD_ACQUIRE and CAS of a word pair with the STORE_RELEASE and CAS of the same word: who loads
 * what was stored sees all that the storing thread did before, on every processor. Whatever else
 * relies on an order, through fences or over several words, says so where it is.
 */
#define LOAD(p)			__atomic_load_n(&(p), __ATOMIC_RELAXED)
#define STORE(p, v)		__atomic_store_n(&(p), (v), __ATOMIC_RELAXED)
#define LOAD_ACQUIRE(p)		__atomic_load_n(&(p), __ATOMIC_ACQUIRE)
#define STORE_RELEASE(p, v)	__atomic_store_n(&(p), (v), __ATOMIC_RELEASE)
#define ADD(p, v)		__atomic_fetch_add(&(p), (v), __ATOMIC_RELAXED)
#define CAS(p, expected, v)	__atomic_compare_exchange_n(&(p), &(expected), (v), false, \
							    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

static inline size_t str_length(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

static inline bool str_equal(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static inline bool str_starts(const char *s, const char *prefix)
{
	while (*prefix && *s == *prefix)
		s++, prefix++;
	return !*prefix;
}

/* Read a number in base 10 or 16 (small letters) from the start of s; returns where it ends. */
static inline const char *str_number(const char *s, unsigned base, uint64_t *out)
{
	uint64_t n = 0;

	for (;; s++) {
		unsigned digit = *s >= '0' && *s <= '9' ? (unsigned)(*s - '0') :
				 *s >= 'a' && *s <= 'f' ? (unsigned)(*s - 'a' + 10) : 99;

		if (digit >= base)
			break;
		n = n * base + digit;
	}
	*out = n;
	return s;
}

/* gcc may call these by itself; hidden, so that the process's own are neither used nor replaced. */
__attribute__((visibility("hidden"))) void *memcpy(void *restrict to, const void *restrict from,
						   size_t bytes);
__attribute__((visibility("hidden"))) void *memset(void *to, int byte, size_t bytes);

#endif
