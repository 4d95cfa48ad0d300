/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heap errors and guarded blocks of hand-made ledgers are read to the exact number; damaged ones
 * are left out without harm. Also of src/ledger/ledger_guards.c, ledger_sites.c.
 */
#include "tests/unit/unit.h"

#include "src/ledger/ledger_heap.h"
#include "tests/unit/ledger_image.h"
#include "tests/unit/ledger_read.h"

#define TICK	PMM_TICK_NS

/*
 * Two threads; sites 1 (of 3 blocks of 10 bytes) and 2 to 4 without records, whose stacks are nodes
 * of the same numbers.
 */
static struct image checked_image(void)
{
	struct image im = image_new();
	struct pmm_record *r = image_record(&im, image_ctx(&im), 1);

	im.tree->check = (struct pmm_check){ .level = PMM_CHECK_GUARD, .flags = PMM_CHECK_LEFT };
	r->allocs = 3;
	r->bytes_in = 30;
	image_thread(&im, 0, 100, "main");
	image_thread(&im, 1, 101, "worker");
	for (uint32_t i = 1; i <= 4; i++) {
		image_node(&im, i, 0, 0, 0x1000 * i);
		image_site(&im, i, i, 0);
	}
	return im;
}

/* A use after free: at site 2, of a block allocated at site 1 and released at site 3. */
static struct pmm_finding *add_after_free(struct image *im, uint32_t nr)
{
	struct pmm_finding *f = image_finding(im, nr);

	*f = (struct pmm_finding){
		.type = PMM_FINDING_AFTER_FREE,
		.by = PMM_BY_ACCESS,
		.access = PMM_ACCESS_WRITE,
		.count = 3,
		.first_tick = 20,
		.last_tick = 25,
		.site = 2,
		.thread = 1,
		.address = 0x7f0000000ffc,
		.size_bytes = 4,
		.block = 0x7f0000000ff6,
		.block_bytes = 10,
		.kind = PMM_KIND_NEW,
		.alloc_site = 1,
		.alloc_tick = 5,
		.alloc_thread = 0,
		.free_site = 3,
		.free_tick = 7,
		.free_thread = 1,
		.code = "\x89\x10",
		.nr_code = 2,
		.guarded = 1,
	};
	return f;
}

static void a_finding_has_all_its_places(void **state)
{
	struct image im = checked_image();
	struct heap_finding *f;
	struct heap *h;

	(void)state;
	add_after_free(&im, 0);
	h = read_image(&im);
	assert_int_equal(damaged, 0);
	assert_int_equal(h->nr_findings, 1);
	f = &h->findings[0];
	assert_int_equal(f->type, PMM_FINDING_AFTER_FREE);
	assert_int_equal(f->by, PMM_BY_ACCESS);
	assert_int_equal(f->access, PMM_ACCESS_WRITE);
	assert_int_equal(f->kind, PMM_KIND_NEW);
	assert_true(f->guarded);
	assert_int_equal(f->number, 0);
	assert_int_equal(f->count, 3);
	assert_int_equal(f->first_ns, 20 * TICK);
	assert_int_equal(f->last_ns, 25 * TICK);
	assert_int_equal(f->address, 0x7f0000000ffc);
	assert_int_equal(f->size_bytes, 4);
	assert_int_equal(f->block, 0x7f0000000ff6);
	assert_int_equal(f->block_bytes, 10);
	assert_int_equal(f->alloc_ns, 5 * TICK);
	assert_int_equal(f->free_ns, 7 * TICK);
	assert_int_equal(f->thread, 1);
	assert_int_equal(f->alloc_thread, 0);
	assert_int_equal(f->free_thread, 1);
	assert_int_equal(f->nr_code, 2);
	assert_memory_equal(f->code, "\x89\x10", 2);
	assert_string_equal(f->text, "");
	/* sites 2 and 3 are known for this finding only, 4 is not */
	assert_int_equal(h->nr_sites, 4);
	assert_int_equal(h->sites[f->site].node, 2);
	assert_int_equal(h->sites[f->alloc_site].node, 1);
	assert_int_equal(h->sites[f->free_site].node, 3);
	assert_int_equal(h->sites[f->free_site].allocs, 0);
	assert_int_equal(h->sites[f->alloc_site].allocs, 3);
	assert_int_equal(h->allocs, 3);
	heap_free(h);
	image_free(&im);
}

