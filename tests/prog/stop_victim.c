/* SPDX-License-Identifier: GPL-2.0-or-later
 * Threads that check their own results: no call fails with EINTR, no wait ends early, no signal, byte or register is lost. Works until
 * standard input ends; then prints "right" and exits with 7, or says what was wrong and exits with 1.
 * With an argument, calls that fail with EINTR after a stop that we cannot hide (signal(7)) may do so: SIGSTOP, a tracer that is killed.
 * With the argument vfork, one more thread waits for children made by vfork, which cannot be interrupted, most of the time.
 * First prints the address of a function: f(x) = 3x + 1, which spoils vector registers and makes system calls.
 */
#include <errno.h>
#include <immintrin.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000ull

static atomic_bool ended;
static atomic_int wrongs;
static atomic_ulong received;
static atomic_ulong rounds[16];
static int pipe_fd[2];
static bool stops_show;
static pthread_t storm_thread;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void wrong(const char *fmt, ...)
{
	va_list args;

	if (atomic_fetch_add(&wrongs, 1) > 20)
		return;
	va_start(args, fmt);
	vfprintf(stdout, fmt, args);
	va_end(args);
	fputc('\n', stdout);
}

/* A wait that must have taken at least `ns` and have come to `result` (and errno). */
static void waited(const char *what, uint64_t since, uint64_t ns, long result, long expected, int error)
{
	int e = errno;
	uint64_t took = now() - since;

	if (result != expected || (result < 0 && e != error))
		wrong("%s: result %ld, %s", what, result, result < 0 ? strerror(e) : "-");
	if (took < ns)
		wrong("%s: took %lu us instead of %lu", what, took / 1000, ns / 1000);
}

/* As waited(), of a call that a stop may have interrupted. */
static void may_be_interrupted(const char *what, uint64_t since, uint64_t ns, long result, long expected, int error)
{
	if (!stops_show || result != -1 || errno != EINTR)
		waited(what, since, ns, result, expected, error);
}

static void *vforks(void *arg)
{
	for (; !ended; ++*(atomic_ulong *)arg) {
		pid_t child = vfork();
		int status;

		if (!child) {
			nanosleep(&(struct timespec){ .tv_nsec = 50 * MS }, NULL);
			_exit(0);
		}
		if (waitpid(child, &status, 0) != child || status)
			wrong("child: %s, status %#x", strerror(errno), status);
		nanosleep(&(struct timespec){ .tv_nsec = 5 * MS }, NULL);
	}
	return NULL;
}

static void *sleeps(void *arg)
{
	for (; !ended; ++*(atomic_ulong *)arg) {
		uint64_t t = now();

		waited("nanosleep", t, 3 * MS, nanosleep(&(struct timespec){ .tv_nsec = 3 * MS }, NULL), 0, 0);
	}
	return NULL;
}

static void *polls(void *arg)
{
	for (; !ended; ++*(atomic_ulong *)arg) {
		uint64_t t = now();

		waited("poll", t, 4 * MS, poll(NULL, 0, 4), 0, 0);
		t = now();
		waited("ppoll", t, 2 * MS, ppoll(NULL, 0, &(struct timespec){ .tv_nsec = 2 * MS }, NULL), 0, 0);
	}
	return NULL;
}

static void *futexes(void *arg)
{
	uint32_t word = 1;

	for (; !ended; ++*(atomic_ulong *)arg) {
		uint64_t t = now();

		/* syscall() does not say in its code which call it makes: one that was restarted cannot begin anew when a tracer is killed */
		may_be_interrupted("futex", t, 3 * MS, syscall(SYS_futex, &word, FUTEX_WAIT, 1,
							       &(struct timespec){ .tv_nsec = 3 * MS }, NULL, 0), -1, ETIMEDOUT);
	}
	return NULL;
}

static void *epolls(void *arg)
{
	int fd = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
	struct itimerspec every = { .it_value.tv_nsec = 3 * MS };
	struct epoll_event event = { .events = EPOLLIN };
	uint64_t n;

	epoll_ctl(fd, EPOLL_CTL_ADD, timer, &event);
	for (; !ended; ++*(atomic_ulong *)arg) {
		uint64_t t = now();

		timerfd_settime(timer, 0, &every, NULL);
		may_be_interrupted("epoll_wait", t, 3 * MS, epoll_wait(fd, &event, 1, -1), 1, 0);
		waited("timerfd", t, 3 * MS, read(timer, &n, sizeof(n)), 8, 0);
		t = now();
		may_be_interrupted("epoll_wait timeout", t, 2 * MS, epoll_wait(fd, &event, 1, 2), 0, 0);
	}
	return NULL;
}

