/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ledgers made by hand are read to the exact number. */
#include "src/model/heap_lifetimes.h"
#include "tests/unit/ledger_read.h"
#include "tests/unit/unit.h"

#define TOTAL(epoch, rising, bytes) ((uint64_t)(bytes) << 21 | (uint64_t)(rising) << 20 | (epoch))

/* ---- sites ----------------------------------------------------------------------------------- */

static void an_empty_ledger_is_an_empty_heap(void **state)
{
	struct image im = image_new();
	struct heap *h = read_image(&im);

	(void)state;
	assert_string_equal(h->comm, "victim");
	assert_int_equal(h->pid, getpid());
	assert_int_equal(h->end, HEAP_RUNNING);
	assert_int_equal(h->nr_sites, 1);
	assert_int_equal(h->nr_map_sites, 1);
	assert_int_equal(h->nr_blocks, 0);
	assert_int_equal(h->live_bytes, 0);
	assert_int_equal(h->peak_bytes, 0);
	assert_int_equal(h->taken_ns, 10000000000);
	assert_int_equal(h->drift_blocks, 0);
	assert_int_equal(damaged, 0);
	heap_free(h);
	image_free(&im);
}

/* Blocks allocated by one thread and released by another: one of the two records is negative. */
static void contexts_that_share_a_site_add_up(void **state)
{
	struct image im = image_new();
	pmm_ref a = image_ctx(&im), b = image_ctx(&im);
	struct pmm_record *r;
	struct heap *h;

	(void)state;
	image_node(&im, 1, 0, 0, 0x1000);
	image_node(&im, 2, 1, 0, 0x2000);
	image_site(&im, 1, 2, 0);
	r = image_record(&im, a, 1);
	r->bytes_in = 1000;
	r->allocs = 10;
	r->max_bytes = 200;
	r->first_tick = 5;
	r->last_tick = 50;
	r->frees = 3;
	r->lives_apart = -1;
	image_lifetimes(&im, r)[3] = 1;
	r = image_record(&im, b, 1);
	r->bytes_in = 64;
	r->allocs = 1;
	r->bytes_out = 364;
	r->frees = 4;
	r->temporary = 1;
	r->max_bytes = 64;
	r->failed = 2;
	r->zero_size = 3;
	r->huge = 4;
	r->first_tick = 0;
	r->last_tick = 7;
	image_lifetimes(&im, r)[3] = 2;
	h = read_image(&im);
	assert_int_equal(h->nr_sites, 2);
	assert_int_equal(h->sites[1].node, 2);
	assert_int_equal(h->sites[1].bytes_in, 1064);
	assert_int_equal(h->sites[1].bytes_out, 364);
	assert_int_equal(h->sites[1].live_bytes, 700);
	assert_int_equal(h->sites[1].live_blocks, 4);
	assert_int_equal(h->sites[1].max_bytes, 200);
	assert_int_equal(h->sites[1].first_ns, 0);
	assert_int_equal(h->sites[1].last_ns, 500000000);
	assert_int_equal(heap_lifetime(h, &h->sites[1], 3), 3);
	assert_int_equal(heap_lifetime(h, &h->sites[1], 0), 5);
	assert_int_equal(h->live_bytes, 700);
	assert_int_equal(h->live_blocks, 4);
	assert_int_equal(h->allocs, 11);
	assert_int_equal(h->frees, 7);
	assert_int_equal(h->temporary, 1);
	assert_int_equal(h->failed, 2);
	assert_int_equal(h->zero_size, 3);
	assert_int_equal(h->huge, 4);
	assert_int_equal(h->nodes[2].parent, 1);
	assert_int_equal(h->nodes[2].pc, 0x2000);
	assert_int_equal(damaged, 0);
	heap_free(h);
	image_free(&im);
}

