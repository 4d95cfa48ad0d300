// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kmod/pmm_shrink.c: whose entries give way, how long reclaim waits, and what it gets to know.
 * The kernel's side is kmod/pmm_kernel_user.h and what is here.
 */
#include "kmod/pmm_module.h"
#include "tests/unit/unit.h"

#define TICKET	((struct kmem_cache *)1)	/* the one cache there is */
#define BATCH	128u				/* the kernel asks for so many at a time */

static struct shrinker the_shrinker;
static struct pmm_log_limits limits;
static unsigned long counted_early;
static unsigned pauses;
static bool kswapd, killed;
static struct pmm_target *frees_in_pause;	/* its lock is free after a pause */
static struct mem_cgroup *payer, *paid_by;	/* now; when memory was asked for last */

bool fatal_signal_pending(const struct task_struct *task)
{
	(void)task;
	return killed;
}

bool current_is_kswapd(void)
{
	return kswapd;
}

void schedule_timeout_uninterruptible(long ticks)
{
	assert_int_equal(ticks, 1);
	pauses++;
	if (frees_in_pause)
		frees_in_pause->lock.locked = false;
}

struct kmem_cache *kmem_cache_create(const char *name, size_t bytes, size_t align,
				     unsigned int flags, void (*init)(void *))
{
	(void)align;
	(void)init;
	assert_string_equal(name, "pmm_target");
	assert_int_equal(bytes, sizeof(struct pmm_target));
	assert_int_equal(flags, SLAB_ACCOUNT);
	return TICKET;
}

void *kmem_cache_alloc(struct kmem_cache *cache, gfp_t gfp)
{
	assert_ptr_equal(cache, TICKET);
	assert_int_equal(gfp, PMM_GFP | __GFP_ZERO);
	paid_by = payer;
	return calloc(1, sizeof(struct pmm_target));
}

void kmem_cache_free(struct kmem_cache *cache, void *p)
{
	assert_ptr_equal(cache, TICKET);
	free(p);
}

void kmem_cache_destroy(struct kmem_cache *cache)
{
	assert_ptr_equal(cache, TICKET);
}

struct mem_cgroup *pmm_set_payer(struct mem_cgroup *memcg)
{
	struct mem_cgroup *before = payer;

	payer = memcg;
	return before;
}

/* Some kernels ask a shrinker at once. */
struct shrinker *pmm_shrinker_new(pmm_shrink_fn count, pmm_shrink_fn scan, int seeks)
{
	struct shrink_control sc = { .gfp_mask = __GFP_FS };

	assert_int_equal(seeks, 16 * DEFAULT_SEEKS);
	the_shrinker.count = count;
	the_shrinker.scan = scan;
	counted_early = count(&the_shrinker, &sc);
	return &the_shrinker;
}

void pmm_shrinker_free(struct shrinker *s)
{
	assert_ptr_equal(s, &the_shrinker);
}

/* Nobody but the test lets one go. */
void pmm_target_put(struct pmm_target *t)
{
	if (t) {
		assert_true(t->ref.nr > 1);
		t->ref.nr--;
	}
}

static struct pmm_target *target(u64 entries)
{
	struct pmm_target *t = pmm_target_alloc((struct mem_cgroup *)2);

	assert_non_null(t);
	assert_ptr_equal(paid_by, (struct mem_cgroup *)2);
	assert_null(payer);
	pmm_log_init(&t->log, &limits, 7);
	for (u64 i = 1; i <= entries; i++) {
		struct pmm_log_request r = { .kind = PMM_KMOD_MALLOC,
					     .pointer = i * 16,
					     .bytes = 1 };

		pmm_log_enter(&t->log, &r);
	}
	assert_int_equal(t->log.entries, entries);
	return t;
}

static void drop_target(struct pmm_target *t)
{
	assert_int_equal(t->ref.nr, 1);
	pmm_log_clear(&t->log);
	pmm_target_free(t);
}

