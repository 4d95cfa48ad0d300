/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Leaks: blocks classified by hand give these entries, holders, verdicts and sums; what is in a
 * heap comes out of it again.
 */
#include "src/analyze/leaks.h"
#include "tests/unit/fields.h"
#include "tests/unit/recipe_heap.h"

#define SECOND	1000000000ull
#define NONE	UINT32_MAX

/*
 * Classes (a single letter: of all) and parents of a heap's blocks, which are in the order of the
 * recipe's lines.
 */
static struct reach reach_of(const struct heap *h, const char *classes, const uint32_t *parents)
{
	static const char letters[] = "rpid";
	const bool all = strlen(classes) == 1;
	struct reach r = { .nr = h->nr_blocks };

	assert_true(all || strlen(classes) == h->nr_blocks);
	r.class = malloc(r.nr + 1);
	r.parent = malloc((r.nr + 1) * sizeof(*r.parent));
	for (uint64_t i = 0; i < r.nr; i++) {
		r.class[i] = (uint8_t)(strchr(letters, classes[all ? 0 : i]) - letters);
		r.parent[i] = parents ? parents[i] : NONE;
	}
	return r;
}

static void reach_free(struct reach *r)
{
	free(r->class);
	free(r->parent);
}

static const struct leak_entry *find(const struct leaks *l, uint32_t site, unsigned class)
{
	vec_each(&l->entries, e)
		if (e->site == site && e->class == class)
			return e;
	fail_msg("no entry of site %u, class %u", site, class);
	return NULL;
}

/* Collect and judge. */
static struct leaks leaks_of(const struct heap *h, const char *classes, const uint32_t *parents,
			     const struct leaks_options *o)
{
	struct reach r = reach_of(h, classes, parents);
	struct leaks l;

	assert_int_equal(leaks_collect(&l, h, &r, NULL), 0);
	assert_int_equal(leaks_judge(&l, h, o), 0);
	reach_free(&r);
	return l;
}

static void expect_sum(const struct leak_sum *s, uint64_t blocks, uint64_t bytes, uint64_t sites)
{
	assert_int_equal(s->blocks, blocks);
	assert_int_equal(s->bytes, bytes);
	assert_int_equal(s->sites, sites);
}

/*
 * A document lost at "doc" takes three nodes and a text with it; another text is lost on its own,
 * one is held.
 */
static void indirect_blocks_count_with_their_definite_one(void **state)
{
	struct heap *h = recipe_heap("process taken=60s end=running\n"
				     "site main>doc size=100 allocs=2 first=1s last=2s\n"
				     "site main>node size=32 allocs=3 first=3s\n"
				     "site main>text size=7 allocs=3 first=4s last=8s\n");
	static const uint32_t parents[] = { NONE, NONE, 0, 0, 1, 1, NONE, NONE };
	struct leaks l = leaks_of(h, "ddiiiidr", parents, &(struct leaks_options){ 0 });
	uint32_t doc = recipe_site(h, "doc"), node = recipe_site(h, "node"),
		 text = recipe_site(h, "text");
	const struct leak_entry *e;

	(void)state;
	assert_int_equal(l.entries.nr, 5);
	e = &l.entries.v[0];
	assert_int_equal(e->site, doc);
	assert_int_equal(e->verdict, LEAK_CERTAIN);
	assert_int_equal(e->reason, LEAK_UNREACHABLE);
	assert_int_equal(e->blocks, 2);
	assert_int_equal(e->bytes, 200);
	assert_int_equal(e->indirect_blocks, 4);
	assert_int_equal(e->indirect_bytes, 3 * 32 + 7);
	assert_int_equal(e->oldest_ns, 1 * SECOND);
	assert_int_equal(e->newest_ns, 2 * SECOND);
	assert_int_equal(e->example, h->blocks[0].address);
	/* then the text that is lost alone, then indirect ones, then what is reachable */
	assert_int_equal(l.entries.v[1].site, text);
	assert_int_equal(l.entries.v[1].class, REACH_DEFINITE);
	assert_int_equal(l.entries.v[1].indirect_blocks, 0);
	assert_int_equal(l.entries.v[2].site, node);
	assert_int_equal(l.entries.v[2].reason, LEAK_LOST_WITH);
	assert_int_equal(l.entries.v[2].holder_site, doc);
	assert_int_equal(l.entries.v[2].held_blocks, 3);
	assert_int_equal(l.entries.v[3].site, text);
	assert_int_equal(l.entries.v[3].class, REACH_INDIRECT);
	assert_int_equal(l.entries.v[4].class, REACH_REACHED);
	assert_int_equal(l.entries.v[4].verdict, LEAK_UNLIKELY);
	expect_sum(&l.by_class[REACH_DEFINITE], 3, 207, 2);
	expect_sum(&l.by_class[REACH_INDIRECT], 4, 103, 2);
	expect_sum(&l.by_class[REACH_POSSIBLE], 0, 0, 0);
	expect_sum(&l.by_class[REACH_REACHED], 1, 7, 1);
	expect_sum(&l.by_verdict[LEAK_CERTAIN], 7, 310, 3);
	leaks_fini(&l);
	heap_free(h);
}

