/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/total.c: live bytes, the peak, and what the heap was made of at the peak, on one thread and
 * on many. Also of agent/site.c.
 */
#include "tests/unit/agent_host.h"

#include "tests/unit/unit.h"
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

static void in(struct tctx *c, uint32_t site, uint64_t bytes)
{
	struct pmm_record *r = site_record(c, site, total_add(c, bytes));

	r->bytes_in += bytes;
	r->allocs++;
}

static void out(struct tctx *c, uint32_t site, uint64_t bytes)
{
	struct pmm_record *r = site_record(c, site, total_sub(c, bytes));

	r->bytes_out += bytes;
	r->frees++;
}

static struct pmm_record *record_of(struct tctx *c, uint32_t site)
{
	pmm_ref ref = c->pub.records;

	while (ref && ((struct pmm_record *)arena_at(ref))->site != site)
		ref = ((struct pmm_record *)arena_at(ref))->next;
	return ref ? arena_at(ref) : NULL;
}

static void test_peak_is_sealed_by_the_first_release(void **state)
{
	struct tctx *c;

	(void)state;
	agent_host_init(16 << 20);
	c = agent_host_ctx();
	in(c, 1, 100);
	in(c, 2, 50);
	assert_int_equal(agent.ledger->total >> 21, 150);
	assert_int_equal(agent.ledger->peak_bytes, 0);		/* still rising: not sealed */
	out(c, 1, 100);
	assert_int_equal(agent.ledger->peak_bytes, 150);
	in(c, 3, 70);						/* 120: below the peak */
	out(c, 2, 50);
	assert_int_equal(agent.ledger->peak_bytes, 150);
	assert_int_equal(agent_host_at_peak(), 150);
	assert_int_equal(record_of(c, 1)->at_peak_bytes, 100);
	assert_int_equal(record_of(c, 2)->at_peak_bytes, 50);
	assert_int_equal(record_of(c, 3)->at_peak_bytes, 0);
	in(c, 3, 200);						/* 270: a new peak */
	assert_int_equal(agent_host_at_peak(), 270);
	out(c, 3, 70);
	assert_int_equal(agent.ledger->peak_bytes, 270);
	assert_int_equal(record_of(c, 3)->at_peak_bytes, 270);
	assert_int_equal(agent_host_at_peak(), 270);
	agent_host_fini();
}

/* The epoch is kept in 20 bits of the total: go round several times. */
static void test_epochs_beyond_their_bits(void **state)
{
	struct tctx *c;
	uint64_t bytes = 0;

	(void)state;
	agent_host_init(16 << 20);
	c = agent_host_ctx();
	for (unsigned i = 0; i < 3000000; i++) {
		in(c, 1 + i % 7, 3);
		/* each round is a new peak and seals it */
		out(c, 1 + i % 7, 1);
		bytes += 2;
	}
	assert_int_equal(agent.ledger->epoch, 3000000);
	assert_int_equal(agent.ledger->peak_bytes, bytes + 1);
	assert_int_equal(agent_host_live(), bytes);
	assert_int_equal(agent_host_at_peak(), bytes + 1);
	agent_host_fini();
}

static void test_credits_are_taken_and_called_back(void **state)
{
	struct tctx *a, *b;

	(void)state;
	agent_host_init(16 << 20);
	a = agent_host_ctx();
	b = agent_host_ctx();
	in(a, 1, 10 << 20);
	out(a, 1, 9 << 20);			/* 9 MiB below the peak: room for credits */
	in(a, 2, 1000);
	in(b, 3, 1000);
	assert_int_equal(agent.ledger->credit_out, 2);
	in(a, 2, 1000);
	in(b, 3, 500);
	out(b, 3, 200);
	assert_int_equal(agent_host_total(), (1 << 20) + 3300);
	in(a, 4, 9 << 20);			/* beyond the peak: the word must be exact now */
	assert_int_equal(agent.ledger->credit_out, 0);
	assert_int_equal(agent.ledger->total >> 21, (10 << 20) + 3300);
	out(b, 3, 1);
	assert_int_equal(agent.ledger->peak_bytes, (10 << 20) + 3300);
	assert_int_equal(agent_host_at_peak(), (10 << 20) + 3300);
	assert_int_equal(record_of(b, 3)->at_peak_bytes, 1300);
	agent_host_fini();
}

/* One too small is exchanged for another: the word holds that one, the request and no old one. */
static void test_a_credit_is_renewed(void **state)
{
	struct tctx *a;

	(void)state;
	agent_host_init(16 << 20);
	a = agent_host_ctx();
	agent_host_ctx();
	in(a, 1, 100000);
	out(a, 1, 90000);
	in(a, 2, 10);				/* half of the room, for two threads */
	assert_int_equal(a->pub.credit, 1ull << 63 | (100000 - 10010) / 4);
	out(a, 2, 10);
	assert_int_equal(agent.ledger->total >> 21, 10010 + 22497);
	in(a, 2, 30000);
	assert_int_equal(a->pub.credit, 1ull << 63 | (100000 - 40000) / 4);
	assert_int_equal(agent.ledger->total >> 21, 40000 + 15000);
	assert_int_equal(agent.ledger->credit_out, 1);
	assert_int_equal(agent_host_total(), 40000);
	in(a, 2, 60000);			/* as much as at the peak: no credit any more */
	assert_int_equal(a->pub.credit, 0);
	assert_int_equal(agent.ledger->credit_out, 0);
	assert_int_equal(agent.ledger->total >> 21, 100000);
	agent_host_fini();
}

