/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/model/profile.c, src/analyze/heap_profile.c: sums, differences, frames that are one, hostile
 * numbers; random stacks against a plain list of them.
 */
#include "tests/unit/recipe_heap.h"

#include "src/analyze/heap_profile.h"

static const struct profile_metric two[] = { { "live", "bytes" }, { "live", "blocks" } };

static uint32_t frame(struct profile *p, const char *function)
{
	int64_t n = profile_frame(p, &(struct profile_frame){ .function = function });

	assert_true(n > 0);
	return (uint32_t)n;
}

/* "main>a=5 main=1": the metric's total of each node with frames, in the order of the nodes. */
static char *text_of(const struct profile *p, uint32_t metric, bool self)
{
	static char text[2000];
	char *at = text;

	*at = '\0';
	for (size_t i = 1; i < p->nodes.nr; i++) {
		const char *path[20];
		unsigned nr = 0;
		int64_t v = (self ? p->self.v : p->total.v)[i * p->nr_metrics + metric];

		for (uint32_t n = (uint32_t)i; n; n = p->nodes.v[n].parent)
			path[nr++] = p->frames.v[p->nodes.v[n].frame].function;
		while (nr--)
			at += sprintf(at, "%s%s", path[nr] ? path[nr] : "?", nr ? ">" : "");
		at += sprintf(at, "=%lld ", (long long)v);
	}
	return text;
}

static void stacks_share_nodes_and_add_up(void **state)
{
	struct profile *p = profile_new(two, 2);
	uint32_t f[] = { frame(p, "main"), frame(p, "a"), frame(p, "leaf") };
	uint32_t g[] = { f[0], frame(p, "b") };

	(void)state;
	assert_int_equal(profile_add(p, f, 3, (int64_t[]){ 100, 1 }), 3);
	assert_int_equal(profile_add(p, g, 2, (int64_t[]){ 7, 2 }), 4);
	assert_int_equal(profile_add(p, f, 3, (int64_t[]){ 50, 1 }), 3);
	assert_int_equal(profile_add(p, f, 1, (int64_t[]){ -3, 0 }), 1);
	assert_int_equal(profile_add(p, NULL, 0, (int64_t[]){ 11, 1 }), 0);
	assert_int_equal(profile_sum(p), 0);
	assert_string_equal(text_of(p, 0, true), "main=-3 main>a=0 main>a>leaf=150 main>b=7 ");
	assert_string_equal(text_of(p, 0, false), "main=154 main>a=150 main>a>leaf=150 main>b=7 ");
	assert_string_equal(text_of(p, 1, false), "main=4 main>a=2 main>a>leaf=2 main>b=2 ");
	assert_int_equal(p->total.v[0], 165);
	assert_int_equal(p->total.v[1], 5);
	assert_int_equal(p->nodes.v[0].child, 1);
	assert_int_equal(p->nodes.v[1].child, 4);
	assert_int_equal(p->nodes.v[4].next, 2);
	assert_int_equal(p->nodes.v[2].next, 0);
	profile_free(p);
}

static void a_frame_is_its_four_parts(void **state)
{
	struct profile *p = profile_new(two, 1);
	const struct profile_frame f[] = {
		{ "f", "f.c", "/bin/f", 3 }, { "f", "f.c", "/bin/f", 4 },
		{ "f", "g.c", "/bin/f", 3 }, { "g", "f.c", "/bin/f", 3 },
		{ "f", "f.c", "/bin/g", 3 }, { NULL, "f.c", "/bin/f", 3 },
		{ "", "f.c", "/bin/f", 3 },  { NULL, NULL, NULL, 0 },
		{ "/bin/f", NULL, NULL, 0 }, { NULL, "/bin/f", NULL, 0 },
	};

	(void)state;
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < NR(f); i++)
			assert_int_equal(profile_frame(p, &f[i]), i + 1);
	assert_int_equal(p->frames.nr, NR(f) + 1);
	assert_null(p->frames.v[6].function);
	assert_string_equal(p->frames.v[6].module, "/bin/f");
	assert_string_equal(p->frames.v[7].function, "");
	assert_int_equal(p->frames.v[2].line, 4);
	profile_free(p);
}

static void what_is_no_frame_adds_nothing(void **state)
{
	struct profile *p = profile_new(two, 1);
	uint32_t f[] = { frame(p, "main"), 0 }, g[] = { f[0], 2 }, h[] = { UINT32_MAX };
	int64_t one = 1;

	(void)state;
	assert_int_equal(profile_add(p, f, 2, &one), -EINVAL);
	assert_int_equal(profile_add(p, g, 2, &one), -EINVAL);
	assert_int_equal(profile_add(p, h, 1, &one), -EINVAL);
	assert_int_equal(p->nodes.nr, 1);
	assert_int_equal(profile_sum(p), 0);
	assert_int_equal(p->total.v[0], 0);
	assert_null(profile_new(two, 0));
	assert_null(profile_new(two, PROFILE_MAX_METRICS + 1));
	profile_free(p);
	profile_free(NULL);
}

