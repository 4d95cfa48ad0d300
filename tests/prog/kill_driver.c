/* SPDX-License-Identifier: GPL-2.0-or-later
 * Runs kill_victim under pmm run again and again, kills it at a random moment with all processes that it has made, and compares the capture of each
 * with its own truth (kill_compare.h). Before that it may look into a running process, whose threads are stopped meanwhile, and compare what a
 * reader sees. A ledger seen so of a process that has executed another program since, and of which there is no capture, is compared as well.
 *
 *	kill_driver PMM VICTIM DIRECTORY CASES SEED [FIRST [TURNS]]
 *
 * as truth_driver.h says; TURNS: as for kill_victim.
 *
 * VICTIM_safe is the one whose allocator may be interrupted. The moment is a time, a number of events, or an instruction: one of the threads is
 * stopped and goes on step by step until it is somewhere in the agent.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/ledger/ledger_heap.h"
#include "src/ptrace/stop.h"
#include "src/store/capture.h"
#include "tests/prog/kill_compare.h"
#include "tests/prog/truth_driver.h"

#define MOST_STEPS	8000		/* until a thread is where it is to be */
#define MOST_CODE	(1u << 19)	/* bytes of the agent */
#define FIRST_CHANCE	4		/* one in as many to stop at an instruction, the first time */
#define MOST_POKES	12		/* signals at instructions of the agent */
#define MOST_US		40000		/* a case's time after the start */
#define MOST_EVENTS	60000
#define MOST_LOOKS	3
#define MOST_HELD	(2 * MOST_LOOKS)

enum moment { AT_TIME, AT_EVENT, AT_STEP, NR_MOMENTS };

static const char *const moment_names[NR_MOMENTS] = { "time", "event", "step" };

/* What the victim does beside its work (kill_turns.c). */
static const char *const all_turns[] = { "-", "-", "-", "-", "s", "s", "sj", "sj", "f", "e", "fe", "sf", "se", "sjfe" };

#define NR_TURNS (sizeof(all_turns) / sizeof(*all_turns))

/* A ledger that was looked at, of which image. */
struct held {
	struct ledger_map *map;
	unsigned image;
};

struct kill_case {
	const char *turns;
	bool safe, leaves;		/* leaves: processes come, and are replaced */
	unsigned number, threads, pokes, looks;
	enum moment moment;
	unsigned us;
	uint64_t events;
	unsigned steps;
};

static struct err e;
static struct truth_cases cases;
static struct kill_file *file;
static struct kill_figures looked, captured, replaced;
static struct held held[MOST_HELD];
static unsigned nr_held, nr_looks, nr_in_agent, nr_captures, nr_replaced, nr_left;

/* All images are in one group of processes, the first one's. */
static void kill_all(void)
{
	if (file && file->image[0].pid)
		kill(-(pid_t)file->image[0].pid, SIGKILL);
}

static uint64_t next(uint64_t *x)
{
	*x = *x * 6364136223846793005ull + 1442695040888963407ull;
	return *x >> 24;
}

static struct kill_case draw(unsigned number)
{
	static const unsigned threads[] = { 1, 1, 1, 2, 3, 8 };
	uint64_t x = (cases.seed << 32 | number) + 1;
	struct kill_case c = { .number = number };

	for (unsigned k = 0; k < 8; k++)
		next(&x);
	c.threads = threads[next(&x) % 6];
	c.moment = (enum moment)(next(&x) % NR_MOMENTS);
	c.looks = next(&x) % 2 ? (unsigned)(next(&x) % (MOST_LOOKS + 1)) : 0;
	c.us = (unsigned)(next(&x) % MOST_US);
	c.events = next(&x) % (next(&x) % 2 ? MOST_EVENTS : 500);
	c.steps = (unsigned)next(&x);
	c.turns = all_turns[next(&x) % NR_TURNS];
	c.turns = cases.turns ? cases.turns : c.turns;
	c.safe = strchr(c.turns, 's') || next(&x) % 4 == 0;
	c.leaves = strpbrk(c.turns, "fe");
	if (strchr(c.turns, 's') && c.threads > KILL_THREADS / (1 + KILL_HANDLERS))
		c.threads = KILL_THREADS / (1 + KILL_HANDLERS);
	if (strchr(c.turns, 's') && !c.leaves)
		c.pokes = (unsigned)(next(&x) % (MOST_POKES + 1));
	if (c.leaves && c.moment == AT_STEP)
		c.moment = AT_TIME;	/* who steps would have to follow it */
	if (c.leaves)
		c.looks *= 2;
	return c;
}