/* A thread that only released does not move the first allocation to tick 0. */
static void times_are_of_allocations(void **state)
{
	struct image im = image_new();
	pmm_ref a = image_ctx(&im), b = image_ctx(&im);
	struct pmm_record *r;
	struct heap *h;

	(void)state;
	image_site(&im, 1, 1, 0);
	image_node(&im, 1, 0, 0, 0x1000);
	r = image_record(&im, a, 1);
	r->frees = 1;
	r->first_tick = 0;
	r->last_tick = 90;
	r = image_record(&im, b, 1);
	r->allocs = 2;
	r->first_tick = 30;
	r->last_tick = 40;
	h = read_image(&im);
	assert_int_equal(h->sites[1].first_ns, 300000000);
	assert_int_equal(h->sites[1].last_ns, 400000000);
	heap_free(h);
	image_free(&im);
}

static void mapping_sites_stand_apart(void **state)
{
	struct image im = image_new();
	pmm_ref a = image_ctx(&im);
	struct heap_site_point points[] = {{10, 1, 0, 5, 1}, {10, 2, 0, 6, 1}, {20, 3, 0, 7, 1}};
	struct ledger_options o = {.damaged = &damaged, .site_points = points, .nr_site_points = 3};
	struct pmm_record *map;
	struct heap *h;

	(void)state;
	image_node(&im, 1, 0, 0, 0x1000);
	image_node(&im, 2, 0, 0, 0x2000);
	image_node(&im, 3, 0, 0, 0x3000);
	image_site(&im, 1, 1, 0);
	image_site(&im, 2, 2, PMM_SITE_MAPPING);
	image_site(&im, 3, 3, 0);
	image_record(&im, a, 1)->bytes_in = 100;
	map = image_record(&im, a, 2);
	map->bytes_in = 8192;
	map->allocs = 2;
	map->frees = 1;
	image_record(&im, a, 3)->bytes_in = 10;
	image_thread(&im, 0, 77, "main");
	image_block(&im, PMM_TABLE_HEAP, 0x10000, 10, 3, PMM_KIND_MALLOC, 0, 1);
	image_block(&im, PMM_TABLE_MAP, 0x7f0000000000, 8192, 2, PMM_KIND_MMAP, 0, 1);
	h = read_with(&im, &o);
	assert_int_equal(h->nr_sites, 3);
	assert_int_equal(h->nr_map_sites, 2);
	assert_int_equal(h->sites[2].node, 3);
	assert_int_equal(h->map_sites[1].node, 2);
	assert_int_equal(h->map_sites[1].live_bytes, 8192);
	assert_int_equal(h->map_sites[1].frees, 1);
	assert_int_equal(heap_lifetime(h, &h->map_sites[1], 0), 0);
	assert_int_equal(h->live_bytes, 110);
	assert_int_equal(h->nr_blocks, 1);
	assert_int_equal(h->blocks[0].site, 2);
	assert_int_equal(h->nr_maps, 1);
	assert_int_equal(h->maps[0].site, 1);
	assert_int_equal(h->maps[0].address, 0x7f0000000000);
	assert_int_equal(h->nr_site_points, 2);
	assert_int_equal(h->site_points[0].site, 1);
	assert_int_equal(h->site_points[1].site, 2);
	assert_int_equal(h->site_points[1].live_bytes, 7);
	assert_int_equal(damaged, 0);
	heap_free(h);
	image_free(&im);
}

/* ---- the peak -------------------------------------------------------------------------------- */

/* Two sites; the first was changed since the seal (in a context of epoch 3), the second was not. */
static struct image peak_image(uint64_t total, uint64_t live_bytes)
{
	struct image im = image_new();
	pmm_ref a = image_ctx(&im), b = image_ctx(&im);
	struct pmm_record *r;

