/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The block around an address: of all tables, against a list of them, and in tables that lie. */
#include "tests/unit/unit.h"

#include "src/ledger/ledger_at.h"
#include "tests/unit/ledger_image.h"

struct place {
	struct image im;
	struct ledger_map *m;
	struct ledger_at *at;
};

static struct place begin(struct image im)
{
	struct place p = { .im = im };
	struct err e = { 0 };

	if (ledger_map_open_fd(p.im.fd, IMAGE_SLOT, &p.m, &e))
		fail_msg("%s", e.text);
	p.at = ledger_at_new(p.m);
	assert_non_null(p.at);
	return p;
}

static void end(struct place *p)
{
	ledger_at_free(p->at);
	ledger_map_close(p->m);
	image_free(&p->im);
}

/* The start of the block that an address is in; 0: none; negative: not known. */
static int64_t at(struct place *p, uint64_t address)
{
	struct ledger_at_block b;
	int rc = ledger_at_find(p->at, address, &b);

	return rc > 0 ? (int64_t)b.address : rc;
}

static void first_and_last_bytes(void **state)
{
	struct image im = image_new();
	struct ledger_at_block b;
	struct place p;

	(void)state;
	image_block(&im, PMM_TABLE_HEAP, 0x40010, 24, 7, PMM_KIND_MALLOC, 0, 1);
	image_block(&im, PMM_TABLE_HEAP, 0x40030, 5000, 8, PMM_KIND_MALLOC, 0, 1);
	image_block(&im, PMM_TABLE_HEAP, 0x48000, 1ull << 32, 9, PMM_KIND_MALLOC, 0, 1);
	image_block(&im, PMM_TABLE_MAP, 0x7f0000001000, 8192, 3, PMM_KIND_MMAP, 0, 1);
	p = begin(im);
	assert_int_equal(at(&p, 0x4000f), 0);
	assert_int_equal(at(&p, 0x40010), 0x40010);
	assert_int_equal(at(&p, 0x40027), 0x40010);
	assert_int_equal(at(&p, 0x40028), 0);
	/* the granule of the next block, before that */
	assert_int_equal(at(&p, 0x4002f), 0);
	assert_int_equal(at(&p, 0x40030 + 4999), 0x40030);
	assert_int_equal(at(&p, 0x40030 + 5000), 0);
	assert_int_equal(at(&p, 0x47fff), 0);
	assert_int_equal(at(&p, 0x48000 + (1ull << 32) - 1), 0x48000);
	assert_int_equal(at(&p, 0x48000 + (1ull << 32)), 0);
	assert_int_equal(at(&p, 0), 0);
	assert_int_equal(at(&p, UINT64_MAX), 0);
	assert_int_equal(ledger_at_find(p.at, 0x40031, &b), 1);
	assert_int_equal(b.site, 8);
	assert_int_equal(b.size_bytes, 5000);
	assert_false(b.mapping);
	assert_int_equal(ledger_at_find(p.at, 0x7f0000002fff, &b), 1);
	assert_int_equal(b.site, 3);
	assert_true(b.mapping);
	assert_int_equal(at(&p, 0x7f0000003000), 0);
	end(&p);
}

/* Two blocks begin in one granule's neighbours; the first one reaches into the second's granule. */
static void block_that_ends_in_the_granule_of_the_next(void **state)
{
	struct image im = image_new();
	struct place p;

	(void)state;
	image_block(&im, PMM_TABLE_HEAP, 0x40000, 40, 1, PMM_KIND_MALLOC, 0, 1);
	image_block(&im, PMM_TABLE_HEAP, 0x40038, 8, 1, PMM_KIND_MALLOC, 0, 1);
	p = begin(im);
	assert_int_equal(at(&p, 0x40027), 0x40000);
	assert_int_equal(at(&p, 0x40028), 0);
	assert_int_equal(at(&p, 0x40038), 0x40038);
	end(&p);
}

static void inner_block_before_outer_one(void **state)
{
	struct image im = image_new();
	struct place p;

	(void)state;
	image_block(&im, PMM_TABLE_HEAP, 0x40000, 4096, 1, PMM_KIND_MALLOC, 0, 1);
	image_block(&im, PMM_TABLE_DENSE, 0x40100, 16, 2, PMM_KIND_OTHER, 0, 1);
	image_block(&im, PMM_TABLE_MAP, 0x40000, 65536, 3, PMM_KIND_MMAP, 0, 1);
	p = begin(im);
	assert_int_equal(at(&p, 0x40108), 0x40100);
	assert_int_equal(at(&p, 0x40110), 0x40000);
	assert_int_equal(at(&p, 0x41000), 0x40000);
	end(&p);
}

