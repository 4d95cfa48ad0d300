/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ledgers with the agent's own frames, wild references and wild lines are read without harm. */
#include "tests/unit/ledger_read.h"
#include "tests/unit/unit.h"

/* main, the agent's hook in two frames, the C library; main, the agent; the agent alone. */
static void frames_of_the_agent_are_passed_over(void **state)
{
	struct image im = image_new();
	pmm_ref ctx = image_ctx(&im);
	struct heap *h;

	(void)state;
	image_module(&im, 1, "/bin/prog");
	image_module(&im, 2, "/usr/lib/pmm/libpmm_check.so");
	image_module(&im, 3, "/lib/libc.so.6");
	image_node(&im, 1, 0, 1, 0x1000);
	image_node(&im, 2, 1, 2, 0x2000);
	image_node(&im, 3, 2, 2, 0x2100);
	image_node(&im, 4, 3, 3, 0x3000);
	image_node(&im, 5, 0, 2, 0x2200);
	image_site(&im, 1, 4, 0);
	image_site(&im, 2, 3, 0);
	image_site(&im, 3, 5, 0);
	image_site(&im, 4, 3, PMM_SITE_MAPPING);
	for (uint32_t i = 1; i <= 4; i++)
		image_record(&im, ctx, i)->allocs = 1;
	h = read_image(&im);
	assert_int_equal(h->nr_sites, 4);
	assert_int_equal(h->sites[1].node, 4);
	assert_int_equal(h->nodes[4].parent, 1);
	assert_int_equal(h->sites[2].node, 1);
	assert_int_equal(h->sites[3].node, 0);
	assert_int_equal(h->map_sites[1].node, 1);
	heap_free(h);
	image_free(&im);
}

static void rings_and_wild_references_are_cut(void **state)
{
	struct image im = image_new();
	pmm_ref a = image_ctx(&im);
	struct pmm_record *r;
	struct pmm_mid *mid;
	struct heap *h;

	(void)state;
	image_node(&im, 1, 1, 9, 0x2000);			/* own parent, no such module */
	image_site(&im, 1, 77, 0);				/* no such node */
	r = image_record(&im, a, 1);
	r->allocs = 1;
	r->bytes_in = 10;
	r->next = ((struct pmm_ctx *)image_at(&im, a))->records;	/* its own successor */
	image_block(&im, PMM_TABLE_HEAP, 0x40000, 10, 1, PMM_KIND_MALLOC, 999, 0);
	image_block(&im, PMM_TABLE_HEAP, 0x40020, 10, 55555, PMM_KIND_MALLOC, 0, 0);
	image_block(&im, PMM_TABLE_HEAP, 0x40040, 10, 1, PMM_KIND_NONE, 0, 0);
	mid = image_at(&im, im.l->table[PMM_TABLE_HEAP].mids);
	mid->next = im.l->table[PMM_TABLE_HEAP].mids;
	mid->leaf[3] = 0xffffffff;
	im.l->exe = 0xffffffff;
	im.l->exe_len = 100;
	h = read_image(&im);
	assert_int_equal(h->sites[1].allocs, 1);
	assert_int_equal(h->sites[1].node, 0);
	assert_int_equal(h->nodes[1].parent, 0);
	assert_int_equal(h->nodes[1].module, 0);
	assert_int_equal(h->nr_blocks, 2);
	assert_int_equal(h->blocks[0].thread, 0);
	assert_int_equal(h->blocks[1].site, 0);
	assert_string_equal(h->exe, "");
	assert_true(damaged >= 8);
	assert_int_equal(h->drift_blocks, damaged);
	heap_free(h);
	image_free(&im);
}

static void lines_that_the_program_named_come_along(void **state)
{
	struct image im = image_new();
	pmm_ref ctx = image_ctx(&im);
	struct heap *h;

	(void)state;
	for (uint32_t i = 1; i < 3; i++) {
		image_srcloc(&im, i, "dir/a.c", "f", 70000 * i);
		image_node(&im, i, 0, PMM_SRCLOC_MODULE, i);
		image_site(&im, i, i, PMM_SITE_SRCLOC);
		image_record(&im, ctx, i)->allocs = 1;
	}
	im.l->compiled_in = 1;
	h = read_image(&im);
	assert_true(heap_srclocs_only(h));
	assert_int_equal(heap_srcloc(h, &h->nodes[h->sites[2].node])->line, 140000);
	assert_string_equal(heap_srcloc(h, &h->nodes[1])->file, "dir/a.c");
	assert_string_equal(heap_srcloc(h, &h->nodes[1])->function, "f");
	assert_int_equal(damaged, 0);
	heap_free(h);
	image_free(&im);
}

