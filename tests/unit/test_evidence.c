/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Evidence: sites whose blocks are born and freed by chance, looked at once a second; what share is
 * called a likely leak, and what share growing. Caches, sessions and tables must stay below a rate,
 * leaks must reach one. And each piece of evidence by itself.
 */
#include "src/analyze/evidence.h"

#include <math.h>

#include "src/analyze/growing.h"
#include "src/analyze/leaks.h"
#include "src/analyze/lifetimes.h"
#include "tests/unit/recipe_heap.h"
#include "tests/unit/uniform.h"

#ifdef SANITIZED
#define SEEDS	5		/* which take long */
#else
#define SEEDS	50
#endif
#define SECOND	1000000000ull
#define STEP	0.1		/* seconds */
#define OLD	10		/* likewise */
#define FOREVER	1e9

static unsigned poisson(double mean)
{
	double limit = exp(-mean), p = uniform();
	unsigned n = 0;

	for (; p > limit; n++)
		p *= uniform();
	return n;
}

/* What a site does. What is 0 does not count. */
struct shape {
	unsigned seconds;
	double rate, rate_late;		/* blocks a second, at the end */
	double first;			/* seconds: only then */
	double life;			/* mean of what is freed, seconds */
	double leak;			/* share that is not freed; with neither, all is kept */
	bool tail;			/* lives are Pareto's, exponent 1.2 */
	unsigned capacity;		/* the oldest goes when there are more */
	/* so many different ones; what is there is not made again */
	unsigned keys;
	double ttl;			/* all go at that age */
	double flush;			/* all go every so many seconds */
};

struct block {
	double birth, death;
};

struct run {
	const struct shape *s;
	VEC(struct block) blocks;	/* alive */
	double death;			/* the first of theirs */
	double flushes;			/* until now */
	struct heap *h;
	struct growing growing;
};

static double life_of(const struct shape *s)
{
	if (s->ttl > 0)
		return s->ttl;
	if (s->life <= 0 || (s->leak > 0 && uniform() < s->leak))
		return FOREVER;
	return s->tail ? s->life / 6 * pow(1 - uniform(), -1 / 1.2) : -s->life * log(1 - uniform());
}

static void count_free(struct run *r, double age)
{
	struct heap_site *site = &r->h->sites[1];
	unsigned k = 0;

	while (k + 1 < HEAP_NR_LIFETIMES && lifetime_from_ns(r->h, k + 1) <= (uint64_t)(age * 1e9))
		k++;
	++*heap_lifetime_at(r->h, site, k);
	site->frees++;
}

static bool is_over(const struct run *r, const struct block *b, double now)
{
	const struct shape *s = r->s;

	return b->death <= now ||
	       (s->flush > 0 && floor(now / s->flush) > floor(b->birth / s->flush));
}

/* Most blocks outlive most steps. */
static bool none_is_over(struct run *r, double now)
{
	double flushes = r->s->flush > 0 ? floor(now / r->s->flush) : 0;
	bool none = now < r->death && flushes == r->flushes;

	r->flushes = flushes;
	return none;
}

static void bury(struct run *r, size_t over, double now)
{
	size_t kept = 0;

	r->death = FOREVER;
	for (size_t i = 0; i < r->blocks.nr; i++) {
		struct block b = r->blocks.v[i];

		if (i < over || is_over(r, &b, now)) {
			count_free(r, now - b.birth);
			continue;
		}
		r->blocks.v[kept++] = b;
		r->death = fmin(r->death, b.death);
	}
	r->blocks.nr = kept;
}

static void step(struct run *r, double now)
{
	const struct shape *s = r->s;
	double rate = s->rate +
		      (s->rate_late > 0 ? (s->rate_late - s->rate) * now / s->seconds : 0);
	size_t over;

	for (unsigned n = s->first <= 0 || now < s->first ? poisson(rate * STEP) : 0; n; n--) {
		struct block b = { .birth = now };

		if (s->keys && uniform() * s->keys < (double)r->blocks.nr)
			continue;
		b.death = now + life_of(s);
		r->death = fmin(r->death, b.death);
		vec_push(&r->blocks, b);
	}
	over = s->capacity && r->blocks.nr > s->capacity ? r->blocks.nr - s->capacity : 0;
	if (!none_is_over(r, now) || over)
		bury(r, over, now);
}