/* The truth of a case begins anew. */
static void map_file(void)
{
	if (file)
		munmap(file, sizeof(*file));
	file = NULL;
	file = truth_new("truth", sizeof(*file));
	file->nr_images = 1;
}

/* A pid of `pmm run` of the victim. */
static pid_t launch(const struct kill_case *c)
{
	char threads[16], seed[32], program[4096];
	char *argv[] = { (char *)cases.pmm, "run", "-q",    "-o", "%p.pmm",	    "--", program,
			 "truth",	    "0",   threads, seed, (char *)c->turns, NULL };
	posix_spawn_file_actions_t actions;
	unsigned ms = 0;
	pid_t pid;
	int rc;

	map_file();
	posix_spawn_file_actions_init(&actions);	/* what it says is kept apart: programs that are killed as they begin were not tracked */
	posix_spawn_file_actions_addopen(&actions, 2, "stderr", O_WRONLY | O_CREAT | O_APPEND, 0600);
	snprintf(program, sizeof(program), "%s%s", cases.victim, c->safe ? "_safe" : "");
	snprintf(threads, sizeof(threads), "%u", c->threads);
	snprintf(seed, sizeof(seed), "%u", c->number);
	rc = posix_spawn(&pid, cases.pmm, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (rc)
		truth_fail("'%s' does not start: %s", cases.pmm, strerror(rc));
	while (!*(volatile uint32_t *)&file->image[0].started)
		truth_wait(&ms, "the victim's start");
	return pid;
}

static unsigned nr_images(void)
{
	unsigned nr = __atomic_load_n(&file->nr_images, __ATOMIC_RELAXED);

	return nr < KILL_IMAGES ? nr : KILL_IMAGES;
}

static uint64_t events_of(const struct kill_truth *truth)
{
	uint64_t nr = 0;

	for (unsigned i = 0; i < truth->nr_threads; i++)
		nr += *(volatile uint64_t *)&truth->thread[i].nr_done;
	return nr;
}

static uint64_t events(void)
{
	uint64_t nr = 0;

	for (unsigned i = 0; i < nr_images(); i++)
		nr += events_of(&file->image[i]);
	return nr;
}

/* The image that came after this one in its process; 0: none has begun. */
static unsigned successor(unsigned image)
{
	for (unsigned i = image + 1; i < nr_images(); i++)
		if (file->image[i].started && file->image[i].pid == file->image[image].pid)
			return i;
	return 0;
}

/* All its threads are stopped. Has it a ledger, and is that of this image? */
static bool is_to_be_seen(unsigned image)
{
	const struct kill_truth *truth = &file->image[image];

	return !truth->leaving && !successor(image) && events_of(truth);
}

static unsigned compare_look(struct ledger_map *map, const struct kill_truth *truth)
{
	static struct kill_truth copy;
	struct ledger_options o = { .running = true, .pid = (pid_t)truth->pid };
	uint64_t flights = looked.flights;
	struct heap *h = NULL;
	unsigned wrong;

	if (ledger_read(map, &o, &h, &e))
		truth_fail("the running process cannot be read: %s", e.text);
	copy = *truth;
	wrong = kill_compare(&copy, h, &looked);
	if (h->drift_blocks && looked.flights == flights && kill_all_started(&copy))
		truth_wrong(&wrong, "%" PRIu64 " blocks have changed while the process was stopped",
			    h->drift_blocks);
	heap_free(h);
	nr_looks++;
	return wrong;
}

/* What a reader sees while all threads are stopped. */
static unsigned look(const struct kill_case *c, unsigned image)
{
	const struct kill_truth *truth = &file->image[image];
	struct held *to = &held[nr_held];
	struct stopped s = { 0 };
	unsigned wrong = 0;
	int rc;

	if (!truth->started)
		return 0;
	rc = stop_all((pid_t)truth->pid, TRUTH_STOP_NS, &s, &e);
	if (rc && c->leaves)
		return 0;		/* it has ended, or is about to be replaced */
	if (rc)
		truth_fail("not stopped: %s", e.text);
	if (is_to_be_seen(image)) {
		to->image = image;
		if (ledger_map_open_pid((pid_t)truth->pid, &to->map, &e))
			truth_fail("the running process cannot be opened: %s", e.text);
		nr_held++;
		wrong = compare_look(to->map, truth);
	}
	stop_resume(&s);
	return wrong;
}

/* Where the agent's code is in the victim. */
static void agent_range(uint64_t *start, uint64_t *end)
{
	char path[64], line[512], access[8];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%u/maps", file->image[0].pid);
	maps = fopen(path, "r");
	*start = *end = 0;
	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "libpmm.so") && sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", start, end, access) == 3 && access[2] == 'x')
			break;
	if (!maps || !*start)
		truth_fail("no agent in the victim's mappings");
	fclose(maps);
}