static void values_stay_in_their_range(void **state)
{
	struct profile *p = profile_new(two, 1), *q = profile_new(two, 1), *d;
	uint32_t a = frame(p, "a"), b = frame(p, "b"), qa = frame(q, "a");
	int64_t most = INT64_MAX, least = INT64_MIN;

	(void)state;
	profile_add(p, &a, 1, &most);
	profile_add(p, &a, 1, &most);
	profile_add(p, &b, 1, &most);
	profile_add(q, &qa, 1, &least);
	assert_int_equal(profile_sum(p), 0);
	assert_true(p->total.v[0] == INT64_MAX && p->self.v[1] == INT64_MAX);
	assert_int_equal(profile_diff(p, q, &d), 0);
	assert_true(d->self.v[1] == INT64_MIN && d->total.v[0] == INT64_MIN);
	profile_free(d);
	assert_int_equal(profile_diff(q, p, &d), 0);
	assert_true(d->self.v[1] == INT64_MAX && d->total.v[0] == INT64_MAX);
	profile_free(d);
	profile_free(p);
	profile_free(q);
}

static void a_difference_has_the_stacks_of_both(void **state)
{
	struct profile *p = profile_new(two, 2), *q = profile_new(two, 2), *d;
	uint32_t f[] = { frame(p, "main"), frame(p, "gone") };
	uint32_t g[] = { frame(q, "new"), frame(q, "main"), frame(q, "grown") };
	const struct profile_metric other[] = { { "live", "bytes" }, { "live", "pages" } };
	struct profile *r = profile_new(other, 2);

	(void)state;
	profile_add(p, f, 2, (int64_t[]){ 10, 1 });
	profile_add(p, f, 1, (int64_t[]){ 5, 1 });
	profile_add(q, &g[0], 1, (int64_t[]){ 8, 1 });
	profile_add(q, &g[1], 1, (int64_t[]){ 5, 1 });
	profile_add(q, &g[1], 2, (int64_t[]){ 1000, 4 });
	assert_int_equal(profile_diff(p, q, &d), 0);
	assert_string_equal(text_of(d, 0, true), "new=8 main=0 main>grown=1000 main>gone=-10 ");
	assert_string_equal(text_of(d, 0, false), "new=8 main=990 main>grown=1000 main>gone=-10 ");
	assert_string_equal(text_of(d, 1, false), "new=1 main=3 main>grown=4 main>gone=-1 ");
	assert_int_equal(d->total.v[0], 998);
	profile_free(d);
	assert_int_equal(profile_diff(p, r, &d), -EINVAL);
	assert_null(d);
	profile_free(p);
	profile_free(q);
	profile_free(r);
}

/* ---- random stacks against a list of them ---- */

struct entry {
	unsigned depth;
	unsigned letter[5];
	int64_t value;
};

static void random_entries(struct entry *e, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		e[i].depth = (unsigned)rand() % 6;
		for (unsigned k = 0; k < e[i].depth; k++)
			e[i].letter[k] = (unsigned)rand() % 3;
		e[i].value = rand() % 1000 - 300;
	}
}

static struct profile *profile_of(const struct entry *e, unsigned nr, bool backwards)
{
	static const char *const name[] = { "x", "y", "z" };
	struct profile *p = profile_new(two, 1);

	for (unsigned i = 0; i < nr; i++) {
		const struct entry *x = &e[backwards ? nr - 1 - i : i];
		uint32_t f[5];

		for (unsigned k = 0; k < x->depth; k++)
			f[k] = frame(p, name[x->letter[k]]);
		assert_true(profile_add(p, f, x->depth, &x->value) >= 0);
	}
	assert_int_equal(profile_sum(p), 0);
	return p;
}

/* The sum of the entries whose stack begins with that of a node. */
static int64_t sum_below(const struct profile *p, uint32_t node, const struct entry *e, unsigned nr)
{
	unsigned letter[5], depth = 0;
	int64_t sum = 0;

	for (uint32_t n = node; n; n = p->nodes.v[n].parent)
		letter[depth++] = (unsigned)(*p->frames.v[p->nodes.v[n].frame].function - 'x');
	for (unsigned i = 0; i < nr; i++) {
		bool begins = e[i].depth >= depth;

		for (unsigned k = 0; begins && k < depth; k++)
			begins = e[i].letter[k] == letter[depth - 1 - k];
		sum += begins ? e[i].value : 0;
	}
	return sum;
}