/*
 * Texts and chunks anywhere, lengths of anything, more lines than there are, nodes that name none.
 */
static void wild_lines_are_left_out(void **state)
{
	struct image im = image_new();
	pmm_ref ctx = image_ctx(&im);
	uint64_t before;
	struct heap *h;

	(void)state;
	image_srcloc(&im, 1, "a.c", "f", 1)->file = 0xffffffff;
	image_srcloc(&im, 2, "a.c", "f", 2)->function_len = 0xffffffff;
	image_srcloc(&im, 3, "a.c", "f", 3)->file_len = 4096;	/* beyond its end, in the arena */
	image_srcloc(&im, 4, "a.c", "f", 4);
	image_node(&im, 1, 0, PMM_SRCLOC_MODULE, 1);
	image_node(&im, 2, 0, PMM_SRCLOC_MODULE, 4);
	image_node(&im, 3, 0, 0, 0x5000);
	image_node(&im, 4, 0, PMM_SRCLOC_MODULE, 65536);
	for (uint32_t i = 1; i < 5; i++) {
		image_site(&im, i, i, PMM_SITE_SRCLOC);
		image_record(&im, ctx, i)->allocs = 1;
	}
	im.l->nr_srclocs = 0xffffffff;
	im.l->srcloc_dir[1] = 0xffffffff;
	h = read_image(&im);
	before = damaged;
	heap_free(h);
	image_node(&im, 3, 0, PMM_SRCLOC_MODULE, 65535);
	h = read_image(&im);
	assert_string_equal(heap_srcloc(h, &h->nodes[1])->file, "");
	assert_int_equal(h->srclocs[2].line, 0);
	assert_int_equal(h->srclocs[3].line, 3);
	assert_int_equal(heap_srcloc(h, &h->nodes[2])->line, 4);
	assert_null(heap_srcloc(h, &h->nodes[3]));
	assert_null(heap_srcloc(h, &h->nodes[4]));
	assert_true(before >= 5);
	assert_int_equal(damaged, before + 1);	/* a line that there could be, and is not */
	heap_free(h);
	im.l->srcloc_dir[0] = 0;
	h = read_image(&im);
	assert_string_equal(heap_srcloc(h, &h->nodes[1])->function, "");
	heap_free(h);
	image_free(&im);
}

/* Lines that all say the same 4096 bytes: no more is taken than the ledger has. */
static void lines_take_no_more_than_there_is(void **state)
{
	struct image im = image_new();
	static char text[4097];
	struct pmm_srcloc first;
	uint64_t bytes = 0;
	struct heap *h;

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	image_ctx(&im);
	first = *image_srcloc(&im, 1, text, "", 1);
	for (uint32_t i = 2; i < 64; i++)
		*image_srcloc(&im, i, "", "", i) = first;
	for (uint32_t i = 1; i < PMM_MAX_SRCLOCS >> PMM_SRCLOC_SHIFT; i++)
		im.l->srcloc_dir[i] = im.l->srcloc_dir[0];
	im.l->nr_srclocs = PMM_MAX_SRCLOCS;
	h = read_image(&im);
	for (uint32_t i = 0; i < h->nr_srclocs; i++)
		bytes += strlen(h->srclocs[i].file) + strlen(h->srclocs[i].function);
	assert_in_range(bytes, 1, 1 << 20);
	assert_true(damaged > 1000);
	heap_free(h);
	image_free(&im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_the_agent_are_passed_over),
		cmocka_unit_test(rings_and_wild_references_are_cut),
		cmocka_unit_test(lines_that_the_program_named_come_along),
		cmocka_unit_test(wild_lines_are_left_out),
		cmocka_unit_test(lines_take_no_more_than_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
