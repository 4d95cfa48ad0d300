/* SPDX-License-Identifier: GPL-2.0-or-later
 * Runs readers_victim under pmm run and reads its ledger at random moments while it runs, in each way there is: totals, largest sites, all of it,
 * blocks of one moment (src/ledger/precopy.h). And while all its threads are parked, when every figure is known exactly. Each time the victim's own
 * truth of before and after says what can be right (readers_compare.h).
 *
 *	readers_driver PMM VICTIM DIRECTORY CASES SEED [FIRST [TURNS]]
 *
 * as truth_driver.h says; TURNS: as for readers_victim.
 *
 * VICTIM_dense is the one with libreaders_malloc.so.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/ledger/precopy.h"
#include "src/ptrace/stop.h"
#include "tests/prog/readers_compare.h"
#include "tests/prog/truth_driver.h"

#define LOOKS		16		/* of a case, and a last one */
#define MOST_US		1500		/* between two */
#define MOST_TOP	4096

enum look { LOOK_ALL, LOOK_SITES, LOOK_TOTALS, LOOK_TOP, LOOK_FROZEN, LOOK_STILL, NR_LOOKS };

static const enum look looks[] = {
	LOOK_ALL, LOOK_ALL, LOOK_ALL, LOOK_ALL, LOOK_ALL, LOOK_SITES, LOOK_SITES, LOOK_TOTALS, LOOK_TOTALS, LOOK_TOP, LOOK_TOP, LOOK_FROZEN,
	LOOK_FROZEN, LOOK_STILL, LOOK_STILL, LOOK_STILL,
};

static const char *const turns_of_glibc[] = { "-", "-", "-", "f", "t", "ft" };
static const char *const turns_of_dense[] = { "-", "-", "s", "so", "sj", "soj", "sjf", "t" };

#define NR_OF(v)	(sizeof(v) / sizeof(*(v)))

struct run {
	const char *turns;
	bool dense;
	unsigned number, threads;
	uint64_t random;
	struct readers_case c;
	struct ledger_top *top;
};

static struct err e;
static struct truth_cases cases;
static unsigned nr_looks[NR_LOOKS], nr_left;
static uint64_t nr_certain, nr_listed, nr_overrun, nr_peaks, nr_flights, nr_events;
static pid_t started;
static struct readers_moment before, after;

static void kill_started(void)
{
	if (started)
		kill(started, SIGKILL);
}

/* splitmix64: cases of neighbouring seeds have nothing in common. */
static uint64_t next(uint64_t *x)
{
	uint64_t z = *x += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static struct run draw(unsigned number)
{
	static const unsigned threads[] = { 1, 2, 2, 3, 4 };
	struct run r = { .number = number, .random = cases.seed << 32 | number };

	r.threads = threads[next(&r.random) % NR_OF(threads)];
	r.dense = next(&r.random) % 2;
	r.turns = r.dense ? turns_of_dense[next(&r.random) % NR_OF(turns_of_dense)] : turns_of_glibc[next(&r.random) % NR_OF(turns_of_glibc)];
	r.turns = cases.turns ? cases.turns : r.turns;
	r.dense |= strchr(r.turns, 's') != NULL;
	if (strchr(r.turns, 't') && r.threads < 2)
		r.threads = 2;
	r.c.signals = strchr(r.turns, 's');
	return r;
}

/* ---- a case ----------------------------------------------------------------------------------------------------------------------------------- */

/* A pid of `pmm run` of the victim. */
static pid_t launch(struct run *r)
{
	char threads[16], seed[32], program[4096];
	char *argv[] = { (char *)cases.pmm, "run",   "-q",    "-o", "%p.pmm",	      "--",
			 program,	    "truth", threads, seed, (char *)r->turns, NULL };
	unsigned ms = 0;
	pid_t pid;
	int rc;

	r->c.truth = truth_new("truth", sizeof(*r->c.truth));
	snprintf(program, sizeof(program), "%s%s", cases.victim, r->dense ? "_dense" : "");
	snprintf(threads, sizeof(threads), "%u", r->threads);
	snprintf(seed, sizeof(seed), "%" PRIu64, cases.seed * 1000003 + r->number);
	rc = posix_spawn(&pid, cases.pmm, NULL, NULL, argv, environ);
	if (rc)
		truth_fail("'%s' does not start: %s", cases.pmm, strerror(rc));
	while (!__atomic_load_n(&r->c.truth->started, __ATOMIC_ACQUIRE))
		truth_wait(&ms, "the victim's start");
	started = (pid_t)r->c.truth->pid;
	while ((rc = ledger_map_open_pid(started, &r->c.map, &e)) == -ENOENT || rc == -EAGAIN)
		truth_wait(&ms, "the victim's ledger");
	if (rc)
		truth_fail("the ledger: %s", e.text);
	r->top = ledger_top_new(r->c.map);
	return pid;
}

static void park(struct readers_truth *t)
{
	unsigned ms = 0;

	__atomic_store_n(&t->pause, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&t->nr_parked, __ATOMIC_SEQ_CST) != t->nr_threads)
		truth_wait(&ms, "threads to wait");
}

static void unpark(struct readers_truth *t)
{
	unsigned ms = 0;

	__atomic_store_n(&t->pause, 0, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&t->nr_parked, __ATOMIC_SEQ_CST))
		truth_wait(&ms, "threads to go on");
}

static struct heap *read_heap(struct run *r, bool no_blocks)
{
	uint64_t damaged = 0;
	struct ledger_options o = { .running = true, .pid = (pid_t)r->c.truth->pid, .no_blocks = no_blocks, .damaged = &damaged };
	struct heap *h;

	if (ledger_read(r->c.map, &o, &h, &e))
		truth_fail("the running process cannot be read: %s", e.text);
	if (damaged)
		truth_fail("%" PRIu64 " things make no sense", damaged);
	return h;
}

