/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the programs share that guests run against the kernel module: calls of /dev/pmm that return
 * -errno, and checks that say what differs. Each program has cases; it runs those that are named,
 * and its status is 1 if a check of them has failed.
 */
#ifndef KMOD_TEST_H
#define KMOD_TEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <pmm/kmod.h>

#define UNUSED __attribute__((unused))

UNUSED static int failures;

/* The actual value must be the expected one; processes share no count: a child's is its status. */
#define IS(actual, expected) check(__LINE__, #actual, (long long)(actual), (long long)(expected))

UNUSED static void check(int line, const char *what, long long actual, long long expected)
{
	if (actual == expected)
		return;
	printf("%d: line %d: %s is %lld, must be %lld\n", getpid(), line, what, actual, expected);
	fflush(stdout);
	failures++;
}

/* What the test itself needs and does not get. */
UNUSED __attribute__((noreturn)) static void die(const char *what)
{
	printf("%d: %s: %s\n", getpid(), what, strerror(errno));
	fflush(stdout);
	_exit(2);
}

UNUSED static int device(int flags)
{
	int fd = open("/dev/pmm", O_RDWR | O_CLOEXEC | flags);

	if (fd < 0)
		die("/dev/pmm");
	return fd;
}

UNUSED static long call(int fd, unsigned long number, const void *argument)
{
	long result = ioctl(fd, number, argument);

	return result < 0 ? -errno : result;
}

/* ---- records */

UNUSED static struct pmm_kmod_record record_of(int kind, uint64_t pointer, uint64_t bytes)
{
	struct pmm_kmod_record r = {
		.size = sizeof(r),
		.version = PMM_KMOD_VERSION,
		.kind = (__u16)kind,
		.pointer = pointer,
		.bytes = bytes,
	};

	return r;
}

UNUSED static long add(int fd, uint64_t pointer, uint64_t bytes)
{
	struct pmm_kmod_record r = record_of(PMM_KMOD_MALLOC, pointer, bytes);

	return call(fd, PMM_RECORD_LOG, &r);
}

UNUSED static long drop(int fd, uint64_t pointer)
{
	struct pmm_kmod_record r = record_of(PMM_KMOD_FREE, pointer, 0);

	return call(fd, PMM_RECORD_LOG, &r);
}

/* Up to `capacity` entries of a process's log from where the last call ended; how many. */
UNUSED static long read_log(int fd, int pid, unsigned int flags, struct pmm_kmod_record *to,
			    unsigned int capacity)
{
	struct pmm_kmod_log log = {
		.size = sizeof(log),
		.version = PMM_KMOD_VERSION,
		.pid = pid,
		.flags = flags,
		.capacity = capacity,
		.records = (uintptr_t)to,
	};
	long result = call(fd, PMM_READ_LOG, &log);

	return result < 0 ? result : (long)log.count;
}

/* ---- processes */

/* The list; how many there are, of which at most `capacity` are given. */
UNUSED static long list(int fd, struct pmm_kmod_process *to, unsigned int capacity)
{
	struct pmm_kmod_pids pids = {
		.size = sizeof(pids),
		.version = PMM_KMOD_VERSION,
		.capacity = capacity,
		.element_bytes = sizeof(*to),
		.processes = (uintptr_t)to,
	};
	long result = call(fd, PMM_MONITORED_PIDS, &pids);

	return result < 0 ? result : (long)pids.count;
}

/* The monitored process with this number in the list, the newest of them; all 0: there is none. */
UNUSED static struct pmm_kmod_process process_of(int fd, int pid)
{
	static struct pmm_kmod_process all[512];
	struct pmm_kmod_process found = { 0 };
	long nr = list(fd, all, 512);

	for (long i = 0; i < nr && i < 512; i++)
		if (all[i].pid == pid)
			found = all[i];
	return found;
}

/* ---- configuration */

UNUSED static struct pmm_kmod_config config_of(unsigned int set)
{
	struct pmm_kmod_config c = { .size = sizeof(c), .version = PMM_KMOD_VERSION, .set = set };

	return c;
}

/* Start, stop or clear the monitoring of a process. */
UNUSED static long monitor(int fd, unsigned int set, int pid)
{
	struct pmm_kmod_config c = config_of(set);

	c.start_pid = c.stop_pid = c.clear_pid = pid;
	return call(fd, PMM_SET_CONFIG, &c);
}

/* ---- waiting */

UNUSED static void sleep_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&t, &t))
		;
}

UNUSED static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Again and again until it holds. The limit is the guest's own limit for a test. */
#define AWAIT(condition)                                                                           \
	do {                                                                                       \
		while (!(condition))                                                               \
			sleep_ms(5);                                                               \
	} while (0)

/* The status of a child as wait() gives it. */
UNUSED static int wait_for(int pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* A child that does nothing until it is killed; it dies with its parent. */
UNUSED static int sleeper(void)
{
	int pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		for (;;)
			pause();
	}
	return pid;
}

UNUSED static void end(int pid)
{
	kill(pid, SIGKILL);
	wait_for(pid);
}

/* ---- cases */

struct test_case {
	const char *name;
	void (*run)(void);
};

/* Run those cases that are named. */
UNUSED static int run_cases(const struct test_case *cases, size_t nr, int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++) {
		size_t at = 0;

		while (at < nr && strcmp(cases[at].name, argv[i]) != 0)
			at++;
		if (at == nr) {
			printf("no case '%s'\n", argv[i]);
			return 2;
		}
		cases[at].run();
	}
	return failures ? 1 : 0;
}

#define CASES(...)                                                                                 \
	int main(int argc, char **argv)                                                            \
	{                                                                                          \
		static const struct test_case cases[] = { __VA_ARGS__ };                           \
                                                                                                   \
		return run_cases(cases, sizeof(cases) / sizeof(cases[0]), argc, argv);             \
	}

#endif