/*
 * A socket's time limit counts the kernel's ticks (schedule_timeout()), and where the CPU that counts them was not run for a while (a virtual
 * machine), some come at once: a wait of three ticks may then be shorter than one. The coarse clock goes by the same ticks.
 */
static uint64_t tick_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t less_a_tick(uint64_t ns)
{
	struct timespec tick;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return ns > (uint64_t)tick.tv_nsec ? ns - (uint64_t)tick.tv_nsec : 0;
}

/* A recv() that has nothing to receive, and comes back after `limit_ns`. */
static void receive_nothing(int fd, uint64_t limit_ns)
{
	uint64_t t = tick_now(), took;
	char c;
	ssize_t n = recv(fd, &c, 1, 0);
	int e = errno;

	took = tick_now() - t;
	if (stops_show && n == -1 && e == EINTR)
		return;
	if (n != -1 || e != EAGAIN)
		wrong("recv: result %zd, %s", n, n < 0 ? strerror(e) : "-");
	if (took < less_a_tick(limit_ns))
		wrong("recv: took %lu us instead of %lu", took / 1000, limit_ns / 1000);
}

static void *odd_waits(void *arg)
{
	struct timeval limit = { .tv_usec = 3000 };
	sigset_t set;
	int pair[2];

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	for (; !ended; ++*(atomic_ulong *)arg) {
		uint64_t t;

		receive_nothing(pair[0], 3 * MS);
		t = now();
		may_be_interrupted("sigtimedwait", t, 3 * MS, sigtimedwait(&set, NULL, &(struct timespec){ .tv_nsec = 3 * MS }), -1, EAGAIN);
	}
	return NULL;
}

static void *reads(void *arg)
{
	for (uint32_t expected = 0; ; expected++, ++*(atomic_ulong *)arg) {
		uint32_t got = 0;
		ssize_t n = read(pipe_fd[0], &got, sizeof(got));

		if (!n)
			return NULL;
		if (n != sizeof(got) || got != expected) {
			wrong("pipe: read %zd, %u instead of %u, %s", n, got, expected, strerror(errno));
			return NULL;
		}
	}
}

static void *writes(void *arg)
{
	for (uint32_t n = 0; !ended; n++, ++*(atomic_ulong *)arg) {
		if (write(pipe_fd[1], &n, sizeof(n)) != sizeof(n))
			wrong("pipe: write: %s", strerror(errno));
		for (volatile int i = 0; i < (int)(n % 5000); i++)
			;
		if (n % 64 == 0)
			nanosleep(&(struct timespec){ .tv_nsec = MS }, NULL);
	}
	close(pipe_fd[1]);
	return NULL;
}

/* Eight ymm registers, x87 and all general registers that the compiler leaves, over a spin. */
__attribute__((target("avx2"))) static void spin_avx(const uint8_t *in, uint8_t *out, long turns)
{
	__asm__ volatile("vmovdqu (%1), %%ymm0\nvmovdqu 32(%1), %%ymm3\nvmovdqu 64(%1), %%ymm7\nvmovdqu 96(%1), %%ymm12\n"
			 "vmovdqu 128(%1), %%ymm15\nfldl (%1)\nfldl 8(%1)\n"
			 "mov $0x1122334455667788, %%r12\nmov $0x99aabbccddeeff00, %%r13\n"
			 "1: dec %0\njnz 1b\n"
			 "vmovdqu %%ymm0, (%2)\nvmovdqu %%ymm3, 32(%2)\nvmovdqu %%ymm7, 64(%2)\nvmovdqu %%ymm12, 96(%2)\n"
			 "vmovdqu %%ymm15, 128(%2)\nfstpl 168(%2)\nfstpl 160(%2)\nmov %%r12, 176(%2)\nmov %%r13, 184(%2)\nvzeroupper\n"
			 : "+r"(turns) : "r"(in), "r"(out)
			 : "memory", "cc", "r12", "r13", "xmm0", "xmm3", "xmm7", "xmm12", "xmm15", "st", "st(1)");
}