static void random_stacks(void **state)
{
	struct entry a[60], b[60];

	(void)state;
	srand(15);
	for (unsigned round = 0; round < 200; round++) {
		struct profile *p, *q, *d;

		random_entries(a, NR(a));
		random_entries(b, NR(b));
		p = profile_of(a, NR(a), false);
		q = profile_of(b, NR(b), true);
		for (uint32_t i = 0; i < p->nodes.nr; i++)
			assert_int_equal(p->total.v[i], sum_below(p, i, a, NR(a)));
		assert_int_equal(profile_diff(p, q, &d), 0);
		for (uint32_t i = 0; i < d->nodes.nr; i++)
			assert_int_equal(d->total.v[i],
					 sum_below(d, i, b, NR(b)) - sum_below(d, i, a, NR(a)));
		profile_free(d);
		assert_int_equal(profile_diff(q, q, &d), 0);
		for (size_t i = 0; i < d->self.nr; i++)
			assert_int_equal(d->self.v[i], 0);
		profile_free(d);
		profile_free(p);
		profile_free(q);
	}
}

/* ---- of a heap ---- */

static struct profile *profile_of_recipe(const char *recipe)
{
	struct heap *h = recipe_heap(recipe);
	struct profile *p;
	struct names n;

	recipe_names(&n, h);
	assert_int_equal(heap_profile(h, &n, NULL, &p), 0);
	assert_int_equal(p->total.v[HEAP_PROFILE_LIVE_BYTES], h->live_bytes);
	assert_int_equal(p->total.v[HEAP_PROFILE_PEAK_BYTES], h->peak_bytes);
	assert_int_equal(p->total.v[HEAP_PROFILE_ALLOCATED_BYTES], h->bytes_in);
	assert_int_equal(p->total.v[HEAP_PROFILE_ALLOCATIONS], h->allocs);
	names_fini(&n);
	heap_free(h);
	return p;
}

static void a_heap_is_its_sites(void **state)
{
	struct profile *p = profile_of_recipe("site main>parse>leaf allocs=3 size=100 frees=1\n"
					      "site main>outer|inner allocs=1 size=8\n"
					      "site main allocs=2 size=1\n");

	(void)state;
	assert_string_equal(text_of(p, HEAP_PROFILE_LIVE_BYTES, false),
			    "main=210 main>parse=200 main>parse>leaf=200 main>outer=8 "
			    "main>outer>inner=8 ");
	assert_string_equal(text_of(p, HEAP_PROFILE_LIVE_BLOCKS, true),
			    "main=2 main>parse=0 main>parse>leaf=2 main>outer=0 "
			    "main>outer>inner=1 ");
	assert_string_equal(text_of(p, HEAP_PROFILE_ALLOCATED_BYTES, true),
			    "main=2 main>parse=0 main>parse>leaf=300 main>outer=0 "
			    "main>outer>inner=8 ");
	assert_string_equal(text_of(p, HEAP_PROFILE_ALLOCATIONS, false),
			    "main=6 main>parse=3 main>parse>leaf=3 main>outer=1 "
			    "main>outer>inner=1 ");
	assert_string_equal(p->frames.v[1].function, "leaf");
	assert_string_equal(p->frames.v[1].file, "/src/leaf.c");
	assert_int_equal(p->frames.v[1].line, 7);
	profile_free(p);
}

static void two_heaps_differ_by_their_sites(void **state)
{
	struct profile *p = profile_of_recipe("site main>a allocs=3 size=100\n"
					      "site main>b allocs=1 size=5\n");
	struct profile *q = profile_of_recipe("site main>b allocs=1 size=5\n"
					      "site main>c>d allocs=2 size=40\n"
					      "site main>a allocs=4 size=100\n");
	struct profile *d;

	(void)state;
	assert_int_equal(profile_diff(p, q, &d), 0);
	assert_string_equal(text_of(d, HEAP_PROFILE_LIVE_BYTES, false),
			    "main=180 main>b=0 main>c=80 main>c>d=80 main>a=100 ");
	profile_free(d);
	profile_free(p);
	profile_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_share_nodes_and_add_up),
		cmocka_unit_test(a_frame_is_its_four_parts),
		cmocka_unit_test(what_is_no_frame_adds_nothing),
		cmocka_unit_test(values_stay_in_their_range),
		cmocka_unit_test(a_difference_has_the_stacks_of_both),
		cmocka_unit_test(random_stacks),
		cmocka_unit_test(a_heap_is_its_sites),
		cmocka_unit_test(two_heaps_differ_by_their_sites),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