/* Just below the peak there is one of no bytes, and what is released is taken from it again. */
static void test_releases_add_to_a_credit(void **state)
{
	struct tctx *a;
	uint64_t total;

	(void)state;
	agent_host_init(16 << 20);
	a = agent_host_ctx();
	in(a, 1, 1000);
	out(a, 1, 2);
	in(a, 2, 1);
	assert_int_equal(a->pub.credit, 1ull << 63);
	total = agent.ledger->total;
	out(a, 1, 500);
	in(a, 2, 300);
	in(a, 2, 200);
	assert_int_equal(agent.ledger->total, total);
	assert_int_equal(a->pub.credit, 1ull << 63);
	assert_int_equal(agent_host_total(), 999);
	in(a, 2, 2);				/* a new peak */
	assert_int_equal(agent.ledger->credit_out, 0);
	out(a, 2, 1);
	assert_int_equal(agent.ledger->peak_bytes, 1001);
	assert_int_equal(agent_host_at_peak(), 1001);
	agent_host_fini();
}

#ifdef __x86_64__

#define TRAP_FLAG	0x100
#define MEETINGS	600

/* A thread that stops in the middle of an event, for as long as another one is not there either. */
struct stepper {
	struct tctx *c;
	unsigned steps, stop_at;
	bool stopped, ended;
	const struct stepper *other;
	uint64_t bytes;
};

static __thread struct stepper *stepping;

static bool is_there(const struct stepper *s)
{
	return LOAD_ACQUIRE(s->stopped) || LOAD_ACQUIRE(s->ended);
}

/* After each instruction; the first to stop waits for the other's stop, the other for its end. */
static void step(int number, siginfo_t *info, void *context)
{
	struct stepper *s = stepping;
	bool first = !is_there(s->other);

	(void)number;
	(void)info;
	(void)context;
	if (s->steps++ != s->stop_at)
		return;
	STORE_RELEASE(s->stopped, true);
	while (first ? !is_there(s->other) : !LOAD_ACQUIRE(s->other->ended))
		sched_yield();
}

static void *stepped_in(void *arg)
{
	struct stepper *s = stepping = arg;

	__asm__ volatile("pushfq; orq %0, (%%rsp); popfq" ::"i"(TRAP_FLAG) : "memory", "cc");
	in(s->c, 2, s->bytes);
	__asm__ volatile("pushfq; andq %0, (%%rsp); popfq" ::"i"(~TRAP_FLAG) : "memory", "cc");
	STORE_RELEASE(s->ended, true);
	return NULL;
}

/* They meet: `a` exceeds the peak, `b` takes a credit and ends first. Is the peak right then? */
static bool meet(struct stepper *a, struct stepper *b)
{
	pthread_t thread;
	bool right;

	agent_host_init(16 << 20);
	*a = (struct stepper){ agent_host_ctx(), .stop_at = a->stop_at, .bytes = 100, .other = b };
	*b = (struct stepper){ agent_host_ctx(), .stop_at = b->stop_at, .other = a };
	in(a->c, 1, 1000);
	out(a->c, 1, 1);
	pthread_create(&thread, NULL, stepped_in, b);
	while (!is_there(b))
		sched_yield();
	stepped_in(a);
	pthread_join(thread, NULL);
	out(b->c, 1, 500);
	in(a->c, 2, 300);
	out(a->c, 2, 1);
	right = agent.ledger->peak_bytes == 1099 && agent_host_at_peak() == 1099 &&
		agent_host_total() == 898;
	agent_host_fini();
	return right;
}

/*
 * One thread takes a credit of no bytes, which changes no total, while another one exceeds the
 * peak: wherever both stop on their way, and the taker goes on first, its releases end the peak.
 */
static void test_no_credit_is_taken_as_the_peak_is_exceeded(void **state)
{
	struct sigaction action = { .sa_sigaction = step, .sa_flags = SA_SIGINFO }, before;
	struct stepper a = { .stop_at = UINT_MAX }, b = { .stop_at = UINT_MAX };
	uint64_t x = 88172645463325252ull;
	unsigned wrong, steps_a, steps_b;

	(void)state;
	sigaction(SIGTRAP, &action, &before);
	wrong = !meet(&a, &b);
	steps_a = a.steps;
	steps_b = b.steps;
	for (unsigned i = 0; i < MEETINGS; i++) {
		x = x * 6364136223846793005ull + 1;
		a.stop_at = (x >> 33) % steps_a;
		b.stop_at = (x >> 45) % steps_b;
		wrong += !meet(&a, &b);
	}
	sigaction(SIGTRAP, &before, NULL);
	assert_int_equal(wrong, 0);
}