static void figures_of_checking_are_read(void **state)
{
	struct image im = checked_image();
	struct heap *h;

	(void)state;
	im.l->check = (struct pmm_check_state){
		.mechanism = PMM_GUARD_MADVISE,
		.findings_lost = 1,
		.left_open = 13,
		.guarded = 2,
		.guarded_now = 3,
		.guarded_most = 4,
		.unguarded_limit = 6,
		.unguarded_large = 8,
		.unguarded_refused = 9,
		.passed = 10,
		.passed_early = 14,
		.unkept_large = 15,
		.unkept_busy = 16,
		.failed_on_purpose = 11,
		.quarantined_bytes = 12,
	};
	for (uint64_t i = 0; i < 2; i++) {
		struct pmm_ctx *c = image_at(&im, image_ctx(&im));

		c->canaried = 2 + i;
		c->unguarded_budget = 3 + i;
	}
	im.l->own_late = PMM_OWN_LATE;
	h = read_image(&im);
	assert_int_equal(h->check.level, PMM_CHECK_GUARD);
	assert_int_equal(h->check.flags, PMM_CHECK_LEFT | PMM_CHECK_ENDED);
	assert_int_equal(h->check.mechanism, PMM_GUARD_MADVISE);
	assert_int_equal(h->check.findings_lost, 1);
	assert_int_equal(h->check.left_open, 13);
	assert_int_equal(h->check.guarded, 2);
	assert_int_equal(h->check.guarded_now, 3);
	assert_int_equal(h->check.guarded_most, 4);
	assert_int_equal(h->check.canaried, 5);
	assert_int_equal(h->check.unguarded_limit, 6);
	assert_int_equal(h->check.unguarded_budget, 7);
	assert_int_equal(h->check.unguarded_large, 8);
	assert_int_equal(h->check.unguarded_refused, 9);
	assert_int_equal(h->check.passed, 10);
	assert_int_equal(h->check.passed_early, 14);
	assert_int_equal(h->check.unkept_large, 15);
	assert_int_equal(h->check.unkept_busy, 16);
	assert_int_equal(h->check.failed_on_purpose, 11);
	assert_int_equal(h->check.quarantined_bytes, 12);
	assert_int_equal(h->nr_findings, 0);
	assert_int_equal(damaged, 0);
	heap_free(h);
	image_free(&im);
}

/* Numbers are given before a finding is complete; they stay the same afterwards. */
static void what_is_half_written_is_left_out(void **state)
{
	struct ledger_options running = { .running = true };
	struct image im = checked_image();
	struct heap *h;

	(void)state;
	add_after_free(&im, 0)->type = PMM_FINDING_NONE;
	add_after_free(&im, 1)->by = PMM_BY_FUNCTION;
	memcpy(image_finding(&im, 1)->function, "abcdefghijklmno\n", PMM_FUNCTION_BYTES);
	im.l->check.nr_findings = 3;
	/* number 1 will have the same place in the list when 0 is complete */
	h = read_with(&im, &running);
	assert_int_equal(h->nr_findings, 0);
	heap_free(h);
	h = read_image(&im);
	assert_int_equal(h->nr_findings, 1);
	assert_int_equal(h->findings[0].number, 1);
	assert_string_equal(h->findings[0].function, "abcdefghijklmno ");
	assert_int_equal(damaged, 0);
	heap_free(h);
	image_free(&im);
}

static void a_block_of_before_the_fork_has_no_thread_here(void **state)
{
	struct image im = checked_image();
	struct pmm_finding *f = add_after_free(&im, 0);
	struct heap *h;

	(void)state;
	f->parent_pid = 77;
	f->alloc_thread = UINT32_MAX;
	h = read_image(&im);
	assert_int_equal(h->findings[0].parent_pid, 77);
	assert_int_equal(h->sites[h->findings[0].alloc_site].node, 1);
	assert_int_equal(h->findings[0].alloc_thread, HEAP_NO_THREAD);
	assert_int_equal(h->findings[0].alloc_ns, 5 * TICK);
	assert_int_equal(h->sites[h->findings[0].free_site].node, 3);
	assert_int_equal(damaged, 0);
	heap_free(h);
	image_free(&im);
}