static int setup(void **state)
{
	(void)state;
	limits = (struct pmm_log_limits){ .entries_per_process = 1u << 24,
					  .entries_in_all = 1u << 24 };
	pauses = 0;
	kswapd = killed = false;
	frees_in_pause = NULL;
	return pmm_shrink_init();
}

static int teardown(void **state)
{
	(void)state;
	pmm_shrink_stop();
	pmm_shrink_exit();
	return 0;
}

/* What reclaim does with a shrinker: it asks for a part at a time until all is looked at. */
struct pass {
	unsigned calls;
	unsigned long freed;
	long later;		/* is left, and asked for again */
};

static struct pass reclaim(gfp_t gfp, long wanted)
{
	struct shrink_control sc = { .gfp_mask = gfp };
	struct pass p = { .later = wanted };
	unsigned long got;

	while (p.later >= (long)BATCH) {
		sc.nr_to_scan = BATCH;
		sc.nr_scanned = BATCH;
		p.calls++;
		got = the_shrinker.scan(&the_shrinker, &sc);
		if (got == SHRINK_STOP)
			break;
		p.freed += got;
		p.later -= (long)sc.nr_scanned;
	}
	p.later = p.later > 0 ? p.later : 0;
	return p;
}

static unsigned long counted(gfp_t gfp)
{
	struct shrink_control sc = { .gfp_mask = gfp };

	return the_shrinker.count(&the_shrinker, &sc);
}

/* The first of all tests: nothing has been ready before. */
static void test_not_ready(void **state)
{
	(void)state;
	assert_int_equal(counted_early, 0);
}

static void test_count(void **state)
{
	struct pmm_target *a, *b;

	(void)state;
	assert_int_equal(counted(__GFP_FS), SHRINK_EMPTY);
	a = target(0);
	assert_int_equal(counted(__GFP_FS), 0);
	b = target(300);
	assert_int_equal(counted(__GFP_FS), 300);
	drop_target(a);
	a = target(40);
	assert_int_equal(counted(__GFP_FS), 340);
	/* what this thread may have locked itself cannot be had */
	b->lock.locked = true;
	assert_int_equal(counted(__GFP_FS), 340);
	assert_int_equal(counted(0), 40);
	drop_target(a);
	assert_int_equal(counted(0), 0);
	drop_target(b);
}

/* Each in turn, no more than asked for, nothing is waited for. */
static void test_turns(void **state)
{
	struct pmm_target *a = target(1000), *b = target(1000), *c = target(50);
	struct pass p = reclaim(__GFP_FS, 4 * BATCH);

	(void)state;
	assert_int_equal(p.calls, 4);
	assert_int_equal(p.freed, 4 * BATCH);
	assert_int_equal(p.later, 0);
	/* a; b; c's 50 and 78 of a; b */
	assert_int_equal(a->log.entries, 1000 - BATCH - 78);
	assert_int_equal(b->log.entries, 1000 - 2 * BATCH);
	assert_int_equal(c->log.entries, 0);
	assert_int_equal(pauses, 0);
	p = reclaim(0, BATCH);
	assert_int_equal(p.freed, BATCH);
	assert_false(a->lock.locked || b->lock.locked || c->lock.locked);
	drop_target(a);
	drop_target(b);
	drop_target(c);
}

/* Another thread has the lock again and again: one tick in all, and nothing is left for later. */
static void test_contended(void **state)
{
	static const struct {
		u64 entries, gone;
	} rows[] = { { 20000, 312 }, { 8192, 128 }, { 8256, 129 }, { 1000, 128 }, { 100, 100 } };

	(void)state;
	for (unsigned i = 0; i < NR(rows); i++) {
		struct pmm_target *t = target(rows[i].entries);
		struct pass p;

		t->lock.locked = t->lock.contended = true;
		frees_in_pause = t;
		pauses = 0;
		p = reclaim(__GFP_FS, 2 * (long)rows[i].entries);
		assert_int_equal(pauses, 1);
		assert_int_equal(p.calls, 1);
		assert_int_equal(p.freed, rows[i].gone);
		assert_int_equal(p.later, 0);
		assert_int_equal(t->log.entries, rows[i].entries - rows[i].gone);
		assert_int_equal(t->log.counts.evicted, rows[i].gone);
		drop_target(t);
	}
}