/*
 * head -> node -> node ... ; each node holds a text. Nodes hang on the head's site, texts on the
 * nodes'; one text is held by a root.
 */
static void the_holder_is_the_next_other_site(void **state)
{
	enum { NODES = 200000 };
	struct heap *h = recipe_heap("site main>head size=16 allocs=1\n"
				     "site main>node size=16 allocs=200000\n"
				     "site main>text size=8 allocs=3\n");
	uint32_t *parents = malloc(h->nr_blocks * sizeof(*parents));
	const struct leak_entry *e;
	struct leaks l;

	(void)state;
	parents[0] = NONE;
	parents[NODES] = 0;	/* the list runs down the addresses: the deepest comes first */
	for (uint32_t i = 1; i < NODES; i++)
		parents[i] = i + 1;
	parents[NODES + 1] = 5;
	parents[NODES + 2] = 77;
	parents[NODES + 3] = NONE;
	l = leaks_of(h, "r", parents, &(struct leaks_options){ 0 });
	e = find(&l, recipe_site(h, "node"), REACH_REACHED);
	assert_int_equal(e->holder_site, recipe_site(h, "head"));
	assert_int_equal(e->held_blocks, NODES);
	assert_int_equal(e->chained_blocks, NODES - 1);
	e = find(&l, recipe_site(h, "text"), REACH_REACHED);
	assert_int_equal(e->holder_site, recipe_site(h, "node"));
	assert_int_equal(e->held_blocks, 2);
	assert_int_equal(e->chained_blocks, 0);
	e = find(&l, recipe_site(h, "head"), REACH_REACHED);
	assert_int_equal(e->holder_site, HEAP_NO_SITE);
	assert_int_equal(e->held_blocks, 0);
	leaks_fini(&l);
	free(parents);
	heap_free(h);
}

/*
 * Of eight texts one is larger than all others: who holds it holds most. When all are of a size
 * nobody holds most: 2, 3 and 3.
 */