/* Nothing is known of a block, nothing of a thread: neither is damage. */
static void what_is_not_known_is_no_damage(void **state)
{
	struct image im = checked_image();
	struct heap_finding *f;
	struct heap *h;

	(void)state;
	*image_finding(&im, 0) = (struct pmm_finding){ .type = PMM_FINDING_BAD_FREE,
						       .by = PMM_BY_FUNCTION,
						       .place = PMM_PLACE_STACK,
						       .release = PMM_RELEASE_FREE,
						       .count = 1,
						       .thread = UINT32_MAX };
	h = read_image(&im);
	f = &h->findings[0];
	assert_int_equal(f->place, PMM_PLACE_STACK);
	assert_int_equal(f->release, PMM_RELEASE_FREE);
	assert_int_equal(f->site, 0);
	assert_int_equal(f->alloc_site, HEAP_NO_SITE);
	assert_int_equal(f->free_site, HEAP_NO_SITE);
	assert_int_equal(f->thread, HEAP_NO_THREAD);
	assert_int_equal(f->alloc_thread, HEAP_NO_THREAD);
	assert_int_equal(f->free_thread, HEAP_NO_THREAD);
	assert_int_equal(h->nr_sites, 2);
	assert_int_equal(damaged, 0);
	heap_free(h);
	image_free(&im);
}

static void nonsense_becomes_unknown(void **state)
{
	struct image im = checked_image();
	struct pmm_finding *f = add_after_free(&im, 0);
	struct heap_finding *got;
	struct heap *h;

	(void)state;
	im.l->site_dir[1] = im.l->site_dir[0];
	f->access = f->place = f->kind = f->release = 99;	/* 4 of damage */
	f->nr_code = f->nr_bytes = 17;				/* 2 */
	f->site = 1 << 20;					/* 1 */
	f->alloc_site = UINT32_MAX - 1;				/* 1 */
	f->thread = 2;						/* 1 */
	f->free_thread = 1 << 16;				/* 1 */
	f->last_tick = 3;
	f->count = 0;
	h = read_image(&im);
	assert_int_equal(damaged, 10);
	assert_int_equal(h->nr_findings, 1);
	got = &h->findings[0];
	assert_int_equal(got->access, 0);
	assert_int_equal(got->place, 0);
	assert_int_equal(got->kind, 0);
	assert_int_equal(got->release, 0);
	assert_int_equal(got->nr_code, 16);
	assert_int_equal(got->site, HEAP_NO_SITE);
	assert_int_equal(got->alloc_site, HEAP_NO_SITE);
	assert_int_equal(got->thread, HEAP_NO_THREAD);
	assert_int_equal(got->free_thread, HEAP_NO_THREAD);
	assert_int_equal(got->last_ns, 20 * TICK);
	assert_int_equal(got->count, 1);
	heap_free(h);
	image_free(&im);
}

/*
 * A type or a way that there is not, a block where none can be, a site of mappings, a number of
 * findings that cannot be.
 */
static void what_cannot_be_believed_is_left_out(void **state)
{
	struct image im = checked_image();
	struct heap *h;

	(void)state;
	add_after_free(&im, 0)->type = PMM_NR_FINDING_TYPES;
	add_after_free(&im, 1)->by = PMM_NR_FINDING_BYS;
	add_after_free(&im, 2)->block = 1ull << 47;
	add_after_free(&im, 3)->site = 4;
	image_site(&im, 4, 4, PMM_SITE_MAPPING);
	h = read_image(&im);
	assert_int_equal(damaged, 4);
	assert_int_equal(h->nr_findings, 2);
	assert_int_equal(h->findings[0].number, 2);
	assert_int_equal(h->findings[0].block, 0);
	assert_int_equal(h->findings[0].alloc_site, HEAP_NO_SITE);
	assert_int_equal(h->findings[1].number, 3);
	assert_int_equal(h->findings[1].site, HEAP_NO_SITE);
	heap_free(h);
	add_after_free(&im, 3)->free_site = 5;	/* there are four */
	h = read_image(&im);
	assert_int_equal(damaged, 4);
	assert_int_equal(h->findings[1].site, h->findings[0].site);
	assert_int_equal(h->findings[1].free_site, HEAP_NO_SITE);
	heap_free(h);
	add_after_free(&im, 3)->site = 4;
	/* one for the number, one for each finding without a chunk */
	im.l->check.nr_findings = UINT32_MAX;
	h = read_image(&im);
	assert_int_equal(h->nr_findings, 2);
	assert_int_equal(damaged, 4 + 1 + PMM_MAX_FINDINGS - (1 << PMM_FINDING_SHIFT));
	heap_free(h);
	im.tree->check.level = PMM_NR_CHECK_LEVELS;
	h = read_image(&im);
	assert_int_equal(h->nr_findings, 0);
	assert_int_equal(h->check.level, 0);
	assert_int_equal(damaged, 1);
	heap_free(h);
	image_free(&im);
}

