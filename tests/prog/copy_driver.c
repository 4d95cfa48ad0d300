/* SPDX-License-Identifier: GPL-2.0-or-later
 * Drives src/ptrace/process_copy.h from the command line, for tests/cli/process_copy.bats:
 *
 *	take PID TIMES [ADDRESS]	take and let go; prints how many were copies, why others were not, the median pause in microseconds. With
 *					the address of a copy_victim's pages each is compared with what it must be
 *	hold PID [ADDRESS]		prints "copy PID" or "stopped: why", each line of standard input is answered by "intact" or "gone"
 *	read PID ADDRESS BYTES		take; prints how many bytes can be read there, and the first 8 as a number
 *	untouched PID HOW ADDRESS...	take, HOW "copied" or "held"; prints what process_copy_untouched() says of 2 GiB at each address. With
 *					"copied-6.1", "held-6.1" PAGEMAP_SCAN is not there, as in Linux 6.1
 *	left PID			process_copy_reap_leftovers(): prints their number
 *	die PID TIMES			children that take copies without end, each killed at a random moment
 *	points PID			children that take one, killed behind their first, second, ... request of the kernel; prints how
 *					many requests there are and how many copies were left behind
 *	ask PID TIMES			take, and ask the threads for their alternate stacks
 *	askpoints PID			as points, asking
 *	stopped PID TIMES		take, without a copy
 *
 * A refusal is printed as "CODE: sentence" and the hint, status 3.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/ptrace/process_copy.h"
#include "tests/prog/requests.h"

#define NR_PAIRS	4	/* of a copy_victim: pages of which the two of a pair count alike */
#define PAGE		4096

static struct err e;
static struct process_copy_options options;
static unsigned nr_left;
static bool asks;

static int refused(int rc)
{
	return requests_refused(rc, &e);
}

static uint64_t word(const struct process_copy *s, uint64_t address)
{
	uint64_t value = 0;

	if (process_copy_read(s, address, &value, sizeof(value)) != sizeof(value))
		printf("nothing to be read at %#llx\n", (unsigned long long)address);
	return value;
}