/* The block found last is tried first, but only as long as it is what it was. */
static void released_meanwhile(void **state)
{
	struct image im = image_new();
	uint64_t *word = image_block(&im, PMM_TABLE_HEAP, 0x40000, 4096, 1, PMM_KIND_MALLOC, 0, 1);
	struct place p = begin(im);

	(void)state;
	assert_int_equal(at(&p, 0x40800), 0x40000);
	word[1] -= 4000;
	assert_int_equal(at(&p, 0x40800), 0);
	assert_int_equal(at(&p, 0x40010), 0x40000);
	word[0] = 0;
	assert_int_equal(at(&p, 0x40010), 0);
	end(&p);
}

/* Memory that the ledger had no table for when it was looked at first. */
static void tables_that_grow(void **state)
{
	struct place p = begin(image_new());

	(void)state;
	assert_int_equal(at(&p, 0x40800), 0);
	image_block(&p.im, PMM_TABLE_HEAP, 0x40000, 4096, 1, PMM_KIND_MALLOC, 0, 1);
	assert_int_equal(at(&p, 0x40800), 0x40000);
	image_block(&p.im, PMM_TABLE_HEAP, 0x7fff00000000, 4096, 1, PMM_KIND_MALLOC, 0, 1);
	assert_int_equal(at(&p, 0x7fff00000800), 0x7fff00000000);
	assert_int_equal(at(&p, 0x40800), 0x40000);
	end(&p);
}

static void tables_that_lie(void **state)
{
	struct image im = image_new();
	struct place p;

	(void)state;
	image_block(&im, PMM_TABLE_HEAP, 0x40000, 4096, 1, PMM_KIND_MALLOC, 0, 1);
	((struct pmm_mid *)image_at(&im, im.l->table[PMM_TABLE_HEAP].mids))->next =
		im.l->table[PMM_TABLE_HEAP].mids;
	p = begin(im);
	assert_true(at(&p, 0x40800) < 0);	/* a ring */
	end(&p);

	im = image_new();
	image_block(&im, PMM_TABLE_HEAP, 0x40000, 4096, 1, PMM_KIND_MALLOC, 0, 1);
	im.l->table[PMM_TABLE_HEAP].mids = UINT32_MAX;
	p = begin(im);
	assert_true(at(&p, 0x40800) < 0);
	end(&p);

	im = image_new();
	im.l->table[PMM_TABLE_HEAP].shift = 60;
	im.l->table[PMM_TABLE_HEAP].mids = 1;
	p = begin(im);
	assert_true(at(&p, 0x40800) < 0);
	end(&p);
}

#define BLOCKS	400
#define ROUNDS	20

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

/* As a list says it: glibc's alignment and distances, gaps of all sizes. */
static void same_as_a_list(void **state)
{
	static struct { uint64_t start, bytes; } v[BLOCKS];

	(void)state;
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		uint64_t address = 0x5555000000, random = seed;
		struct image im = image_new();
		struct place p;

		for (unsigned i = 0; i < BLOCKS; i++) {
			uint64_t gap = next(&random) % 8 ? 0 : 16 * (next(&random) % 3000);

			v[i].start = address + gap;
			v[i].bytes = next(&random) % 5 ? 1 + next(&random) % 100
						       : 1 + next(&random) % 60000;
			image_block(&im, PMM_TABLE_HEAP, v[i].start, v[i].bytes, i + 1,
				    PMM_KIND_MALLOC, 0, 1);
			address = v[i].start + (v[i].bytes + 8 + 15) / 16 * 16;
			if (address < v[i].start + 32)
				address = v[i].start + 32;
		}
		p = begin(im);
		for (unsigned i = 0; i < 20 * BLOCKS; i++) {
			unsigned k = next(&random) % BLOCKS;
			uint64_t a = v[k].start + next(&random) % (v[k].bytes + 64) - 16;
			int64_t expected = 0;

			for (unsigned j = k ? k - 1 : 0; j < BLOCKS && j < k + 8; j++)
				if (a >= v[j].start && a - v[j].start < v[j].bytes)
					expected = (int64_t)v[j].start;
			if (at(&p, a) != expected)
				fail_msg("seed %lu, address %lx", (unsigned long)seed,
					 (unsigned long)a);
		}
		end(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_and_last_bytes),
		cmocka_unit_test(block_that_ends_in_the_granule_of_the_next),
		cmocka_unit_test(inner_block_before_outer_one),
		cmocka_unit_test(released_meanwhile),
		cmocka_unit_test(tables_that_grow),
		cmocka_unit_test(tables_that_lie),
		cmocka_unit_test(same_as_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