/* ---- guarded blocks -------------------------------------------------------------------------- */

static void guarded_blocks_are_among_the_others(void **state)
{
	struct image im = checked_image();
	struct heap *h;

	(void)state;
	image_block(&im, PMM_TABLE_HEAP, 0x7f0000040000, 10, 1, PMM_KIND_MALLOC, 0, 1);
	image_block(&im, PMM_TABLE_HEAP, 0x40000, 10, 1, PMM_KIND_MALLOC, 0, 2);
	image_guard(&im, 0, 0x7f0000003ff6, 10, 1, 1, 30);
	image_guard(&im, 600, 0x7f0000001000, 5000, 2, 0, 31)->kind = PMM_KIND_NEW_ARRAY;
	image_guard(&im, 601, 0x7f0000009000, 1, 1, 0, 1)->state = PMM_GUARD_FREED;
	image_guard(&im, 602, 0x7f000000a000, 1, 1, 0, 1)->state = PMM_GUARD_UNUSED;
	image_guard(&im, 603, 0x7f000000b000, 1, 1, 0, 1)->pid = im.l->pid + 1;
	h = read_image(&im);
	assert_int_equal(damaged, 0);
	assert_int_equal(h->nr_blocks, 4);
	assert_int_equal(h->blocks[0].address, 0x40000);
	assert_int_equal(h->blocks[1].address, 0x7f0000001000);
	assert_int_equal(h->blocks[1].size_bytes, 5000);
	assert_int_equal(h->blocks[1].kind, PMM_KIND_NEW_ARRAY);
	assert_int_equal(h->blocks[1].birth_ns, 31 * TICK);
	assert_int_equal(h->blocks[1].thread, 0);
	assert_int_equal(h->sites[h->blocks[1].site].node, 2);
	assert_int_equal(h->blocks[2].address, 0x7f0000003ff6);
	assert_int_equal(h->blocks[2].thread, 1);
	assert_int_equal(h->sites[h->blocks[2].site].node, 1);
	assert_int_equal(h->blocks[3].address, 0x7f0000040000);
	assert_int_equal(h->ledger_slots_used, 2);
	heap_free(h);
	image_free(&im);
}

static void damaged_guards_are_left_out(void **state)
{
	struct image im = checked_image();
	struct heap *h;

	(void)state;
	image_block(&im, PMM_TABLE_HEAP, 0x7f0000040000, 10, 1, PMM_KIND_MALLOC, 0, 1);
	image_guard(&im, 0, 0x7f0000003000, 10, 1, 0, 1);
	image_guard(&im, 1, 0x7f0000003000, 20, 1, 0, 1);			/* twice */
	image_guard(&im, 2, 0x7f0000040000, 10, 1, 0, 1);			/* in the tables */
	image_guard(&im, 3, 0x7f0000004000, 10, 1, 0, 1)->kind = PMM_NR_KINDS;
	image_guard(&im, 4, 1ull << 47, 10, 1, 0, 1);
	image_guard(&im, 5, 0, 10, 1, 0, 1);
	image_guard(&im, 6, 0x7f0000005000, PMM_SIZE_MAX + 1, 1, 0, 1);
	h = read_image(&im);
	assert_int_equal(h->nr_blocks, 2);
	assert_int_equal(h->blocks[0].address, 0x7f0000003000);
	assert_int_equal(h->blocks[1].address, 0x7f0000040000);
	assert_int_equal(damaged, 6);
	heap_free(h);
	im.l->guard_dir[9] = UINT32_MAX;
	for (unsigned i = 100; i < PMM_MAX_GUARDS >> PMM_GUARD_SHIFT; i++)
		im.l->guard_dir[i] = im.l->guard_dir[0];
	h = read_image(&im);
	assert_int_equal(h->nr_blocks, 2);
	heap_free(h);
	image_free(&im);
}