/* First all first pages, then all second ones: were this not one moment, the counters would have gone on. */
static int compare(const struct process_copy *s, uint64_t address)
{
	uint64_t first[NR_PAIRS];
	int wrong = 0;

	for (unsigned i = 0; i < NR_PAIRS; i++)
		first[i] = word(s, address + 2 * i * PAGE);
	nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
	for (unsigned i = 0; i < NR_PAIRS; i++) {
		uint64_t second = word(s, address + (2 * i + 1) * PAGE);

		if (first[i] != second && first[i] != second + 1)
			wrong += printf("pair %u: %llu and %llu\n", i, (unsigned long long)first[i], (unsigned long long)second);
	}
	if (wrong)
		printf("held %llu bytes%s\n", (unsigned long long)s->held_bytes, s->late ? ", others were read later" : "");
	return wrong ? 1 : 0;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int ask(struct process_copy *s)
{
	struct altstacks a = { 0 };
	int rc = process_copy_ask(s, &a);

	if (!rc && a.v.nr + a.nr_silent > s->threads.nr)
		rc = printf("%zu stacks, %zu silent, of %zu threads\n", a.v.nr, a.nr_silent, s->threads.nr);
	vec_fini(&a.v);
	return rc;
}

static int take(pid_t pid, unsigned times, uint64_t address)
{
	uint64_t *ns = calloc(times, sizeof(*ns));
	unsigned copies = 0;
	size_t nr = 0;

	for (unsigned i = 0; i < times; i++) {
		struct process_copy s;
		int rc = process_copy_take(pid, &options, &s, &e);

		if (!rc && address)
			rc = compare(&s, address);
		if (!rc && asks)
			rc = ask(&s);
		copies += !rc && s.copy;
		if (!rc && !s.copy && !options.no_copy)
			printf("stopped: %s\n", s.why.text);
		nr = s.threads.nr;
		ns[i] = process_copy_free(&s);
		if (rc) {
			free(ns);
			return rc < 0 ? refused(rc) : rc;
		}
	}
	qsort(ns, times, sizeof(*ns), by_value);
	printf("copies=%u threads=%zu median_us=%llu max_us=%llu\n", copies, nr, (unsigned long long)ns[times / 2] / 1000,
	       (unsigned long long)ns[times - 1] / 1000);
	free(ns);
	return 0;
}

static int hold(pid_t pid)
{
	struct process_copy s;
	int rc = process_copy_take(pid, &options, &s, &e);
	char line[80];

	if (rc)
		return refused(rc);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (s.copy)
		printf("copy %d\n", (int)s.copy);
	else
		printf("stopped: %s\n", s.why.text);
	while (fgets(line, sizeof(line), stdin))
		puts(process_copy_intact(&s) ? "intact" : "gone");
	process_copy_free(&s);
	return 0;
}

static int read_at(pid_t pid, uint64_t address, size_t bytes)
{
	struct process_copy s;
	int rc = process_copy_take(pid, &options, &s, &e);
	uint64_t *to = calloc(1, bytes + sizeof(*to));

	if (rc) {
		free(to);
		return refused(rc);
	}
	printf("%zu", process_copy_read(&s, address, to, bytes));
	printf(" %llu\n", (unsigned long long)*to);
	free(to);
	process_copy_free(&s);
	return 0;
}

/* The kernel knows no PAGEMAP_SCAN from now on (linux/fs.h: _IOWR('f', 16, 96 bytes)). */
static int grow_old(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xc0606610, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 6, filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int untouched(pid_t pid, bool old, char **addresses)
{
	struct process_copy s;
	int rc = old && grow_old() ? -ENOSYS : process_copy_take(pid, &options, &s, &e);

	if (rc)
		return refused(rc);
	for (; *addresses; addresses++)
		printf("%llu ", (unsigned long long)process_copy_untouched(&s, strtoull(*addresses, NULL, 0), 2ull << 30));
	puts(s.copy ? "copied" : "held");
	process_copy_free(&s);
	return 0;
}

static int die(pid_t pid, unsigned times)
{
	srand(1);
	for (unsigned i = 0; i < times; i++) {
		pid_t child = fork();
		int status;

		if (!child) {
			if (!freopen("/dev/null", "w", stdout))
				_exit(1);
			while (!take(pid, 1, 0))
				;
			_exit(1);
		}
		nanosleep(&(struct timespec){ .tv_nsec = 100000 + rand() % 30000000 }, NULL);
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		if (!WIFSIGNALED(status))
			return printf("tracer %u ended with %#x\n", i, status), 1;
	}
	return 0;
}

static int once(void *arg)
{
	return take(*(pid_t *)arg, 1, 0);
}

static int reap(void *arg)
{
	nr_left += process_copy_reap_leftovers(*(pid_t *)arg);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	pid_t pid = argc > 2 ? atoi(argv[2]) : 0;
	unsigned times = argc > 3 ? (unsigned)atoi(argv[3]) : 1;

	options.no_copy = !strcmp(what, "stopped") || (argc > 3 && !strncmp(argv[3], "held", 4));
	asks = !strncmp(what, "ask", 3);
	if (!strcmp(what, "untouched") && argc > 4)
		return untouched(pid, strstr(argv[3], "-6.1"), argv + 4);
	if (!strcmp(what, "take") || !strcmp(what, "ask") || options.no_copy)
		return take(pid, times, argc > 4 ? strtoull(argv[4], NULL, 0) : 0);
	if (!strcmp(what, "hold"))
		return hold(pid);
	if (!strcmp(what, "read") && argc > 4)
		return read_at(pid, strtoull(argv[3], NULL, 0), strtoull(argv[4], NULL, 0));
	if (!strcmp(what, "left"))
		return printf("%u\n", process_copy_reap_leftovers(pid)) < 0;
	if (!strcmp(what, "die"))
		return die(pid, times);
	if (!strcmp(what, "points") || !strcmp(what, "askpoints")) {
		int nr = requests_die_behind_each(once, reap, &pid);

		printf("points=%d left=%u\n", nr, nr_left);
		return nr < 0;
	}
	fprintf(stderr, "usage: copy_driver take|ask|stopped|hold|read|untouched|left|die|points|askpoints PID [...]\n");
	return 2;
}
