/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks and mappings of ledgers made by hand: their order, addresses, who made them and when; and
 * tables that lie.
 */
#include "src/store/capture.h"
#include "tests/unit/ledger_read.h"

static void blocks_of_all_tables_come_in_order(void **state)
{
	struct image im = image_new();
	pmm_ref a = image_ctx(&im);
	struct heap *h;

	(void)state;
	image_node(&im, 1, 0, 0, 0x1000);
	image_site(&im, 1, 1, 0);
	image_record(&im, a, 1)->allocs = 5;
	image_thread(&im, 0, 77, "main");
	image_thread(&im, 1, 78, "worker");
	image_block(&im, PMM_TABLE_HEAP, 0x55550001f010, 48, 1, PMM_KIND_CALLOC, 1, 250);
	image_block(&im, PMM_TABLE_HEAP, 0x555500000030, 17, 1, PMM_KIND_MALLOC, 0, 100);
	image_block(&im, PMM_TABLE_HEAP, 0x7fff00000000, 1, 1, PMM_KIND_NEW, 0, 3);
	image_block(&im, PMM_TABLE_DENSE, 0x555500000038, 8, 1, PMM_KIND_REALLOC, 0, 4);
	image_block(&im, PMM_TABLE_DENSE, 0x1000, 8, 1, PMM_KIND_REALLOC, 0, 4);
	h = read_image(&im);
	assert_int_equal(h->nr_blocks, 5);
	assert_int_equal(h->blocks[0].address, 0x1000);
	assert_int_equal(h->blocks[1].address, 0x555500000030);
	assert_int_equal(h->blocks[1].size_bytes, 17);
	assert_int_equal(h->blocks[1].birth_ns, 1000000000);
	assert_int_equal(h->blocks[1].kind, PMM_KIND_MALLOC);
	assert_int_equal(h->blocks[2].address, 0x555500000038);
	assert_int_equal(h->blocks[2].kind, PMM_KIND_REALLOC);
	assert_int_equal(h->blocks[3].address, 0x55550001f010);
	assert_int_equal(h->blocks[3].thread, 1);
	assert_int_equal(h->blocks[3].site, 1);
	assert_int_equal(h->blocks[4].address, 0x7fff00000000);
	assert_int_equal(h->ledger_slots_used, 5);
	assert_int_equal(h->ledger_slots, 5 * 256);
	assert_int_equal(damaged, 0);
	heap_free(h);
	image_free(&im);
}

/* All places a block can start at within a granule of 32 bytes. */
static void addresses_below_the_granule_are_kept(void **state)
{
	(void)state;
	for (unsigned at = 0; at < 32; at += 8) {
		struct image im = image_new();
		struct heap *h;

		image_block(&im, PMM_TABLE_HEAP, 0x40000 + at, 1, 0, PMM_KIND_MALLOC, 0, 0);
		h = read_image(&im);
		assert_int_equal(h->nr_blocks, 1);
		assert_int_equal(h->blocks[0].address, 0x40000 + at);
		heap_free(h);
		image_free(&im);
	}
}

/* Up to 56 bytes thread and time are looked up; beyond, they stand in the next granule's word. */
static void small_and_wide_blocks_say_who_and_when(void **state)
{
	struct image im = image_new();
	struct heap *h;

	(void)state;
	for (unsigned i = 0; i < 60; i++)
		image_thread(&im, i, 100 + i, "t");
	image_block(&im, PMM_TABLE_HEAP, 0x40000, 56, 1, PMM_KIND_MALLOC, 50, 7);
	image_block(&im, PMM_TABLE_HEAP, 0x40040, 57, 0xfffff, PMM_KIND_OTHER, 51, UINT32_MAX);
	image_block(&im, PMM_TABLE_HEAP, 0x40080, 0, 1, PMM_KIND_MALLOC, 52, 9);
	/* the last granule of a leaf, and nothing after it */
	image_block(&im, PMM_TABLE_HEAP, 0x40000 + 255 * 32, PMM_SIZE_MAX, 1, PMM_KIND_NEW, 53, 10);
	image_block(&im, PMM_TABLE_MAP, 0x7f0000000000, 20, 1, PMM_KIND_MMAP, 54, 11);
	image_block(&im, PMM_TABLE_MAP, 0x7f0000001000, 1ull << 40, 1, PMM_KIND_MMAP, 55, 12);
	h = read_image(&im);
	assert_int_equal(h->nr_blocks, 4);
	assert_int_equal(h->blocks[0].size_bytes, 56);
	assert_int_equal(h->blocks[0].thread, 50);
	assert_int_equal(h->blocks[0].birth_ns, 70000000);
	assert_int_equal(h->blocks[1].size_bytes, 57);
	assert_int_equal(h->blocks[1].thread, 51);
	assert_int_equal(h->blocks[1].kind, PMM_KIND_OTHER);
	/* the first tick of its 32 */
	assert_int_equal(h->blocks[1].birth_ns, (UINT32_MAX - 31) * 10000000ull);
	assert_int_equal(h->blocks[2].size_bytes, 0);
	assert_int_equal(h->blocks[2].thread, 52);
	assert_int_equal(h->blocks[3].size_bytes, (1ull << 44) - 1);
	assert_int_equal(h->blocks[3].thread, 53);
	assert_int_equal(h->nr_maps, 2);
	assert_int_equal(h->maps[0].size_bytes, 20);
	assert_int_equal(h->maps[0].thread, 54);
	assert_int_equal(h->maps[1].address, 0x7f0000001000);
	assert_int_equal(h->maps[1].size_bytes, 1ull << 40);
	heap_free(h);
	image_free(&im);
}