static void look(struct run *r, double now)
{
	struct heap *h = r->h;

	h->taken_ns = (uint64_t)(now * 1e9);
	h->sites[1].live_blocks = (int64_t)r->blocks.nr;
	h->sites[1].live_bytes = 100 * (int64_t)r->blocks.nr;
	assert_int_equal(growing_look(&r->growing, h), 0);
}

/* The verdict on what it holds. */
static enum leak_verdict judge(const struct shape *s)
{
	struct run r = { .s = s, .h = heap_new(), .death = FOREVER };
	struct leak_entry entry = { .site = 1,
				    .class = REACH_REACHED,
				    .holder_site = HEAP_NO_SITE };
	struct leaks l = { 0 };
	enum leak_verdict verdict;

	free(r.h->sites);
	r.h->nr_sites = 2;
	r.h->sites = calloc(2, sizeof(*r.h->sites));
	r.h->sites[1].number = 7;
	r.h->tick_ns = 10000000;
	for (unsigned i = 1; i <= s->seconds * 10; i++) {
		step(&r, i * STEP);
		if (i % 10 == 0)
			look(&r, i * STEP);
	}
	r.h->nr_blocks = r.blocks.nr;
	r.h->blocks = calloc(r.blocks.nr + 1, sizeof(*r.h->blocks));
	for (size_t i = 0; i < r.blocks.nr; i++)
		r.h->blocks[i] = (struct heap_block){ .address = 16 * (i + 1),
						      .size_bytes = 100,
						      .site = 1,
						      .birth_ns = (uint64_t)(r.blocks.v[i].birth *
									     1e9) };
	entry.blocks = r.blocks.nr;
	entry.bytes = 100 * r.blocks.nr;
	entry.oldest_ns = r.blocks.nr ? r.h->blocks[0].birth_ns : r.h->taken_ns;
	assert_int_equal(vec_push(&l.entries, entry), 0);
	assert_int_equal(leaks_judge(&l, r.h,
				     &(struct leaks_options){ .growing = &r.growing,
							      .old_ns = OLD * SECOND }),
			 0);
	verdict = l.entries.v[0].verdict;
	leaks_fini(&l);
	growing_fini(&r.growing);
	vec_fini(&r.blocks);
	heap_free(r.h);
	return verdict;
}

struct row {
	const char *name;
	struct shape s;
	unsigned likely_least, likely_most;	/* percent */
	unsigned told_least;			/* likely or growing */
};

static const struct row rows[] = {
	/* no leaks: never likely, whether they are said to grow or not */
	{ "cache that is full", { 400, .rate = 20, .capacity = 1000 }, 0, 0, 0 },
	{ "cache that fills for a minute", { 60, .rate = 20, .capacity = 5000 }, 0, 0, 95 },
	{ "cache that fills for four minutes", { 240, .rate = 20, .capacity = 5000 }, 0, 0, 95 },
	{ "cache that was full after six of seven minutes",
	  { 420, .rate = 20, .capacity = 7200 },
	  0,
	  1,
	  0 },
	{ "cache of so many keys", { 400, .rate = 20, .keys = 3000 }, 0, 0, 0 },
	{ "cache of so many keys, half full", { 400, .rate = 10, .keys = 5500 }, 0, 1, 50 },
	{ "cache with an age limit", { 600, .rate = 5, .ttl = 60 }, 0, 0, 0 },
	{ "cache with a long age limit", { 600, .rate = 5, .ttl = 300 }, 0, 0, 0 },
	{ "cache that is emptied", { 600, .rate = 5, .flush = 90 }, 0, 0, 0 },
	{ "sessions", { 600, .rate = 20, .life = 30 }, 0, 0, 0 },
	{ "long sessions", { 600, .rate = 2, .life = 200 }, 0, 0, 0 },
	{ "sessions of ever more users",
	  { 600, .rate = 5, .rate_late = 50, .life = 20 },
	  0,
	  0,
	  75 },
	{ "sessions, some of them very long",
	  { 600, .rate = 20, .life = 30, .tail = true },
	  0,
	  0,
	  0 },
	{ "tables made at first use, all at the start", { 400, .rate = 10, .first = 30 }, 0, 0, 0 },
	{ "tables made at first use", { 400, .rate = 0.1 }, 0, 0, 0 },
	{ "19 tables in a minute", { 60, .rate = 0.32 }, 0, 0, 0 },
	{ "start, then sessions", { 400, .rate = 20, .rate_late = 15, .life = 30 }, 0, 0, 0 },
	/* leaks: likely when there was time and number enough, told as growing before */
	{ "leak of 1 a second, a minute", { 60, .rate = 1 }, 0, 0, 95 },
	{ "leak of 1 a second, six minutes", { 370, .rate = 1 }, 95, 100, 99 },
	{ "leak of 20 a second, six minutes", { 370, .rate = 20 }, 99, 100, 99 },
	{ "leak of 1 every 5 seconds, 20 minutes", { 1200, .rate = 0.2 }, 95, 100, 97 },
	{ "one in 100 of 50 a second, ten minutes",
	  { 600, .rate = 50, .life = 0.5, .leak = 0.01 },
	  95,
	  100,
	  97 },
	{ "one in ten of sessions, ten minutes",
	  { 600, .rate = 5, .life = 2, .leak = 0.1 },
	  95,
	  100,
	  97 },
	{ "a leak that gets faster", { 400, .rate = 1, .rate_late = 5 }, 95, 100, 99 },
	/* and what cannot be told */
	{ "cache that fills for longer", { 600, .rate = 20, .capacity = 50000 }, 99, 100, 100 },
};