	image_node(&im, 1, 0, 0, 0x1000);
	image_site(&im, 1, 1, 0);
	image_site(&im, 2, 1, 0);
	im.l->total = total;
	im.l->epoch = 3;
	im.l->peak_epoch = 2;
	im.l->peak_bytes = 1500;
	im.l->peak_tick = 20;
	r = image_record(&im, a, 1);
	r->bytes_in = 4950 + live_bytes - 400;
	r->bytes_out = 4900;
	r->allocs = 50;
	r->frees = 49;
	r->epoch = 3;
	r->at_peak_bytes = 1200;
	r->at_peak_blocks = 12;
	r->first_tick = 1;
	r->last_tick = 60;
	r = image_record(&im, b, 1);
	r->bytes_out = 50;
	r->frees = 0;
	r->epoch = 3;
	r->at_peak_bytes = -100;
	r->at_peak_blocks = -1;
	r = image_record(&im, b, 2);
	r->bytes_in = 400;
	r->allocs = 4;
	r->epoch = 2;
	r->at_peak_bytes = 77;		/* of an older peak: must not be used */
	r->at_peak_blocks = 7;
	r->first_tick = 1;
	r->last_tick = 2;
	return im;
}

static void a_sealed_peak_is_composed_of_saved_and_unchanged_values(void **state)
{
	struct image im = peak_image(TOTAL(3, 0, 450), 450);
	struct heap *h = read_image(&im);

	(void)state;
	assert_int_equal(h->sites[1].peak_bytes, 1100);
	assert_int_equal(h->sites[1].peak_blocks, 11);
	assert_int_equal(h->sites[2].peak_bytes, 400);
	assert_int_equal(h->sites[2].peak_blocks, 4);
	assert_int_equal(h->peak_bytes, 1500);
	assert_int_equal(h->peak_ns, 200000000);
	assert_int_equal(h->live_bytes, 450);
	heap_free(h);
	image_free(&im);
}

static void while_the_total_rises_the_peak_is_now(void **state)
{
	struct image im = peak_image(TOTAL(3, 1, 1650), 1650);
	struct heap *h = read_image(&im);

	(void)state;
	assert_int_equal(h->sites[1].peak_bytes, 1250);
	assert_int_equal(h->sites[1].peak_blocks, 1);
	assert_int_equal(h->sites[2].peak_bytes, 400);
	assert_int_equal(h->peak_bytes, 1650);
	assert_int_equal(h->peak_ns, 600000000);
	heap_free(h);
	image_free(&im);
}

/* The peak was sealed at its first release; points of the series were at it before that. */
static void the_peak_is_dated_by_the_first_point_at_it(void **state)
{
	struct image im = peak_image(TOTAL(3, 0, 450), 450);
	const struct heap_point points[] = { { 50000000, 1499, 1, 1, 0 },
					     { 75000000, 1500, 1, 1, 0 },
					     { 120000000, 1500, 1, 1, 0 },
					     { 300000000, 1500, 1, 1, 0 } };
	struct ledger_options o = { .points = points, .nr_points = 4 };
	struct heap *h = read_with(&im, &o);

	(void)state;
	assert_int_equal(h->peak_bytes, 1500);
	assert_int_equal(h->peak_ns, 75000000);
	heap_free(h);
	o = (struct ledger_options){ .points = &points[3], .nr_points = 1 };
	h = read_with(&im, &o);
	assert_int_equal(h->peak_ns, 200000000);
	heap_free(h);
	image_free(&im);
}

/* It is still growing: what the series has seen of less came before. */
static void a_peak_that_is_now_is_after_lower_points(void **state)
{
	struct image im = peak_image(TOTAL(3, 1, 1650), 1650);
	struct heap *h = read_with(&im, &(struct ledger_options){ .running = false });
	const uint64_t peak = h->peak_bytes, ns = h->peak_ns;
	const struct heap_point points[] = { { ns + 9000000, peak - 1, 1, 1, 0 },
					     { ns + 19000000, peak, 1, 1, 0 } };

	(void)state;
	heap_free(h);
	h = read_with(&im, &(struct ledger_options){ .points = points, .nr_points = 2 });
	assert_int_equal(h->peak_bytes, peak);
	assert_int_equal(h->peak_ns, ns + 9000000);
	heap_free(h);
	image_free(&im);
}