/*
 * A small block with a number that no stamp has is left out, one with number 0 is from the start.
 */
static void stamps_that_are_not_there(void **state)
{
	struct image im = image_new();
	uint64_t *none, *bad;
	struct heap *h;

	(void)state;
	im.l->start_tick = 5;
	none = image_block(&im, PMM_TABLE_HEAP, 0x40000, 8, 0, PMM_KIND_MALLOC, 3, 7);
	bad = image_block(&im, PMM_TABLE_HEAP, 0x40020, 8, 0, PMM_KIND_MALLOC, 3, 7);
	*none &= ~0xffffffffull;
	*bad |= 0xffffffffull;
	h = read_image(&im);
	assert_int_equal(h->nr_blocks, 1);
	assert_int_equal(h->blocks[0].address, 0x40000);
	assert_int_equal(h->blocks[0].birth_ns, 50000000);
	assert_true(damaged > 0);
	heap_free(h);
	image_free(&im);
}

/*
 * Every leaf of every mid is the same page: the output must not outgrow what the arena could
 * hold.
 */
static void shared_leaves_do_not_multiply(void **state)
{
	struct image im = image_new_sized(256 << 10);
	struct pmm_mid *mid;
	struct heap *h;

	(void)state;
	image_block(&im, PMM_TABLE_HEAP, 0x40000, 1, 0, PMM_KIND_MALLOC, 0, 0);
	mid = image_at(&im, im.l->table[PMM_TABLE_HEAP].mids);
	for (unsigned i = 0; i < 64; i++) {
		pmm_ref ref = image_get(&im, sizeof(*mid) + (sizeof(pmm_ref) << IMAGE_MID_BITS));
		struct pmm_mid *more = image_at(&im, ref);

		more->base = (uint64_t)(i + 100) << (5 + PMM_LEAF_BITS + IMAGE_MID_BITS);
		more->nr_leaves = 1 << IMAGE_MID_BITS;
		more->next = im.l->table[PMM_TABLE_HEAP].mids;
		for (unsigned k = 0; k < 1 << IMAGE_MID_BITS; k++)
			more->leaf[k] = mid->leaf[0];
		im.l->table[PMM_TABLE_HEAP].mids = ref;
	}
	h = read_image(&im);
	assert_int_equal(h->nr_blocks, (256 << 10) / (PMM_LEAF_WORDS * 8) + 1);
	assert_true(damaged > 0);
	heap_free(h);
	image_free(&im);
}

/* Three blocks in three leaves, of which the context has counted `allocs`. */
static struct image counted(uint64_t allocs)
{
	struct image im = image_new();
	pmm_ref a = image_ctx(&im);
	struct pmm_ctx *c = image_at(&im, a);

	image_node(&im, 1, 0, 0, 0x1000);
	image_site(&im, 1, 1, 0);
	image_record(&im, a, 1)->allocs = allocs;
	image_thread(&im, 0, 77, "main");
	for (unsigned i = 0; i < 3; i++)
		image_block(&im, PMM_TABLE_HEAP, 0x555500000000 + i * 0x10000, 48, 1,
			    PMM_KIND_MALLOC, 0, 1);
	c->class[0].calls[PMM_KIND_MALLOC] = allocs + 5;
	c->class[0].frees = 5;
	c->seq = 2;
	return im;
}

/* How many of them are read. The leaves without any count as well. */
static uint64_t blocks_read(struct image *im)
{
	struct heap *h = read_image(im);
	uint64_t nr = h->nr_blocks;

	assert_int_equal(h->ledger_slots, 3 * 256);
	assert_int_equal(damaged, 0);
	heap_free(h);
	image_free(im);
	return nr;
}

/* What follows the last block that was counted is not looked at, where the counts are complete. */
static void no_leaf_is_read_behind_the_last_block(void **state)
{
	struct image im;

	(void)state;
	im = counted(2);
	assert_int_equal(blocks_read(&im), 2);
	im = counted(3);
	assert_int_equal(blocks_read(&im), 3);
	im = counted(4);
	assert_int_equal(blocks_read(&im), 3);
	im = counted(2);
	((struct pmm_ctx *)image_at(&im, im.l->ctx[0]))->seq = 3;
	assert_int_equal(blocks_read(&im), 3);
	im = counted(2);
	((struct pmm_ctx *)image_at(&im, im.l->ctx[0]))->class[0].frees = 8;
	assert_int_equal(blocks_read(&im), 3);
	im = counted(2);
	im.l->cut = 1;
	assert_int_equal(blocks_read(&im), 3);
	for (unsigned i = 0; i < PMM_NR_DROPS; i++) {
		im = counted(2);
		im.l->dropped[i] = 1;
		assert_int_equal(blocks_read(&im), 3);
	}
	im = counted(2);
	im.tree->mode = PMM_MODE_SAMPLED;
	assert_int_equal(blocks_read(&im), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_of_all_tables_come_in_order),
		cmocka_unit_test(addresses_below_the_granule_are_kept),
		cmocka_unit_test(small_and_wide_blocks_say_who_and_when),
		cmocka_unit_test(stamps_that_are_not_there),
		cmocka_unit_test(shared_leaves_do_not_multiply),
		cmocka_unit_test(no_leaf_is_read_behind_the_last_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