/* A reading without blocks has everything else. */
static void blocks_can_be_left_out(void **state)
{
	struct image im = checked_image();
	struct ledger_options o = { .no_blocks = true, .damaged = &damaged };
	struct heap *h;

	(void)state;
	image_block(&im, PMM_TABLE_HEAP, 0x40000, 10, 1, PMM_KIND_MALLOC, 0, 1);
	image_block(&im, PMM_TABLE_MAP, 0x7f0000000000, 8192, 2, PMM_KIND_MMAP, 0, 1);
	image_guard(&im, 0, 0x7f0000003ff6, 10, 1, 1, 30);
	add_after_free(&im, 0);
	h = read_with(&im, &o);
	assert_int_equal(damaged, 0);
	assert_int_equal(h->nr_blocks, 0);
	assert_int_equal(h->nr_maps, 0);
	assert_int_equal(h->live_blocks, 3);
	assert_int_equal(h->nr_findings, 1);
	heap_free(h);
	image_free(&im);
}

static void what_ended_the_process_goes_with_its_finding(void **state)
{
	struct image im = checked_image();
	struct heap *h;

	(void)state;
	*image_finding(&im, 0) = (struct pmm_finding){ .type = PMM_FINDING_CRASH,
						       .by = PMM_BY_SIGNAL,
						       .place = PMM_PLACE_PAST_FILE,
						       .count = 1,
						       .site = 2,
						       .address = 0x5000 };
	im.l->death = (struct pmm_death){ .state = 0,
					  .signal = 6,
					  .fault = 7,
					  .code = 2,
					  .finding = 1,
					  .map_access = 11,
					  .map_start = 0x4000,
					  .map_end = 0x6000,
					  .status = 3,
					  .regs[16] = 99,
					  .text = "/data/\x1b" };
	h = read_image(&im);
	assert_false(h->death.known);		/* not all of it is there yet */
	assert_string_equal(h->findings[0].text, "");
	heap_free(h);
	im.l->death.state = 1;
	h = read_image(&im);
	assert_int_equal(damaged, 0);
	assert_true(h->death.known);
	assert_int_equal(h->death.signal, 6);
	assert_int_equal(h->death.fault, 7);
	assert_int_equal(h->death.code, 2);
	assert_int_equal(h->death.finding, 0);
	assert_int_equal(h->death.map_access, 11);
	assert_int_equal(h->death.map_end, 0x6000);
	assert_int_equal(h->death.status, 3);
	assert_int_equal(h->death.regs[16], 99);
	assert_string_equal(h->findings[0].text, "/data/?");
	heap_free(h);
	im.l->death.signal = im.l->death.fault = 65;		/* 2 of damage */
	im.l->death.map_access = 16;				/* 1 */
	im.l->death.map_start = 0x7000;				/* 1 */
	im.l->death.finding = PMM_MAX_FINDINGS + 1;
	memset(im.l->death.text, 'a', PMM_DEATH_TEXT);
	h = read_image(&im);
	assert_int_equal(damaged, 4);
	assert_int_equal(h->death.signal, 0);
	assert_int_equal(h->death.map_start, 0);
	assert_int_equal(h->death.finding, HEAP_NO_FINDING);
	assert_int_equal(strlen(h->findings[0].text), PMM_DEATH_TEXT);
	heap_free(h);
	image_free(&im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_finding_has_all_its_places),
		cmocka_unit_test(figures_of_checking_are_read),
		cmocka_unit_test(what_is_half_written_is_left_out),
		cmocka_unit_test(a_block_of_before_the_fork_has_no_thread_here),
		cmocka_unit_test(what_is_not_known_is_no_damage),
		cmocka_unit_test(nonsense_becomes_unknown),
		cmocka_unit_test(what_cannot_be_believed_is_left_out),
		cmocka_unit_test(guarded_blocks_are_among_the_others),
		cmocka_unit_test(damaged_guards_are_left_out),
		cmocka_unit_test(blocks_can_be_left_out),
		cmocka_unit_test(what_ended_the_process_goes_with_its_finding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
