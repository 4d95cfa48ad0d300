/* SPDX-License-Identifier: GPL-2.0-or-later
 * Runs kill_victim under pmm run again and again, kills it at a random moment, and compares the capture with the victim's own truth
 * (kill_compare.h). Before that it may look into the running process, whose threads are stopped meanwhile, and compare what a reader sees.
 *
 *	kill_driver PMM VICTIM DIRECTORY KILLS SEED [FIRST]	FIRST: the number of the first case, 0 (to repeat one)
 *
 * The moment is a time, a number of events, or an instruction: one of the threads is stopped, goes on step by step until it is in the agent, and
 * some steps more.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/ledger/ledger_heap.h"
#include "src/ptrace/stop.h"
#include "src/store/capture.h"
#include "tests/prog/kill_compare.h"

#define STOP_NS		30000000000u
#define PATIENCE_MS	60000		/* for what must come */
#define MOST_STEPS	20000		/* until the thread is in the agent */
#define MORE_STEPS	1200		/* once it is there */
#define MOST_US		40000		/* a case's time after the start */
#define MOST_EVENTS	60000
#define MOST_LOOKS	3

enum moment { AT_TIME, AT_EVENT, AT_STEP, NR_MOMENTS };

static const char *const moment_names[NR_MOMENTS] = { "time", "event", "step" };

struct kill_case {
	unsigned number, threads, looks;
	uint64_t seed;
	enum moment moment;
	unsigned us;
	uint64_t events;
	unsigned steps;
};

static struct err e;
static const char *pmm, *victim;
static struct kill_truth *truth;
static struct kill_figures looked, captured;
static unsigned nr_looks, nr_in_agent;

static unsigned said(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One thing is wrong. */
static unsigned said(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	return 1;
}

static void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

static void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	if (truth && truth->pid)
		kill((pid_t)truth->pid, SIGKILL);
	exit(1);
}

static uint64_t next(uint64_t *x)
{
	*x = *x * 6364136223846793005ull + 1442695040888963407ull;
	return *x >> 24;
}

static struct kill_case draw(uint64_t seed, unsigned number)
{
	static const unsigned threads[] = { 1, 1, 1, 2, 3, 8 };
	uint64_t x = (seed << 32 | number) + 1;
	struct kill_case c = { .number = number, .seed = seed };

	for (unsigned k = 0; k < 8; k++)
		next(&x);
	c.threads = threads[next(&x) % 6];
	c.moment = (enum moment)(next(&x) % NR_MOMENTS);
	c.looks = next(&x) % 2 ? (unsigned)(next(&x) % (MOST_LOOKS + 1)) : 0;
	c.us = (unsigned)(next(&x) % MOST_US);
	c.events = next(&x) % (next(&x) % 2 ? MOST_EVENTS : 500);
	c.steps = (unsigned)(next(&x) % MORE_STEPS);
	return c;
}

static void nap_us(unsigned us)
{
	nanosleep(&(struct timespec){ .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L }, NULL);
}

/* A pid of `pmm run` of the victim, whose truth begins anew. */
static pid_t launch(const struct kill_case *c)
{
	char threads[16], seed[32];
	char *argv[] = { (char *)pmm, "run", "-q", "-o", "c.pmm", "--", (char *)victim, "truth", threads, seed, NULL };
	int fd = open("truth", O_RDWR | O_CREAT | O_TRUNC, 0600);
	unsigned ms = 0;
	pid_t pid;
	int rc;

	unlink("c.pmm");
	if (truth)
		munmap(truth, sizeof(*truth));
	truth = NULL;
	if (fd < 0 || ftruncate(fd, sizeof(*truth)))
		fail("no truth: %s", strerror(errno));
	truth = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	snprintf(threads, sizeof(threads), "%u", c->threads);
	snprintf(seed, sizeof(seed), "%u", c->number);
	rc = posix_spawn(&pid, pmm, NULL, NULL, argv, environ);
	if (truth == MAP_FAILED || rc)
		fail("'%s' does not start: %s", pmm, strerror(rc));
	for (; !*(volatile uint32_t *)&truth->started; ms++, nap_us(1000))
		if (ms > PATIENCE_MS)
			fail("the victim does not start");
	return pid;
}

static uint64_t events(void)
{
	uint64_t nr = 0;

	for (unsigned i = 0; i < truth->nr_threads; i++)
		nr += *(volatile uint64_t *)&truth->thread[i].nr_done;
	return nr;
}

/* What a reader sees while all threads are stopped. */
static unsigned look(void)
{
	static struct kill_truth copy;
	struct ledger_options o = { .running = true, .pid = (pid_t)truth->pid };
	struct ledger_map *map = NULL;
	struct stopped s = { 0 };
	struct heap *h = NULL;
	uint64_t flights = looked.flights;
	unsigned wrong;
	int rc = stop_all((pid_t)truth->pid, STOP_NS, &s, &e);

	if (rc)
		fail("not stopped: %s", e.text);
	rc = ledger_map_open_pid((pid_t)truth->pid, &map, &e);
	if (!rc)
		rc = ledger_read(map, &o, &h, &e);
	if (rc)
		fail("the running process cannot be read: %s", e.text);
	copy = *truth;
	wrong = kill_compare(&copy, h, &looked);
	if (h->drift_blocks && looked.flights == flights && kill_all_started(&copy))
		wrong += said("%" PRIu64 " blocks have changed while the process was stopped", h->drift_blocks);
	heap_free(h);
	ledger_map_close(map);
	stop_resume(&s);
	nr_looks++;
	return wrong;
}

