/*
 * agent/shim_blocks.c, agent/shim_sums.c: what pmm.h's full form reads of the ledger, where there is much of it.
 */
#include "tests/unit/agent_host.h"

#include "agent/core.h"
#include "agent/record.h"
#include "agent/shim.h"
#include "agent/spot.h"
#include "tests/unit/unit.h"

#define SPOT_FLAGS	(PMM_SPOT_BEHIND | 'm' << PMM_SPOT_ENTRY_SHIFT)

uint32_t shim_number;

bool shim_is_ours(const void *p)
{
	(void)p;
	return true;
}

unsigned shim_changed_behind(const struct full_block *b, uint64_t word)
{
	(void)b;
	(void)word;
	return 0;
}

static uint32_t alive = 1;

static void start(size_t arena_bytes)
{
	agent_host_init(arena_bytes);
	A.ledger->nr_spots = 1;
	A.state = AGENT_ON;
	A.alive = &alive;
}

/* ---- blocks */
#define REGIONS		10000u		/* of 64 MiB: one mid each */
#define AT(i)		(0x100000000ull + ((uint64_t)(i) << 26))

static const char *last;

static int each_in_order(void *ctx, const struct full_block *b)
{
	assert_true(b->address > last);
	assert_int_equal(b->size, (uint64_t)b->address >> 26 & 63);
	last = b->address;
	return ++*(unsigned *)ctx == 9999;
}

static void test_blocks_of_sparse_memory_in_order(void **state)
{
	struct tctx *c;
	unsigned nr = 0;

	(void)state;
	start(1ull << 30);
	c = agent_host_ctx();
	for (uint32_t i = 0; i < REGIONS; i++) {
		uint32_t region = i * 7919 % REGIONS;	/* in no order */

		record_alloc_at(c, AT(region), AT(region) >> 26 & 63, PMM_KIND_MALLOC, spot_site(c, "a.c", "f", region % 10, SPOT_FLAGS, 0));
	}
	assert_int_equal(shim_each(each_in_order, &nr), 1);	/* that one said so, and the last one was not asked for */
	assert_int_equal(nr, 9999);
	assert_ptr_equal(last, AT(9998));
	agent_host_fini();
}

/* ---- sums */
#define THREADS		40
#define LINES		10000u

static int each_line(void *ctx, const struct full_spot *s)
{
	unsigned *nr = ctx, line = ++*nr;

	assert_int_equal(s->line, line);
	assert_string_equal(s->file, "a.c");
	assert_string_equal(s->func, "f");
	assert_int_equal(s->allocs, THREADS * (1 + (line <= 5)));
	assert_int_equal(s->frees, line & 1 ? THREADS : 0);
	assert_int_equal(s->bytes_in, 16 * s->allocs);
	assert_int_equal(s->bytes_out, 16 * s->frees);
	assert_int_equal(s->peak_bytes, s->bytes_in - s->bytes_out);
	return 0;
}

static void allocate(struct tctx *c, uint64_t address, uint32_t line, uint32_t flags)
{
	record_alloc_at(c, address, 16, PMM_KIND_MALLOC, spot_site(c, "a.c", "f", line, flags, 0));
}

static void test_sums_of_many_lines_in_many_threads(void **state)
{
	uint64_t address = 0x100000000;
	struct block_info was;
	struct full_totals t;
	unsigned nr = 0;

	(void)state;
	start(1ull << 30);
	for (unsigned i = 0; i < THREADS; i++) {
		struct tctx *c = agent_host_ctx();

		for (uint32_t line = 1; line <= LINES; line++, address += 32) {
			allocate(c, address, line, SPOT_FLAGS);
			if (line & 1)
				assert_true(record_free(c, address, &was));
		}
		for (uint32_t line = 1; line <= 5; line++, address += 32)	/* the same places, with other canaries */
			allocate(c, address, line, SPOT_FLAGS & ~(uint32_t)PMM_SPOT_BEHIND);
	}
	assert_int_equal(shim_each_spot(each_line, &nr), 0);
	assert_int_equal(nr, LINES);
	shim_totals(&t);
	assert_int_equal(t.nr_spots, LINES + 5);
	assert_int_equal(t.allocs, THREADS * (LINES + 5));
	assert_int_equal(t.frees, THREADS * LINES / 2);
	assert_int_equal(t.bytes_in - t.bytes_out, 16 * (t.allocs - t.frees));
	assert_int_equal(t.peak_bytes, t.bytes_in - t.bytes_out);
	assert_int_equal(t.dropped, 0);
	for (int compiled_in = 0; compiled_in < 2; compiled_in++) {
		A.compiled_in = compiled_in;
		assert_int_equal(shim_live_bytes(), t.bytes_in - t.bytes_out);
	}
	agent_host_fini();
}

/* A release was seen, of a block whose request was not yet: the other thread's figures were read before it. */
static void test_no_figure_below_zero(void **state)
{
	struct tctx *c;
	struct full_totals t;
	struct pmm_record *r;

	(void)state;
	start(1 << 20);
	c = agent_host_ctx();
	allocate(c, 0x100000000, 1, SPOT_FLAGS);
	r = arena_at(c->pub.records);
	r->frees += 2;
	r->bytes_out += 32;
	shim_totals(&t);
	assert_int_equal(t.allocs - t.frees, 0);
	assert_int_equal(t.bytes_in - t.bytes_out, 0);
	assert_int_equal(t.peak_bytes, 0);
	assert_int_equal(t.peak_blocks, 0);
	agent_host_fini();
}

static int stop_at_two(void *ctx, const struct full_spot *s)
{
	(void)s;
	return ++*(int *)ctx == 2 ? 7 : 0;
}

static void test_few_lines_and_an_end(void **state)
{
	struct tctx *c;
	int nr = 0;

	(void)state;
	start(1 << 20);
	assert_int_equal(shim_each_spot(stop_at_two, &nr), 0);
	c = agent_host_ctx();
	for (uint32_t line = 1; line < 4; line++)
		allocate(c, 0x100000000 + 32 * line, line, SPOT_FLAGS);
	assert_int_equal(shim_each_spot(stop_at_two, &nr), 7);
	assert_int_equal(nr, 2);
	agent_host_fini();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_of_sparse_memory_in_order),
		cmocka_unit_test(test_sums_of_many_lines_in_many_threads),
		cmocka_unit_test(test_no_figure_below_zero),
		cmocka_unit_test(test_few_lines_and_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