/* Of one that has ended: who was there at the last look, and what each was called last. */
static void threads_are_as_they_were_seen(void **state)
{
	static const struct { const char *name; uint32_t tid, tick, current; } of[] = {
		{ "main", 10, 0, 1 },  { "ended", 11, 1, 1 },  { "noticed", 12, 1, 0 },
		{ "first", 13, 1, 0 }, { "second", 13, 5, 1 }, { "late", 14, 9, 1 },
		{ "later", 15, 10, 1 }, { "program", 16, 0, 1 },
	};
	static const struct { const char *name; bool alive; } expected[] = {
		{ "m in", true },   { "renamed", false }, { "noticed", false },
		{ "first", false }, { "2nd", true },	  { "late", false },
		{ "later", true },  { "program", true },
	};
	const struct ledger_seen seen[] = { { 10, "m\tin", 100000000 },
					    { 11, "renamed", 50000000 },
					    { 13, "2nd", 100000000 },
					    { 16, "executed", 100000000 } };
	struct ledger_options o = { .seen = seen, .nr_seen = NR(seen), .seen_ns = 100000000 };
	struct image im = image_new();
	struct heap *h;

	(void)state;
	im.l->pid = 16;
	for (uint32_t i = 0; i < NR(of); i++) {
		struct pmm_thread *t = image_thread(&im, i, of[i].tid, of[i].name);

		t->start_tick = of[i].tick;
		t->current = of[i].current;
	}
	h = read_with(&im, &o);
	assert_int_equal(h->nr_threads, NR(of));
	for (uint32_t i = 0; i < NR(of); i++) {
		assert_string_equal(h->threads[i].name, expected[i].name);
		assert_int_equal(h->threads[i].alive, expected[i].alive);
	}
	heap_free(h);
	image_free(&im);
}

/* The thread that was to raise the total to 1550 died before its allocation was in its record. */
static void a_rise_cut_short_leaves_the_peak_before(void **state)
{
	struct image im = peak_image(TOTAL(3, 1, 1550), 450);
	struct heap *h = read_image(&im);

	(void)state;
	assert_int_equal(h->sites[1].peak_bytes, 1100);
	assert_int_equal(h->sites[1].peak_blocks, 11);
	assert_int_equal(h->sites[2].peak_bytes, 400);
	assert_int_equal(h->sites[2].peak_blocks, 4);
	assert_int_equal(h->peak_bytes, 1500);
	assert_int_equal(h->peak_ns, 200000000);
	assert_int_equal(h->live_bytes, 450);
	assert_int_equal(h->allocs, 54);
	heap_free(h);
	image_free(&im);
}

/* The thread that sealed the peak died before it wrote the epoch down: the word alone knows. */
static void a_seal_cut_short_counts(void **state)
{
	struct image im = peak_image(TOTAL(3, 0, 450), 450);
	struct heap *h;

	(void)state;
	im.l->epoch = 2;
	im.l->peak_epoch = 1;
	h = read_image(&im);
	assert_int_equal(h->sites[1].peak_bytes, 1100);
	assert_int_equal(h->sites[2].peak_bytes, 400);
	heap_free(h);
	image_free(&im);
}

/* The word holds 20 bits of the epoch. */
static void epochs_wrap(void **state)
{
	struct image im = peak_image(TOTAL(1, 0, 450), 450);
	struct heap *h;

	(void)state;
	im.l->epoch = (5u << 20) + 1;
	im.l->peak_epoch = 5u << 20;
	h = read_image(&im);
	assert_int_equal(h->sites[1].peak_bytes, 50);	/* changed long before the peak */
	heap_free(h);
	image_free(&im);
}

/* ---- the rest -------------------------------------------------------------------------------- */

/* The command line of a process with these arguments is that. */
static void arguments_are(const char *args, size_t bytes, const char *expected)
{
	struct image im = image_new();
	struct heap *h;

	im.l->cmdline = image_string(&im, args, (uint32_t)bytes);
	im.l->cmdline_len = (uint32_t)bytes;
	h = read_image(&im);
	assert_string_equal(h->cmdline, expected);
	heap_free(h);
	image_free(&im);
}