/* Where the agent's code is in the victim. */
static void agent_range(uint64_t *start, uint64_t *end)
{
	char path[64], line[512], access[8];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/maps", truth->pid);
	file = fopen(path, "r");
	*start = *end = 0;
	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, "libpmm.so") && sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", start, end, access) == 3 && access[2] == 'x')
			break;
	if (!file || !*start)
		fail("no agent in the victim's mappings");
	fclose(file);
}

static bool step(pid_t tid, uint64_t *pc)
{
	struct user_regs_struct regs;
	int status;

	if (ptrace(PTRACE_SINGLESTEP, tid, 0, 0) || waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
		fail("a thread does not step: %s", strerror(errno));
	if (ptrace(PTRACE_GETREGS, tid, 0, &regs))
		fail("a thread has no registers: %s", strerror(errno));
	*pc = regs.rip;
	return WSTOPSIG(status) == SIGTRAP;
}

/* One of the threads, until it is some steps within the agent. It is left stopped. */
static void step_into_agent(const struct kill_case *c)
{
	pid_t tid = (pid_t)truth->thread[c->us % c->threads].tid;
	uint64_t start, end, pc = 0;
	int status;

	if (!tid)
		return;		/* not started yet */
	agent_range(&start, &end);
	if (ptrace(PTRACE_SEIZE, tid, 0, 0) || ptrace(PTRACE_INTERRUPT, tid, 0, 0) || waitpid(tid, &status, __WALL) != tid)
		fail("thread %d cannot be traced: %s", tid, strerror(errno));
	for (unsigned k = 0; k < MOST_STEPS && !(pc >= start && pc < end); k++)
		step(tid, &pc);
	for (unsigned k = 0; k < c->steps; k++)
		step(tid, &pc);
	nr_in_agent += pc >= start && pc < end;
}

static void wait_for_moment(const struct kill_case *c)
{
	if (c->moment == AT_TIME)
		nap_us(c->us);
	else
		for (unsigned us = 0; events() < c->events; us += 20, nap_us(20))
			if (us > PATIENCE_MS * 1000u)
				fail("the victim does not get on");
	if (c->moment == AT_STEP)
		step_into_agent(c);
}

/* Kills the victim, ends what is traced of it, waits for pmm. */
static void end(pid_t monitor)
{
	int status;
	pid_t pid;

	kill((pid_t)truth->pid, SIGKILL);
	do
		pid = waitpid(-1, &status, __WALL);
	while (pid > 0 && pid != monitor);
	if (pid != monitor || !WIFEXITED(status) || WEXITSTATUS(status) != 128 + SIGKILL)
		fail("pmm run ended with status %#x", status);
}

static unsigned compare_capture(void)
{
	struct heap *h;
	unsigned wrong;

	if (capture_read("c.pmm", 0, &h, &e))
		fail("the capture: %s", e.text);
	wrong = kill_compare(truth, h, &captured);
	if (h->end != HEAP_KILLED || h->end_status != SIGKILL)
		wrong += said("not known as killed: end %d, status %d", (int)h->end, h->end_status);
	heap_free(h);
	return wrong;
}

static void run_case(const struct kill_case *c)
{
	pid_t monitor = launch(c);
	unsigned wrong = 0;

	for (unsigned k = 0; k < c->looks; k++) {
		nap_us(c->us / (k + 1));
		wrong += look();
	}
	if (!wrong)
		wait_for_moment(c);
	end(monitor);
	wrong += compare_capture();
	if (wrong)
		fail("case %u of seed %" PRIu64 ": %u threads, %u looks, kill at %s; %u figures are wrong", c->number, c->seed, c->threads, c->looks,
		     moment_names[c->moment], wrong);
}

int main(int argc, char **argv)
{
	unsigned kills = argc > 5 ? (unsigned)atoi(argv[4]) : 0, first = argc > 6 ? (unsigned)atoi(argv[6]) : 0;

	if (!kills || chdir(argv[3])) {
		fputs("usage: kill_driver PMM VICTIM DIRECTORY KILLS SEED [FIRST]\n", stderr);
		return 2;
	}
	pmm = argv[1];
	victim = argv[2];
	for (unsigned k = first; k < first + kills; k++) {
		struct kill_case c = draw(strtoull(argv[5], NULL, 10), k);

		run_case(&c);
	}
	printf("right kills=%u in_agent=%u events=%" PRIu64 " blocks=%" PRIu64, kills, nr_in_agent, captured.events, captured.blocks);
	printf(" flights=%" PRIu64 " half=%" PRIu64, captured.flights, captured.half);
	printf(" looks=%u look_flights=%" PRIu64 " look_half=%" PRIu64 "\n", nr_looks, looked.flights, looked.half);
	return 0;
}