/* It is still locked after the pause. */
static void test_held_for_long(void **state)
{
	struct pmm_target *t = target(20000);
	struct pass p;

	(void)state;
	t->lock.locked = true;
	p = reclaim(__GFP_FS, 10000);
	assert_int_equal(pauses, 1);
	assert_int_equal(p.calls, 1);
	assert_int_equal(p.freed, 0);
	assert_int_equal(p.later, 0);
	assert_int_equal(t->log.entries, 20000);
	drop_target(t);
}

/* As long as others give, the busy one is let alone. */
static void test_others_give(void **state)
{
	struct pmm_target *busy = target(5000), *other = target(5000);
	struct pass p;

	(void)state;
	busy->lock.locked = true;
	p = reclaim(__GFP_FS, 10 * BATCH);
	assert_int_equal(pauses, 0);
	assert_int_equal(p.calls, 10);
	assert_int_equal(p.freed, 10 * BATCH);
	assert_int_equal(other->log.entries, 5000 - 10 * BATCH);
	assert_int_equal(busy->log.entries, 5000);
	drop_target(other);
	drop_target(busy);
}

/* Who reclaims for all, may have the lock, or is killed does not wait. */
static void test_no_pause(void **state)
{
	struct pmm_target *t = target(5000);

	(void)state;
	t->lock.locked = true;
	for (unsigned i = 0; i < 3; i++) {
		struct pass p;

		kswapd = i == 0;
		killed = i == 1;
		p = reclaim(i == 2 ? 0 : __GFP_FS, 1000);
		assert_int_equal(pauses, 0);
		assert_int_equal(p.calls, 1);
		assert_int_equal(p.freed, 0);
		assert_int_equal(p.later, 1000);
	}
	assert_int_equal(t->log.entries, 5000);
	drop_target(t);
}

/* Who has no entries is not waited for, whatever is done with it. */
static void test_nothing_to_give(void **state)
{
	struct pmm_target *t = target(0);
	struct pass p;

	(void)state;
	t->lock.locked = true;
	p = reclaim(__GFP_FS, 1000);
	assert_int_equal(pauses, 0);
	assert_int_equal(p.calls, 1);
	assert_int_equal(p.freed, 0);
	drop_target(t);
}

/* One that nobody holds any more, and is not off the list yet, does not keep the others from it. */
static void test_dying_in_the_way(void **state)
{
	struct pmm_target *dying = target(500), *t = target(500);
	struct pass p;

	(void)state;
	dying->ref.nr = 0;
	p = reclaim(__GFP_FS, BATCH);
	assert_int_equal(p.freed, BATCH);
	assert_int_equal(t->log.entries, 500 - BATCH);
	assert_int_equal(dying->log.entries, 500);
	assert_int_equal(dying->ref.nr, 0);
	dying->ref.nr = 1;
	drop_target(dying);
	drop_target(t);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_not_ready, setup, teardown),
	cmocka_unit_test_setup_teardown(test_count, setup, teardown),
	cmocka_unit_test_setup_teardown(test_turns, setup, teardown),
	cmocka_unit_test_setup_teardown(test_contended, setup, teardown),
	cmocka_unit_test_setup_teardown(test_held_for_long, setup, teardown),
	cmocka_unit_test_setup_teardown(test_others_give, setup, teardown),
	cmocka_unit_test_setup_teardown(test_no_pause, setup, teardown),
	cmocka_unit_test_setup_teardown(test_nothing_to_give, setup, teardown),
	cmocka_unit_test_setup_teardown(test_dying_in_the_way, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
