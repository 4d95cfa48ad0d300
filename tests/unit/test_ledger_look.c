/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Totals and top sites, looked at while more is recorded. */
#include "tests/unit/unit.h"

#include "src/ledger/ledger_heap.h"
#include "tests/unit/ledger_image.h"

static void totals_add_up_contexts(void **state)
{
	struct image im = image_new();
	struct pmm_ctx *a = image_at(&im, image_ctx(&im)), *b = image_at(&im, image_ctx(&im));
	struct ledger_totals t;
	struct ledger_map *m;

	(void)state;
	a->class[0].calls[PMM_KIND_MALLOC] = 3;
	a->class[6].calls[PMM_KIND_OTHER] = 7;
	a->class[6].bytes_in = 1000;
	b->class[3].frees = 4;
	b->class[0].bytes_out = 300;
	b->temporary = 1;
	b->untracked_frees = 2;
	assert_int_equal(ledger_map_open_fd(im.fd, IMAGE_SLOT, &m, NULL), 0);
	assert_int_equal(ledger_totals(m, &t), 0);
	assert_int_equal(t.live_bytes, 700);
	assert_int_equal(t.live_blocks, 6);
	assert_int_equal(t.allocs, 10);
	assert_int_equal(t.frees, 4);
	assert_int_equal(t.untracked_frees, 2);
	assert_int_equal(t.time_ns, 10000000000);
	ledger_map_close(m);
	image_free(&im);
}

static void top_sites_are_the_largest_in_order(void **state)
{
	static const uint32_t bytes[] = { 0, 50, 900, 10, 700, 300 };
	struct image im = image_new();
	pmm_ref a = image_ctx(&im), b = image_ctx(&im);
	struct ledger_top_site top[3];
	struct ledger_top *t;
	struct ledger_map *m;

	(void)state;
	for (uint32_t i = 1; i < 6; i++) {
		image_site(&im, i, 1, i == 2 ? PMM_SITE_MAPPING : 0);
		image_record(&im, a, i)->bytes_in = bytes[i];
	}
	assert_int_equal(ledger_map_open_fd(im.fd, IMAGE_SLOT, &m, NULL), 0);
	t = ledger_top_new(m);
	assert_int_equal(ledger_top_sites(t, top, 3), 3);
	assert_int_equal(top[0].site, 4);
	assert_int_equal(top[0].live_bytes, 700);
	assert_int_equal(top[1].site, 5);
	assert_int_equal(top[2].site, 1);
	/* another thread releases what site 4 holds, and a new site appears */
	image_record(&im, b, 4)->bytes_out = 695;
	image_site(&im, 6, 1, 0);
	image_record(&im, b, 6)->bytes_in = 400;
	assert_int_equal(ledger_top_sites(t, top, 3), 3);
	assert_int_equal(top[0].site, 6);
	assert_int_equal(top[1].site, 5);
	assert_int_equal(top[2].site, 1);
	assert_int_equal(top[2].live_bytes, 50);
	ledger_top_free(t);
	ledger_map_close(m);
	image_free(&im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_add_up_contexts),
		cmocka_unit_test(top_sites_are_the_largest_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