static void a_title_is_no_list_of_arguments(void **state)
{
	(void)state;
	arguments_are("a b: idle\0\0\0\0", 13, "a b: idle");
	arguments_are("a b\0\0", 5, "'a b' ''");
	arguments_are("a\0b\0\0\0\0", 7, "a b");
	arguments_are("\0\0\0\0", 4, "'' '' '' ''");
	arguments_are("a\0", 2, "a");
}

static void names_modules_and_threads_come_along(void **state)
{
	struct image im = image_new();
	struct pmm_ctx *c = image_at(&im, image_ctx(&im));
	struct pmm_module *m = image_module(&im, 1, "/lib/libx.so");
	struct pmm_thread *t = image_thread(&im, 0, 77, "a\xffz");
	struct heap *h;

	(void)state;
	m->start = 0x7000;
	m->end = 0x9000;
	m->bias = 0x7000;
	m->unload_tick = 9;
	m->build_id_len = 2;
	m->build_id[1] = 0xab;
	image_node(&im, 1, 0, 1, 0x7123);
	image_node(&im, 2, 1, 0, PMM_FRAME_TRUNCATED);
	t->current = 1;
	t->sums.allocs = 5;
	c->thread = 0;
	c->base.allocs = 2;
	c->untracked_frees = 3;
	c->skipped_allocs = 2;
	c->skipped_bytes = 20;
	c->class[2].calls[PMM_KIND_CALLOC] = 6;
	c->class[2].failed = 1;
	im.l->cmdline = image_string(&im, "prog\0a b\0\0it's", 14);
	im.l->cmdline_len = 14;
	im.l->exe = image_string(&im, "/bin/prog", 9);
	im.l->exe_len = 9;
	im.l->allocator = image_string(&im, "/lib/libc.so.6", 14);
	im.l->allocator_len = 14;
	im.l->allocator_view = (struct pmm_allocator_view){.tick = 7, .valid = 1, .used_bytes = 99};
	im.l->mapping =
		(struct pmm_mapping_totals){.brk_start = 1000, .brk_now = 1500, .brk_max = 3000};
	im.l->state = PMM_STATE_EXITED;
	im.l->end_tick = 800;
	im.l->start_tick = 100;
	im.l->forked = 1;
	im.l->dropped[PMM_DROP_NESTED] = 4;
	im.l->off_reason = PMM_OFF_NO_MEMORY;
	h = read_image(&im);
	assert_string_equal(h->cmdline, "prog 'a b' '' 'it'\\''s'");
	assert_string_equal(h->exe, "/bin/prog");
	assert_string_equal(h->allocator.path, "/lib/libc.so.6");
	assert_int_equal(h->allocator.used_bytes, 99);
	assert_int_equal(h->allocator.taken_ns, 70000000);
	assert_int_equal(h->nr_modules, 2);
	assert_string_equal(h->modules[1].path, "/lib/libx.so");
	assert_int_equal(h->modules[1].bias, 0x7000);
	assert_int_equal(h->modules[1].unload_ns, 90000000);
	assert_int_equal(h->modules[1].build_id[1], 0xab);
	assert_int_equal(h->nodes[1].module, 1);
	assert_int_equal(h->nodes[1].pc, 0x7123);
	assert_int_equal(h->nodes[2].module, 0);
	assert_int_equal(h->nodes[2].pc, PMM_FRAME_TRUNCATED);
	assert_int_equal(h->nr_threads, 1);
	assert_string_equal(h->threads[0].name, "a?z");
	assert_int_equal(h->threads[0].allocs, 9);
	assert_true(h->threads[0].alive);
	assert_int_equal(h->class[2].calls[PMM_KIND_CALLOC], 6);
	assert_int_equal(h->class[2].failed, 1);
	assert_int_equal(h->untracked_frees, 3);
	assert_int_equal(h->skipped_bytes, 20);
	assert_int_equal(h->mapping.brk_growth_bytes, 500);
	assert_int_equal(h->mapping.brk_peak_bytes, 2000);
	assert_int_equal(h->end, HEAP_EXITED);
	assert_int_equal(h->taken_ns, 8000000000);
	assert_int_equal(h->attach_ns, 1000000000);
	assert_int_equal(h->began, HEAP_BEGAN_FORK);
	assert_int_equal(h->dropped[PMM_DROP_NESTED], 4);
	assert_int_equal(h->off_reason, PMM_OFF_NO_MEMORY);
	heap_free(h);
	image_free(&im);
}