#endif

#define LATE_NS		100000000
#define LATE_CREDIT	4096ull

/* Comes to hold the credit only now: it was preempted just before. */
static void *come_late(void *arg)
{
	struct tctx *c = arg;

	nanosleep(&(struct timespec){ .tv_nsec = LATE_NS }, NULL);
	STORE_RELEASE(c->pub.credit, 1ull << 63 | LATE_CREDIT);
	return NULL;
}

static void test_a_credit_on_its_way_is_waited_for(void **state)
{
	struct tctx *a, *b;
	pthread_t thread;

	(void)state;
	agent_host_init(16 << 20);
	a = agent_host_ctx();
	b = agent_host_ctx();
	in(a, 1, 10 << 20);
	out(a, 1, 9 << 20);
	agent.ledger->credit_out++;	/* b's: the total holds it, b does not yet */
	agent.ledger->total += LATE_CREDIT << 21;
	pthread_create(&thread, NULL, come_late, b);
	in(a, 2, 10 << 20);			/* beyond the peak */
	pthread_join(thread, NULL);
	assert_int_equal(agent.ledger->credit_out, 0);
	out(a, 2, 1);
	assert_int_equal(agent.ledger->peak_bytes, 11 << 20);
	assert_int_equal(agent_host_at_peak(), 11 << 20);
	agent_host_fini();
}

#define THREADS	6
#define ROUNDS	400000

static void *churn(void *arg)
{
	struct tctx *c = arg;
	uint64_t x = 88172645463325252ull * (c->pub.number + 1), held[64] = { 0 };

	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned k;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		k = x % 64;
		if (held[k]) {
			out(c, 1 + k % 5, held[k]);
			held[k] = 0;
		} else {
			held[k] = 1 + (x >> 20) % (i % 50000 < 1000 ? 100000 : 3000);
			in(c, 1 + k % 5, held[k]);
		}
	}
	return NULL;
}

/*
 * Whatever the order of events was, the records at the peak must add up to the peak, to the byte.
 */
static void test_threads_agree_on_the_peak(void **state)
{
	pthread_t thread[THREADS];

	(void)state;
	agent_host_init(64 << 20);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, churn, agent_host_ctx());
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(agent_host_total(), agent_host_live());
	assert_true(agent.ledger->peak_bytes >= (uint64_t)agent_host_live());
	assert_int_equal(agent_host_at_peak(), agent.ledger->peak_bytes);
	agent_host_fini();
}

#define CHURNERS	3
#define PEAKS		3000
#define STEP		(256ull << 10)

static bool ended;
static pthread_barrier_t all;

/* Takes a credit as soon as it has none. */
static void *take_again(void *arg)
{
	struct tctx *c = arg;

	for (unsigned i = 0; i < PEAKS; i++) {
		pthread_barrier_wait(&all);
		while (!LOAD_ACQUIRE(ended)) {
			in(c, 1, 16);
			out(c, 1, 16);
		}
		pthread_barrier_wait(&all);
	}
	return NULL;
}

/* Credits that are taken while they are called back: none may be out as the peak is exceeded. */
static void test_no_credit_is_out_at_the_peak(void **state)
{
	pthread_t thread[CHURNERS];
	struct tctx *a;
	unsigned wrong = 0;

	(void)state;
	agent_host_init(16 << 20);
	a = agent_host_ctx();
	pthread_barrier_init(&all, NULL, CHURNERS + 1);
	for (int i = 0; i < CHURNERS; i++)
		pthread_create(&thread[i], NULL, take_again, agent_host_ctx());
	for (uint64_t i = 0; i < PEAKS; i++) {
		STORE(ended, false);
		pthread_barrier_wait(&all);
		in(a, 2, (i + 1) * STEP);
		STORE_RELEASE(ended, true);
		pthread_barrier_wait(&all);
		out(a, 2, (i + 1) * STEP);
		wrong += (uint64_t)agent_host_at_peak() != agent.ledger->peak_bytes;
	}
	for (int i = 0; i < CHURNERS; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&all);
	assert_int_equal(agent.credits_lost, 0);
	assert_int_equal(wrong, 0);
	agent_host_fini();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_peak_is_sealed_by_the_first_release),
		cmocka_unit_test(test_epochs_beyond_their_bits),
		cmocka_unit_test(test_credits_are_taken_and_called_back),
		cmocka_unit_test(test_a_credit_is_renewed),
		cmocka_unit_test(test_releases_add_to_a_credit),
#ifdef __x86_64__
		cmocka_unit_test(test_no_credit_is_taken_as_the_peak_is_exceeded),
#endif
		cmocka_unit_test(test_a_credit_on_its_way_is_waited_for),
		cmocka_unit_test(test_threads_agree_on_the_peak),
		cmocka_unit_test(test_no_credit_is_out_at_the_peak),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