static void look_at_all(struct run *r, bool no_blocks, bool still)
{
	struct heap *h;

	readers_before(r->c.truth, r->c.map, &before);
	h = read_heap(r, no_blocks);
	readers_after(r->c.truth, r->c.map, &after);
	readers_compare_heap(&r->c, h, &before, &after, still);
	if (!no_blocks)
		readers_compare_blocks(&r->c, h, &before, &after);
	heap_free(h);
}

static void look_at_totals(struct run *r)
{
	struct ledger_totals t;

	readers_before(r->c.truth, r->c.map, &before);
	if (ledger_totals(r->c.map, &t))
		truth_fail("no totals");
	readers_after(r->c.truth, r->c.map, &after);
	readers_compare_totals(&r->c, &t, &before, &after);
}

static void look_at_top(struct run *r)
{
	static struct ledger_top_site top[MOST_TOP];
	struct heap *h;
	int nr;

	readers_before(r->c.truth, r->c.map, &before);
	nr = ledger_top_sites(r->top, top, MOST_TOP);
	readers_after(r->c.truth, r->c.map, &after);
	if (nr < 0)
		truth_fail("no largest sites");
	h = read_heap(r, true);
	readers_compare_top(&r->c, top, (unsigned)nr, h, &before, &after);
	heap_free(h);
}

/* Blocks of the moment at which all threads are stopped, wherever they are; sums may be of later. */
static void look_frozen(struct run *r)
{
	struct ledger_options o = { .running = true, .pid = (pid_t)r->c.truth->pid };
	struct stopped s = { 0 };
	struct heap *h = NULL;
	struct precopy f;

	if (precopy_begin(&f, r->c.map, &e) || stop_all(o.pid, TRUTH_STOP_NS, &s, &e) ||
	    precopy_now(&f, &e))
		truth_fail("not stopped: %s", e.text);
	readers_before(r->c.truth, r->c.map, &before);
	after = before;
	stop_resume(&s);
	if (precopy_heap(&f, &o, &h, &e))
		truth_fail("the frozen ledger cannot be read: %s", e.text);
	readers_compare_blocks(&r->c, h, &before, &after);
	readers_after(r->c.truth, r->c.map, &after);
	/* not the peak: readers_compare_peak() wants to know that it was the same before */
	before.total = ~after.total;
	readers_compare_heap(&r->c, h, &before, &after, false);
	heap_free(h);
	precopy_end(&f);
}

static void look_still(struct run *r)
{
	park(r->c.truth);
	look_at_all(r, false, true);
	look_at_totals(r);
	look_at_top(r);
	unpark(r->c.truth);
}

static void look(struct run *r, enum look how)
{
	switch (how) {
	case LOOK_ALL: look_at_all(r, false, false); break;
	case LOOK_SITES: look_at_all(r, true, false); break;
	case LOOK_TOTALS: look_at_totals(r); break;
	case LOOK_TOP: look_at_top(r); break;
	case LOOK_FROZEN: look_frozen(r); break;
	default: look_still(r); break;
	}
	nr_looks[how]++;
	if (r->c.wrong)
		truth_fail("case %u of seed %" PRIu64
			   ": %u threads, %s, turns %s, look %d; %u figures are wrong",
			   r->number, cases.seed, r->threads, r->dense ? "dense" : "glibc",
			   r->turns, how, r->c.wrong);
}

static void end(struct run *r, pid_t monitor)
{
	struct readers_truth *t = r->c.truth;
	int status;

	__atomic_store_n(&t->end, 1, __ATOMIC_SEQ_CST);
	if (waitpid(monitor, &status, 0) != monitor || status)
		truth_fail("pmm run ended with status %#x", status);
	started = 0;
	for (unsigned k = 0; k < READERS_LEFT; k++)
		nr_left += t->left[k].nr & 1;
	for (unsigned w = 0; w < READERS_WORKERS; w++)
		nr_events += t->worker[w].flight.nr / 2;
	ledger_top_free(r->top);
	ledger_map_close(r->c.map);
	munmap(t, sizeof(*t));
	nr_certain += r->c.nr_certain;
	nr_listed += r->c.nr_listed;
	nr_overrun += r->c.nr_overrun;
	nr_peaks += r->c.nr_peaks;
	nr_flights += r->c.nr_flights;
}

static void run(struct run *r)
{
	pid_t monitor = launch(r);

	for (unsigned k = 0; k < LOOKS; k++) {
		truth_nap_us((unsigned)(next(&r->random) % MOST_US));
		look(r, k == 1 ? LOOK_STILL : looks[next(&r->random) % NR_OF(looks)]);
	}
	look(r, LOOK_STILL);
	end(r, monitor);
}

int main(int argc, char **argv)
{
	if (!truth_arguments(argc, argv, &cases))
		return 2;
	truth_end = kill_started;
	for (unsigned k = cases.first; k < cases.first + cases.nr; k++) {
		struct run r = draw(k);

		run(&r);
	}
	printf("right cases=%u all=%u sites=%u totals=%u top=%u frozen=%u still=%u", cases.nr,
	       nr_looks[LOOK_ALL], nr_looks[LOOK_SITES], nr_looks[LOOK_TOTALS], nr_looks[LOOK_TOP],
	       nr_looks[LOOK_FROZEN], nr_looks[LOOK_STILL]);
	printf(" events=%" PRIu64 " certain=%" PRIu64 " listed=%" PRIu64 " overrun=%" PRIu64 " peaks=%" PRIu64, nr_events, nr_certain, nr_listed,
	       nr_overrun, nr_peaks);
	printf(" flights=%" PRIu64 " left=%u\n", nr_flights, nr_left);
	return 0;
}