static void rates_are_kept(void **state)
{
	unsigned wrong = 0;

	(void)state;
	for (size_t k = 0; k < NR(rows); k++) {
		const struct row *r = &rows[k];
		unsigned likely = 0, told = 0;

		for (unsigned i = 1; i <= SEEDS; i++) {
			enum leak_verdict v = (seed = i * 7919 + k, judge(&r->s));

			likely += v == LEAK_LIKELY;
			told += v <= LEAK_GROWING;
		}
		likely = likely * 100 / SEEDS;
		told = told * 100 / SEEDS;
		if (getenv("RATES"))
			print_message("%-50s %3u %% likely, %3u %% growing\n", r->name, likely,
				      told - likely);
		if (likely >= r->likely_least && likely <= r->likely_most && told >= r->told_least)
			continue;
		print_error("%s: %u %% likely, not %u to %u; %u %% told, not %u\n", r->name, likely,
			    r->likely_least, r->likely_most, told, r->told_least);
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

/* ---- each piece by itself ---- */

/* What speaks for a leak at the first site where `g` is known of its growth. */
static struct evidence of(struct heap *h, struct growth g, uint64_t old_ns)
{
	struct evidence e = { .site = 1, .growth = g };

	assert_int_equal(evidence_find(h, old_ns, &e, 1), 0);
	return e;
}

/* A block each half second for five minutes. */
static void each_piece_is_found(void **state)
{
	struct heap *h = recipe_heap("process taken=300s end=running\nsite main>a size=100 "
				     "allocs=600 first=0s last=300s\n");
	struct growth g = { .verdict = GROWTH_STEADY,
			    .until_ns = 300 * SECOND,
			    .slope = 200,
			    .late_slope = 140.1 };
	struct evidence e = of(h, g, 10 * SECOND);
	const unsigned bucket = 12;		/* 20.48 s up to 40.96 s */

	(void)state;
	assert_int_equal(e.has, EVIDENCE_ALL);
	assert_int_equal(e.grown_ns, 300 * SECOND);
	assert_int_equal(e.born[0] + e.born[1] + e.born[2] + e.born[3] + e.born[4] + e.born[5] +
				 e.born[6] + e.born[7],
			 600);
	assert_in_range(e.born[3], 74, 76);
	assert_in_range(e.aged, 524, 526);	/* older than 37.5 s */
	assert_int_equal(e.freed_aged, 0);
	assert_int_equal(of(h, g, 10 * SECOND + 1).has, EVIDENCE_ALL & ~EVIDENCE_LONG);
	g.late_slope = 139.9;
	assert_int_equal(of(h, g, 10 * SECOND).has, EVIDENCE_ALL & ~EVIDENCE_PACE);
	g.late_slope = 200;
	for (unsigned i = 451; i < 600; i += 2)		/* half of the last quarter's are older */
		h->blocks[i].birth_ns -= 150 * SECOND;
	assert_int_equal(of(h, g, 10 * SECOND).has, EVIDENCE_ALL & ~EVIDENCE_PACE);
	for (unsigned i = 451; i < 600; i += 2)
		h->blocks[i].birth_ns += 150 * SECOND;
	*heap_lifetime_at(h, &h->sites[1], bucket - 1) = 1000;	/* died younger */
	*heap_lifetime_at(h, &h->sites[1], bucket) = 26;
	assert_int_equal(of(h, g, 10 * SECOND).has, EVIDENCE_ALL);
	assert_int_equal(of(h, g, 10 * SECOND).freed_aged, 26);
	*heap_lifetime_at(h, &h->sites[1], bucket + 1) = 1;
	assert_int_equal(of(h, g, 10 * SECOND).has, EVIDENCE_ALL & ~EVIDENCE_KEPT);
	*heap_lifetime_at(h, &h->sites[1], bucket + 1) = 0;
	h->began = HEAP_BEGAN_ATTACH;
	assert_int_equal(of(h, g, 10 * SECOND).has, EVIDENCE_ALL);
	h->mode = HEAP_SAMPLED;			/* frees of blocks from before are not seen */
	assert_int_equal(of(h, g, 10 * SECOND).has, EVIDENCE_ALL & ~EVIDENCE_KEPT);
	h->began = HEAP_BEGAN_EXEC;
	assert_int_equal(of(h, g, 10 * SECOND).has, EVIDENCE_ALL);
	g.verdict = GROWTH_NONE;
	assert_int_equal(of(h, g, 10 * SECOND).has, 0);
	heap_free(h);
}

static void few_blocks_are_not_many(void **state)
{
	struct heap *h = recipe_heap("process taken=300s end=running\nsite main>a size=100 "
				     "allocs=64 first=0s last=299s\n");
	struct growth g = {
		.verdict = GROWTH_STEADY, .until_ns = 300 * SECOND, .slope = 20, .late_slope = 20
	};

	(void)state;
	assert_int_equal(of(h, g, 10 * SECOND).has, EVIDENCE_ALL);
	h->nr_blocks--;
	assert_int_equal(of(h, g, 10 * SECOND).has, EVIDENCE_ALL & ~EVIDENCE_MANY);
	h->nr_blocks++;
	g.since_ns = 5 * SECOND;		/* the first two were there before */
	assert_int_equal(of(h, g, SECOND).has, EVIDENCE_ALL & ~EVIDENCE_MANY);
	heap_free(h);
}

/* All in the first five eighths. */
static void a_time_without_births_is_no_spread(void **state)
{
	struct heap *h = recipe_heap("process taken=300s end=running\nsite main>a size=100 "
				     "allocs=600 first=0s last=180s\n");
	struct growth g = {
		.verdict = GROWTH_STEADY, .until_ns = 300 * SECOND, .slope = 20, .late_slope = 20
	};

	(void)state;
	assert_int_equal(of(h, g, 10 * SECOND).has,
			 EVIDENCE_ALL & ~(EVIDENCE_SPREAD | EVIDENCE_PACE));
	heap_free(h);
}

static void each_piece_has_a_name(void **state)
{
	struct str s = STR_INIT;

	(void)state;
	evidence_names(&s, &(struct evidence){ .has = EVIDENCE_ALL });
	assert_string_equal(str_text(&s), "steady many spread pace kept long");
	str_clear(&s);
	evidence_names(&s, &(struct evidence){ .has = EVIDENCE_STEADY | EVIDENCE_LONG });
	assert_string_equal(str_text(&s), "steady long");
	str_clear(&s);
	evidence_names(&s, &(struct evidence){ 0 });
	assert_string_equal(str_text(&s), "");
	str_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_kept),
		cmocka_unit_test(each_piece_is_found),
		cmocka_unit_test(few_blocks_are_not_many),
		cmocka_unit_test(a_time_without_births_is_no_spread),
		cmocka_unit_test(each_piece_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