static void *computes(void *arg)
{
	uint8_t in[192], out[192];

	for (uint32_t n = 1; !ended; n++, ++*(atomic_ulong *)arg) {
		for (unsigned i = 0; i < 160; i++)
			in[i] = (uint8_t)(n * 31 + i * 7);
		for (unsigned i = 0; i < 2; i++) {
			double d = n + i;

			memcpy(in + 8 * i, &d, 8);
			memcpy(in + 160 + 8 * i, &d, 8);
		}
		memcpy(in + 176, &(uint64_t){ 0x1122334455667788 }, 8);
		memcpy(in + 184, &(uint64_t){ 0x99aabbccddeeff00 }, 8);
		memset(out, 0, sizeof(out));
		spin_avx(in, out, 20000);
		if (memcmp(in, out, sizeof(in)))
			wrong("registers spoilt in round %u", n);
	}
	return NULL;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if (info->si_code != SI_QUEUE || info->si_value.sival_int != (int)received)
		wrong("signal: code %d value %d instead of %d", info->si_code, info->si_value.sival_int, (int)received);
	received++;
}

static void *gets_signals(void *arg)
{
	(void)arg;
	while (!ended)
		sched_yield();
	return NULL;
}

static void *sends_signals(void *arg)
{
	atomic_ulong *sent = arg;

	while (!ended) {
		if (!pthread_sigqueue(storm_thread, SIGRTMIN + 2, (union sigval){ .sival_int = (int)*sent }))
			++*sent;
		while (*sent - received > 200 && !ended)
			sched_yield();
		if (*sent % 100 == 0)
			nanosleep(&(struct timespec){ .tv_nsec = MS }, NULL);
	}
	return NULL;
}

long spoil(uint64_t x);
__attribute__((noinline, target("avx2"))) long spoil(uint64_t x)
{
	__asm__ volatile("vpcmpeqd %%ymm0, %%ymm0, %%ymm0\nvmovdqa %%ymm0, %%ymm3\nvmovdqa %%ymm0, %%ymm7\nvmovdqa %%ymm0, %%ymm12\n"
			 "vmovdqa %%ymm0, %%ymm15\nfldz\nfldz\nfstp %%st(0)\nfstp %%st(0)\nvzeroupper" ::: "xmm0", "xmm3", "xmm7",
			 "xmm12", "xmm15", "st", "st(1)", "memory");
	for (int i = 0; i < 3; i++)
		syscall(SYS_getpid);
	return (long)(3 * x + 1);
}

int main(int argc, char **argv)
{
	void *(*const work[])(void *) = { vforks, sleeps, polls, futexes, epolls, odd_waits, reads, writes, computes, gets_signals, sends_signals };
	const size_t nr = sizeof(work) / sizeof(work[0]);
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
	const bool with_vfork = argc > 1 && !strcmp(argv[1], "vfork");
	pthread_t thread[16];
	ssize_t n;
	char c;

	if (!__builtin_cpu_supports("avx2")) {
		puts("this processor has no avx2");
		return 77;
	}
	stops_show = argc > 1 && !with_vfork;
	if (with_vfork) {	/* the kernel wakes threads with signals that are ignored, too, as long as one is traced: EINTR in epoll_wait */
		sigset_t child;

		sigemptyset(&child);
		sigaddset(&child, SIGCHLD);
		sigprocmask(SIG_BLOCK, &child, NULL);
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGRTMIN + 2, &action, NULL);
	if (pipe(pipe_fd))
		return 1;
	for (size_t i = !with_vfork; i < nr; i++) {
		pthread_create(&thread[i], NULL, work[i], &rounds[i]);
		if (work[i] == gets_signals)
			storm_thread = thread[i];
	}
	printf("%#lx\n", (unsigned long)(uintptr_t)spoil);
	while ((n = read(0, &c, 1)) > 0)
		;
	if (n < 0)
		wrong("read: %s", strerror(errno));
	ended = true;
	for (size_t i = !with_vfork; i < nr; i++)
		pthread_join(thread[i], NULL);
	if (received != rounds[nr - 1])
		wrong("signals: %lu of %lu", received, rounds[nr - 1]);
	for (size_t i = !with_vfork; i < nr; i++)
		if (!rounds[i] && work[i] != gets_signals)
			wrong("thread %zu did nothing", i);
	if (!wrongs)
		puts("right");
	return wrongs ? 1 : 7;
}