/* With the signal that it is about to get. */
static void step(pid_t tid, uint64_t *pc, int *signal)
{
	struct user_regs_struct regs;
	int status;

	if (ptrace(PTRACE_SINGLESTEP, tid, 0, (long)*signal) || waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
		truth_fail("a thread does not step: %s", strerror(errno));
	if (ptrace(PTRACE_GETREGS, tid, 0, &regs))
		truth_fail("a thread has no registers: %s", strerror(errno));
	*pc = regs.rip;
	*signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
}

/*
 * Is the thread to stop here, within the agent? Where it was often before rather not: in the end about as often at each instruction, however rare.
 */
static bool is_chosen(uint64_t offset, uint64_t *x)
{
	static uint32_t visits[MOST_CODE];

	return offset < MOST_CODE && next(x) % (FIRST_CHANCE + visits[offset]++) == 0;
}

/* One of the threads, until it is at some instruction of the agent. It is left stopped; returns its id, 0: it has none yet. */
static pid_t step_into_agent(const struct kill_case *c, uint64_t *x, int *signal)
{
	pid_t tid = (pid_t)file->image[0].thread[c->us % c->threads].tid;
	uint64_t start, end, pc = 0;
	int status;

	*signal = 0;
	if (!tid)
		return 0;		/* not started yet */
	agent_range(&start, &end);
	if (ptrace(PTRACE_SEIZE, tid, 0, 0) || ptrace(PTRACE_INTERRUPT, tid, 0, 0) || waitpid(tid, &status, __WALL) != tid)
		truth_fail("thread %d cannot be traced: %s", tid, strerror(errno));
	for (unsigned k = 0; k < MOST_STEPS && !(pc >= start && pc < end && is_chosen(pc - start, x)); k++)
		step(tid, &pc, signal);
	nr_in_agent += pc >= start && pc < end;
	return tid;
}

/* A signal comes at an instruction of the agent. */
static void poke(const struct kill_case *c, uint64_t *x)
{
	int signal;
	pid_t tid = step_into_agent(c, x, &signal);

	if (tid && ptrace(PTRACE_DETACH, tid, 0, (long)(signal ? signal : SIGUSR1)))
		truth_fail("a thread is not let go: %s", strerror(errno));
}

static void wait_for_moment(const struct kill_case *c)
{
	uint64_t x = c->events + c->steps;
	int signal;

	if (c->moment == AT_TIME)
		truth_nap_us(c->us);
	else
		for (unsigned us = 0; events() < c->events; us += 20, truth_nap_us(20))
			if (us > TRUTH_PATIENCE_MS * 1000u)
				truth_fail("the victim does not get on");
	if (c->moment == AT_STEP)
		step_into_agent(c, &x, &signal);
}

/* Kills the victim, ends what is traced of it, waits for pmm. */
static void end(pid_t monitor)
{
	int status;
	pid_t pid;

	kill_all();
	do
		pid = waitpid(-1, &status, __WALL);
	while (pid > 0 && pid != monitor);
	if (pid != monitor || !WIFEXITED(status) || WEXITSTATUS(status) != 128 + SIGKILL)
		truth_fail("pmm run ended with status %#x", status);
}

/* pmm may have gone to the background to write it. */
static void wait_for_capture(const char *name, unsigned image)
{
	for (unsigned ms = 0; access(name, F_OK); ms += 5, truth_nap_us(5000))
		if (ms > TRUTH_PATIENCE_MS)
			truth_fail("there is no capture '%s' of image %u, which knows of %" PRIu64
				   " events",
				   name, image, events_of(&file->image[image]));
}

static unsigned compare_capture(unsigned image)
{
	const struct kill_truth *truth = &file->image[image];
	unsigned wrong;
	struct heap *h;
	char name[32];

	snprintf(name, sizeof(name), "%u.pmm", truth->pid);
	wait_for_capture(name, image);
	if (capture_read(name, 0, &h, &e))
		truth_fail("the capture: %s", e.text);
	wrong = kill_compare(truth, h, &captured);
	if (!image && (h->end != HEAP_KILLED || h->end_status != SIGKILL))
		truth_wrong(&wrong, "not known as killed: end %d, status %d", (int)h->end,
			    h->end_status);
	if (wrong)
		truth_say("image %u of %u, process %u", image, nr_images(), truth->pid);
	heap_free(h);
	nr_captures++;
	return wrong;
}

/* Of what was replaced there is no capture, but the ledger is complete. */
static unsigned compare_held(const struct held *from)
{
	struct ledger_options o = { .running = false };
	struct heap *h = NULL;
	unsigned wrong = 0;

	if (successor(from->image)) {
		if (ledger_read(from->map, &o, &h, &e))
			truth_fail("the ledger of a program that was replaced cannot be read: %s",
				   e.text);
		wrong = kill_compare(&file->image[from->image], h, &replaced);
		if (wrong)
			truth_say("image %u of %u, which was replaced", from->image, nr_images());
		heap_free(h);
		nr_replaced++;
	}
	ledger_map_close(from->map);
	return wrong;
}

/* All have ended. No capture tells of who has done nothing, nor which one it is if another program was about to begin. */
static unsigned compare_all(void)
{
	unsigned wrong = 0;
	char name[32];

	for (unsigned i = 0; i < nr_images(); i++) {
		const struct kill_truth *truth = &file->image[i];

		for (unsigned k = 0; k < KILL_LEFT; k++)
			nr_left += truth->left[k].op != KILL_NONE;
		if (truth->started && !truth->leaving && !successor(i) && events_of(truth))
			wrong += compare_capture(i);
	}
	for (; nr_held; nr_held--)
		wrong += compare_held(&held[nr_held - 1]);
	for (unsigned i = 0; !wrong && i < nr_images(); i++) {
		snprintf(name, sizeof(name), "%u.pmm", file->image[i].pid);
		unlink(name);
	}
	return wrong;
}

static void run_case(const struct kill_case *c)
{
	pid_t monitor = launch(c);
	unsigned wrong = 0;
	uint64_t x = c->steps + 1;

	for (unsigned k = 0; k < c->pokes; k++)
		poke(c, &x);
	for (unsigned k = 0; k < c->looks && !wrong; k++) {
		truth_nap_us(c->us / (k + 1));
		wrong = look(c, (c->steps + k) % nr_images());
	}
	if (!wrong)
		wait_for_moment(c);
	end(monitor);
	wrong += compare_all();
	if (wrong)
		truth_fail("case %u of seed %" PRIu64
			   ": %u threads, turns %s, %u looks, kill at %s; %u figures are wrong",
			   c->number, cases.seed, c->threads, c->turns, c->looks,
			   moment_names[c->moment], wrong);
}

int main(int argc, char **argv)
{
	if (!truth_arguments(argc, argv, &cases))
		return 2;
	truth_end = kill_all;
	for (unsigned k = cases.first; k < cases.first + cases.nr; k++) {
		struct kill_case c = draw(k);

		run_case(&c);
	}
	printf("right kills=%u in_agent=%u events=%" PRIu64 " blocks=%" PRIu64, cases.nr,
	       nr_in_agent, captured.events, captured.blocks);
	printf(" flights=%" PRIu64 " half=%" PRIu64, captured.flights, captured.half);
	printf(" captures=%u replaced=%u left=%u", nr_captures, nr_replaced, nr_left);
	printf(" looks=%u look_flights=%" PRIu64 " look_half=%" PRIu64 "\n", nr_looks, looked.flights, looked.half);
	return 0;
}