static void a_holder_has_the_majority(void **state)
{
	struct heap *h = recipe_heap("site main>a size=16 allocs=1\nsite main>b size=16 "
				     "allocs=1\nsite main>c size=16 allocs=1\n"
				     "site main>text size=8 allocs=7\nsite main>text size=64\n");
	uint32_t parents[] = { NONE, NONE, NONE, 2, 0, 2, 1, 2, 1, 0, 0 };
	struct leaks l = leaks_of(h, "r", parents, &(struct leaks_options){ 0 });

	(void)state;
	assert_int_equal(find(&l, recipe_site(h, "text"), REACH_REACHED)->holder_site,
			 recipe_site(h, "a"));
	assert_int_equal(find(&l, recipe_site(h, "text"), REACH_REACHED)->held_blocks, 3);
	leaks_fini(&l);
	parents[10] = 2;
	l = leaks_of(h, "r", parents, &(struct leaks_options){ 0 });
	assert_int_equal(find(&l, recipe_site(h, "text"), REACH_REACHED)->holder_site,
			 recipe_site(h, "c"));
	assert_int_equal(find(&l, recipe_site(h, "text"), REACH_REACHED)->held_blocks, 4);
	leaks_fini(&l);
	h->blocks[10].size_bytes = 8;
	l = leaks_of(h, "r", (uint32_t[]){ NONE, NONE, NONE, 2, 0, 2, 1, 2, 1, 0, 1 },
		     &(struct leaks_options){ 0 });
	assert_int_equal(find(&l, recipe_site(h, "text"), REACH_REACHED)->holder_site,
			 HEAP_NO_SITE);
	assert_int_equal(find(&l, recipe_site(h, "text"), REACH_REACHED)->held_blocks, 0);
	leaks_fini(&l);
	heap_free(h);
}

/* Parents that lead in a circle (there are none from reach_run()) end the search for a holder. */
static void a_circle_of_parents_has_no_holder(void **state)
{
	struct heap *h = recipe_heap("site main>ring size=16 allocs=3\n");
	static const uint32_t parents[] = { 1, 2, 0 };
	struct leaks l = leaks_of(h, "r", parents, &(struct leaks_options){ 0 });

	(void)state;
	assert_int_equal(find(&l, 1, REACH_REACHED)->holder_site, HEAP_NO_SITE);
	leaks_fini(&l);
	heap_free(h);
}

/* ---- possibly lost ---- */

static struct leak_entry possible(const char *process, uint64_t old_ns)
{
	char recipe[300];
	struct leak_entry e;
	struct heap *h;
	struct leaks l;

	snprintf(recipe, sizeof(recipe),
		 "process taken=60s %s\nsite main>a size=10 allocs=2 first=49s last=59s\n",
		 process);
	h = recipe_heap(recipe);
	l = leaks_of(h, "p", NULL, &(struct leaks_options){ .old_ns = old_ns });
	assert_int_equal(l.entries.nr, 1);
	e = l.entries.v[0];
	leaks_fini(&l);
	heap_free(h);
	return e;
}

/* Pointers into the middle alone are no evidence, neither of what is old nor at the end. */
static void possibly_lost_alone_is_unlikely(void **state)
{
	(void)state;
	assert_int_equal(possible("end=running", 0).verdict, LEAK_UNLIKELY);
	assert_int_equal(possible("end=running", 0).reason, LEAK_INTERIOR_ALONE);
	assert_int_equal(possible("end=running", 11 * SECOND).reason, LEAK_INTERIOR_ALONE);
	assert_int_equal(possible("end=running", 11 * SECOND + 1).verdict, LEAK_UNLIKELY);
	assert_int_equal(possible("end=running", 11 * SECOND + 1).reason, LEAK_YOUNG);
	assert_int_equal(possible("end=exited", 11 * SECOND + 1).verdict, LEAK_UNLIKELY);
	assert_int_equal(possible("end=exited", 11 * SECOND + 1).reason, LEAK_INTERIOR_ALONE);
}