/* The agent said why it did not ask its allocator, or could not be expected to. */
static void figures_that_were_not_taken(void **state)
{
	static const struct { const char *path; uint32_t view; enum heap_figures why;
	} of[] = {
		{ "/lib/libc.so.6", PMM_VIEW_NONE, HEAP_FIGURES_KNOWN },
		{ "/lib/libc.so.6", PMM_VIEW_LONG, HEAP_FIGURES_LONG },
		{ "/lib/libc.so.6", PMM_VIEW_LOCKED, HEAP_FIGURES_LOCKED },
		{ "/lib/libc.so.6", 77, HEAP_FIGURES_KNOWN },
		{ "/lib/libjemalloc.so.2", PMM_VIEW_NONE, HEAP_FIGURES_OTHER },
	};

	(void)state;
	for (unsigned i = 0; i < NR(of); i++) {
		struct image im = image_new();
		struct heap *h;

		im.l->allocator = image_string(&im, of[i].path, strlen(of[i].path));
		im.l->allocator_len = (uint32_t)strlen(of[i].path);
		im.l->allocator_view = (struct pmm_allocator_view){ .valid = of[i].view,
								    .used_bytes = 99 };
		h = read_image(&im);
		assert_false(h->allocator.valid);
		assert_int_equal(h->allocator.why, of[i].why);
		assert_int_equal(h->allocator.used_bytes, 0);
		heap_free(h);
		image_free(&im);
	}
}

/* In 300 days a busy site has more than 2^32 samples: those that are live are right. */
static void samples_begin_anew(void **state)
{
	struct image im = image_new();
	pmm_ref a = image_ctx(&im), b = image_ctx(&im);
	struct pmm_record *r;
	struct heap *h;

	(void)state;
	image_node(&im, 1, 0, 0, 0x1000);
	image_site(&im, 1, 1, 0);
	r = image_record(&im, a, 1);
	r->samples_in = 100;			/* 2^32 + 100 */
	r->samples_out = UINT32_MAX - 1;
	r = image_record(&im, b, 1);
	r->samples_in = 7;
	r->samples_out = 10;
	h = read_image(&im);
	assert_int_equal(h->sites[1].samples_out, UINT32_MAX + 9ull);
	assert_int_equal(h->sites[1].samples_in, UINT32_MAX + 1ull + 107);
	heap_free(h);
	r->samples_out = 200;			/* read before the other thread's allocation */
	h = read_image(&im);
	assert_int_equal(h->sites[1].samples_in, h->sites[1].samples_out);
	heap_free(h);
	image_free(&im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_that_were_not_taken),
		cmocka_unit_test(an_empty_ledger_is_an_empty_heap),
		cmocka_unit_test(contexts_that_share_a_site_add_up),
		cmocka_unit_test(samples_begin_anew),
		cmocka_unit_test(times_are_of_allocations),
		cmocka_unit_test(mapping_sites_stand_apart),
		cmocka_unit_test(a_sealed_peak_is_composed_of_saved_and_unchanged_values),
		cmocka_unit_test(while_the_total_rises_the_peak_is_now),
		cmocka_unit_test(the_peak_is_dated_by_the_first_point_at_it),
		cmocka_unit_test(a_peak_that_is_now_is_after_lower_points),
		cmocka_unit_test(threads_are_as_they_were_seen),
		cmocka_unit_test(a_rise_cut_short_leaves_the_peak_before),
		cmocka_unit_test(a_seal_cut_short_counts),
		cmocka_unit_test(epochs_wrap),
		cmocka_unit_test(a_title_is_no_list_of_arguments),
		cmocka_unit_test(names_modules_and_threads_come_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