/* Where blocks were freed unseen, of an allocator that does not show which. */
static void possibly_lost_may_have_been_freed(void **state)
{
	static const struct { const char *allocator, *missed; enum leak_reason reason; } of[] = {
		{ "/lib/libjemalloc.so.2", "missed-frees=1", LEAK_OR_FREED },
		{ "/lib/libjemalloc.so.2", "", LEAK_INTERIOR_ALONE },
		{ "/lib/libc.so.6", "missed-frees=1", LEAK_INTERIOR_ALONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		char recipe[300];

		snprintf(recipe, sizeof(recipe), "end=exited\nallocator %s\ntotals %s",
			 of[i].allocator, of[i].missed);
		assert_int_equal(possible(recipe, 0).reason, of[i].reason);
		assert_int_equal(possible(recipe, 0).verdict, LEAK_UNLIKELY);
	}
}

/* The verdict on the site of `function`, all of whose blocks are of a class. */
static struct leak_entry judged(struct heap *h, const char *function, const char *class)
{
	struct growing g = { 0 };
	struct leaks l;
	struct leak_entry e;

	assert_int_equal(growing_past(&g, h), 0);
	l = leaks_of(h, class, NULL, &(struct leaks_options){ .growing = &g });
	e = *find(&l, recipe_site(h, function), *class == 'p' ? REACH_POSSIBLE : REACH_REACHED);
	leaks_fini(&l);
	growing_fini(&g);
	return e;
}

/* Many, all of the time; few; and those that stand still, in a running program and at the end. */
static void possibly_lost_is_likely_where_it_grows(void **state)
{
	static const char *const ends[] = { "running", "exited" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char recipe[400];
		struct heap *h;

		snprintf(recipe, sizeof(recipe),
			 "process taken=60s end=%s\nsite main>many size=100 allocs=100 first=0s "
			 "last=60s\n"
			 "site main>few size=100 allocs=40 first=0s last=60s\nsite main>full "
			 "size=100 allocs=60 first=0s last=10s\n",
			 ends[i]);
		h = recipe_heap(recipe);
		assert_int_equal(judged(h, "many", "p").verdict, LEAK_LIKELY);
		assert_int_equal(judged(h, "many", "p").reason, LEAK_INTERIOR);
		assert_int_equal(judged(h, "few", "p").verdict, LEAK_GROWING);
		assert_int_equal(judged(h, "few", "p").reason, LEAK_FILLS);
		assert_int_equal(judged(h, "full", "p").verdict, LEAK_UNLIKELY);
		assert_int_equal(judged(h, "full", "p").reason, LEAK_INTERIOR_STEADY);
		heap_free(h);
	}
}

/* ---- growth ---- */

/*
 * Nobody frees: "grow" gets 100 bytes every second, "full" got all in its first 10 s, "young" is 5
 * s old. After a minute "grow" may be a cache that fills, after five it is likely a leak.
 */
static void reachable_is_likely_when_it_grows_for_long(void **state)
{
	static const struct {
		unsigned seconds;
		enum leak_verdict verdict;
		enum leak_reason reason;
		unsigned has;
	} expect[] = {
		{ 65, LEAK_GROWING, LEAK_FILLS, EVIDENCE_ALL & ~EVIDENCE_LONG },
		{ 299, LEAK_GROWING, LEAK_FILLS, EVIDENCE_ALL & ~EVIDENCE_LONG },
		{ 310, LEAK_LIKELY, LEAK_GROWS, EVIDENCE_ALL },
	};

	(void)state;
	for (size_t i = 0; i < NR(expect); i++) {
		const unsigned s = expect[i].seconds;
		char recipe[400];
		struct leak_entry e;
		struct heap *h;

		snprintf(recipe, sizeof(recipe),
			 "process taken=%us end=running\nsite main>grow size=100 allocs=%u "
			 "first=0s last=%us\n"
			 "site main>full size=100 allocs=1000 first=0s last=10s\nsite main>young "
			 "size=100 allocs=1000 first=%us last=%us\n",
			 s, s, s, s - 5, s);
		h = recipe_heap(recipe);
		e = judged(h, "grow", "r");
		assert_int_equal(e.verdict, expect[i].verdict);
		assert_int_equal(e.reason, expect[i].reason);
		assert_int_equal(e.evidence.has, expect[i].has);
		assert_in_range((uint64_t)e.growth.slope, 97, 103);
		assert_int_equal(judged(h, "full", "r").verdict, LEAK_UNLIKELY);
		assert_int_equal(judged(h, "full", "r").reason, LEAK_STEADY);
		assert_int_equal(judged(h, "young", "r").reason, LEAK_GROWTH_UNKNOWN);
		heap_free(h);
	}
}

/* Blocks of one site that are reachable and possibly lost have the evidence of that site both. */
static void entries_of_a_site_share_its_evidence(void **state)
{
	struct heap *h = recipe_heap("process taken=310s end=running\nsite main>a size=100 "
				     "allocs=310 first=0s last=310s\n");
	struct reach r = reach_of(h, "r", NULL);
	struct growing g = { 0 };
	struct leaks l;

	(void)state;
	for (unsigned i = 0; i < 310; i += 2)
		r.class[i] = REACH_POSSIBLE;
	assert_int_equal(growing_past(&g, h), 0);
	assert_int_equal(leaks_collect(&l, h, &r, NULL), 0);
	assert_int_equal(leaks_judge(&l, h, &(struct leaks_options){ .past = &g }), 0);
	assert_int_equal(l.entries.nr, 2);
	assert_int_equal(find(&l, 1, REACH_REACHED)->reason, LEAK_GROWS);
	assert_int_equal(find(&l, 1, REACH_POSSIBLE)->reason, LEAK_INTERIOR);
	assert_int_equal(find(&l, 1, REACH_POSSIBLE)->evidence.has, EVIDENCE_ALL);
	leaks_fini(&l);
	growing_fini(&g);
	reach_free(&r);
	heap_free(h);
}

/*
 * Blocks that a habit of the program explains are counted in their entries, with the last header.
 */
static void habits_are_counted(void **state)
{
	struct heap *h = recipe_heap("process taken=60s end=running\nsite main>a size=100 allocs=3 "
				     "first=1s last=2s\nsite main>b size=900 allocs=2 first=1s\n");
	struct reach r = reach_of(h, "rrrrr", NULL);
	struct leaks l;

	(void)state;
	assert_int_equal(
		vec_push(&r.habits, (struct reach_habit){ .block = 1, .header_bytes = 16 }), 0);
	assert_int_equal(
		vec_push(&r.habits, (struct reach_habit){ .block = 2, .header_bytes = 16 }), 0);
	assert_int_equal(vec_push(&r.habits, (struct reach_habit){ .block = 4 }), 0);
	assert_int_equal(leaks_collect(&l, h, &r, NULL), 0);
	assert_int_equal(find(&l, 1, REACH_REACHED)->habit_blocks, 2);
	assert_int_equal(find(&l, 1, REACH_REACHED)->habit_bytes, 200);
	assert_int_equal(find(&l, 1, REACH_REACHED)->header_bytes, 16);
	assert_int_equal(find(&l, 2, REACH_REACHED)->habit_blocks, 1);
	assert_int_equal(find(&l, 2, REACH_REACHED)->habit_bytes, 900);
	assert_int_equal(find(&l, 2, REACH_REACHED)->header_bytes, 0);
	vec_fini(&r.habits);
	leaks_fini(&l);
	reach_free(&r);
	heap_free(h);
}

/* ---- again and again ---- */

static void only_what_is_new_is_fresh(void **state)
{
	struct heap *h = recipe_heap("process taken=20s end=running\n"
				     "site main>a size=10 allocs=4 first=1s last=4s\n"
				     "site main>b size=10 allocs=2 first=5s last=6s\n");
	struct heap *later = recipe_heap("process taken=40s end=running\n"
					 "site main>a size=10 allocs=5 first=1s last=5s\n"
					 "site main>b size=10 allocs=3 first=5s last=35s\n");
	struct reach r = reach_of(h, "ddprrr", NULL), r2 = reach_of(later, "ddddprrr", NULL);
	struct leaks_seen seen = { 0 };
	struct leaks l;

	(void)state;
	assert_int_equal(leaks_collect(&l, h, &r, &seen), 0);
	assert_int_equal(find(&l, 1, REACH_DEFINITE)->fresh_blocks, 2);
	assert_int_equal(find(&l, 2, REACH_REACHED)->fresh_blocks, 2);
	leaks_fini(&l);
	assert_int_equal(leaks_see(&seen, h, &r), 0);
	assert_int_equal(leaks_collect(&l, later, &r2, &seen), 0);
	assert_int_equal(find(&l, 1, REACH_DEFINITE)->blocks, 4);
	/* was possibly lost, was reachable */
	assert_int_equal(find(&l, 1, REACH_DEFINITE)->fresh_blocks, 2);
	assert_int_equal(find(&l, 1, REACH_DEFINITE)->fresh_bytes, 20);
	assert_int_equal(find(&l, 1, REACH_POSSIBLE)->fresh_blocks, 1);
	assert_int_equal(find(&l, 2, REACH_REACHED)->fresh_blocks, 1);	/* born at 35 s */
	leaks_fini(&l);
	leaks_seen_fini(&seen);
	reach_free(&r);
	reach_free(&r2);
	heap_free(h);
	heap_free(later);
}

/* A block of the same address, lost too, but born later, is another. */
static void another_block_at_the_same_address_is_fresh(void **state)
{
	struct heap *h = recipe_heap("site main>a size=10 first=1s\n");
	struct reach r = reach_of(h, "d", NULL);
	struct leaks_seen seen = { 0 };
	struct leaks l;

	(void)state;
	assert_int_equal(leaks_see(&seen, h, &r), 0);
	h->blocks[0].birth_ns++;
	assert_int_equal(leaks_collect(&l, h, &r, &seen), 0);
	assert_int_equal(l.entries.v[0].fresh_blocks, 1);
	leaks_fini(&l);
	leaks_seen_fini(&seen);
	reach_free(&r);
	heap_free(h);
}

/* ---- in a heap ---- */

static void expect_same(const struct leak_entry *a, const struct leak_entry *b)
{
	static const struct field fields[] = {
		FIELD(leak_entry, site),
		FIELD(leak_entry, class),
		FIELD(leak_entry, verdict),
		FIELD(leak_entry, reason),
		FIELD(leak_entry, blocks),
		FIELD(leak_entry, bytes),
		FIELD(leak_entry, indirect_blocks),
		FIELD(leak_entry, indirect_bytes),
		FIELD(leak_entry, oldest_ns),
		FIELD(leak_entry, newest_ns),
		FIELD(leak_entry, fresh_blocks),
		FIELD(leak_entry, fresh_bytes),
		FIELD(leak_entry, holder_site),
		FIELD(leak_entry, held_blocks),
		FIELD(leak_entry, chained_blocks),
		FIELD(leak_entry, habit_blocks),
		FIELD(leak_entry, habit_bytes),
		FIELD(leak_entry, header_bytes),
	};
	char what[100];

	if (!fields_equal(fields, NR(fields), a, b, what, sizeof(what)))
		fail_msg("differs in %s", what);
}

static void rows_come_out_as_they_went_in(void **state)
{
	struct heap *h = recipe_heap("process taken=60s end=running\n"
				     "site main>doc size=100 allocs=2 first=1s last=2s\n"
				     "site main>node size=32 allocs=3 first=3s\n");
	static const uint32_t parents[] = { NONE, NONE, 0, 1, 1 };
	struct leaks l = leaks_of(h, "ddiip", parents, &(struct leaks_options){ 0 }), back;
	char why[200];

	(void)state;
	h->search.how = HEAP_SEARCH_COPY;
	h->search.at_ns = h->taken_ns;
	assert_int_equal(leaks_store(&l, h), 0);
	if (heap_check(h, why, sizeof(why)))
		fail_msg("%s", why);
	assert_int_equal(h->nr_leaks, 3);
	assert_int_equal(leaks_load(&back, h), 0);
	assert_int_equal(leaks_judge(&back, h, &(struct leaks_options){ 0 }), 0);
	assert_int_equal(back.entries.nr, l.entries.nr);
	for (size_t i = 0; i < l.entries.nr; i++) {
		const struct leak_entry *a = &l.entries.v[i], *b = &back.entries.v[i];

		expect_same(a, b);
		assert_int_equal(b->example, 0);	/* a capture keeps none */
	}
	assert_memory_equal(l.by_class, back.by_class, sizeof(l.by_class));
	leaks_fini(&l);
	leaks_fini(&back);
	heap_free(h);
}

static void rows_go_to_the_same_sites_of_a_later_heap(void **state)
{
	struct heap *h = recipe_heap("site main>a size=1 allocs=1\nsite main>b size=2 "
				     "allocs=3\nsite main>c size=4 allocs=1\n");
	struct heap *later = recipe_heap("site main>x size=1\nsite main>b size=2\n");
	static const uint32_t parents[] = { NONE, 0, 0, 0, 1 };
	struct leaks l = leaks_of(h, "diiid", parents, &(struct leaks_options){ 0 });
	char why[200];

	(void)state;
	h->sites[1].number = 10;
	h->sites[2].number = 20;
	h->sites[3].number = 30;
	later->sites[2].number = 20;
	h->search = (struct heap_search){ .how = HEAP_SEARCH_EXIT, .took_ns = 7 };
	assert_int_equal(leaks_store(&l, h), 0);
	assert_int_equal(leaks_carry(h, later), 0);
	if (heap_check(later, why, sizeof(why)))
		fail_msg("%s", why);
	assert_int_equal(later->search.took_ns, 7);
	assert_int_equal(later->nr_leaks, 2);
	assert_int_equal(later->leaks[0].class, REACH_INDIRECT);
	assert_int_equal(later->leaks[0].site, 2);
	assert_int_equal(later->leaks[0].holder_site, 0);
	assert_int_equal(later->leaks[0].blocks, 3);
	/* a and c, both not there */
	assert_int_equal(later->leaks[1].class, REACH_DEFINITE);
	assert_int_equal(later->leaks[1].site, 0);
	assert_int_equal(later->leaks[1].blocks, 2);
	assert_int_equal(later->leaks[1].bytes, 5);
	assert_int_equal(later->leaks[1].indirect_blocks, 3);
	leaks_fini(&l);
	heap_free(h);
	heap_free(later);
}

static void nothing_gives_nothing(void **state)
{
	struct heap *h = recipe_heap("#\n");
	struct leaks l = leaks_of(h, "", NULL, &(struct leaks_options){ 0 });

	(void)state;
	assert_int_equal(l.entries.nr, 0);
	assert_int_equal(leaks_store(&l, h), 0);
	assert_int_equal(h->nr_leaks, 0);
	leaks_fini(&l);
	heap_free(h);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(indirect_blocks_count_with_their_definite_one),
		cmocka_unit_test(the_holder_is_the_next_other_site),
		cmocka_unit_test(a_holder_has_the_majority),
		cmocka_unit_test(a_circle_of_parents_has_no_holder),
		cmocka_unit_test(possibly_lost_alone_is_unlikely),
		cmocka_unit_test(possibly_lost_may_have_been_freed),
		cmocka_unit_test(possibly_lost_is_likely_where_it_grows),
		cmocka_unit_test(reachable_is_likely_when_it_grows_for_long),
		cmocka_unit_test(entries_of_a_site_share_its_evidence),
		cmocka_unit_test(habits_are_counted),
		cmocka_unit_test(only_what_is_new_is_fresh),
		cmocka_unit_test(another_block_at_the_same_address_is_fresh),
		cmocka_unit_test(rows_come_out_as_they_went_in),
		cmocka_unit_test(rows_go_to_the_same_sites_of_a_later_heap),
		cmocka_unit_test(nothing_gives_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
