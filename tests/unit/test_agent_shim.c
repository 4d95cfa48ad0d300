/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/shim_blocks.c, agent/shim_sums.c: what pmm.h's full form reads of the ledger, where there
 * is much of it. Also of agent/agent_shim.c, agent/srcloc.c, agent/record.c.
 */
#include "tests/unit/agent_host.h"

#include "agent/agent_core.h"
#include "agent/node.h"
#include "agent/record.h"
#include "agent/agent_shim.h"
#include "agent/srcloc.h"
#include "tests/unit/unit.h"

#define SRCLOC_FLAGS	(PMM_SRCLOC_BEHIND | 'm' << PMM_SRCLOC_ENTRY_SHIFT)

static uint32_t alive = 1;

static void start(size_t arena_bytes)
{
	agent_host_init(arena_bytes);
	agent.ledger->nr_srclocs = 1;
	agent.state = AGENT_ON;
	agent.alive = &alive;
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

		record_alloc_at(c, AT(region), AT(region) >> 26 & 63, PMM_KIND_MALLOC,
				srcloc_site(c, "a.c", "f", region % 10, SRCLOC_FLAGS, 0));
	}
	/* that one said so, and the last one was not asked for */
	assert_int_equal(shim_each(each_in_order, &nr), 1);
	assert_int_equal(nr, 9999);
	assert_ptr_equal(last, AT(9998));
	agent_host_fini();
}

/* ---- sums */
#define THREADS		40
#define LINES		10000u

static int each_line(void *ctx, const struct full_srcloc *s)
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
	record_alloc_at(c, address, 16, PMM_KIND_MALLOC,
			srcloc_site(c, "a.c", "f", line, flags, 0));
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
			allocate(c, address, line, SRCLOC_FLAGS);
			if (line & 1)
				assert_true(record_free(c, address, &was));
		}
		/* the same places, with other canaries */
		for (uint32_t line = 1; line <= 5; line++, address += 32)
			allocate(c, address, line, SRCLOC_FLAGS & ~(uint32_t)PMM_SRCLOC_BEHIND);
	}
	assert_int_equal(shim_each_srcloc(each_line, &nr), 0);
	assert_int_equal(nr, LINES);
	shim_totals(&t);
	assert_int_equal(t.nr_srclocs, LINES + 5);
	assert_int_equal(t.allocs, THREADS * (LINES + 5));
	assert_int_equal(t.frees, THREADS * LINES / 2);
	assert_int_equal(t.bytes_in - t.bytes_out, 16 * (t.allocs - t.frees));
	assert_int_equal(t.peak_bytes, t.bytes_in - t.bytes_out);
	assert_int_equal(t.dropped, 0);
	for (int compiled_in = 0; compiled_in < 2; compiled_in++) {
		agent.compiled_in = compiled_in;
		assert_int_equal(shim_live_bytes(), t.bytes_in - t.bytes_out);
	}
	agent_host_fini();
}

/*
 * A release was seen, of a block whose request was not yet: the other thread's figures were read
 * before it.
 */
static void test_no_figure_below_zero(void **state)
{
	struct tctx *c;
	struct full_totals t;
	struct pmm_record *r;

	(void)state;
	start(1 << 20);
	c = agent_host_ctx();
	allocate(c, 0x100000000, 1, SRCLOC_FLAGS);
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

static int never(void *ctx, const struct full_srcloc *s)
{
	(void)ctx;
	(void)s;
	return 1;
}

static unsigned long mapped_bytes(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu", &pages), 1);
	fclose(f);
	return pages * 4096;
}

/* Room for many sums is taken for the moment only. */
static void test_many_lines_leave_nothing(void **state)
{
	unsigned long before;
	struct tctx *c;

	(void)state;
	start(1 << 20);
	c = agent_host_ctx();
	for (uint32_t line = 1; line <= 17; line++)
		allocate(c, 0x100000000 + 32 * line, line, SRCLOC_FLAGS);
	mapped_bytes();
	before = mapped_bytes();
	for (unsigned i = 0; i < 500; i++)
		assert_int_equal(shim_each_srcloc(never, NULL), 1);
	assert_true(mapped_bytes() < before + 100 * 4096);
	agent_host_fini();
}

static int stop_at_two(void *ctx, const struct full_srcloc *s)
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
	assert_int_equal(shim_each_srcloc(stop_at_two, &nr), 0);
	c = agent_host_ctx();
	for (uint32_t line = 1; line < 4; line++)
		allocate(c, 0x100000000 + 32 * line, line, SRCLOC_FLAGS);
	assert_int_equal(shim_each_srcloc(stop_at_two, &nr), 7);
	assert_int_equal(nr, 2);
	agent_host_fini();
}

/* ---- sizes */
static void test_rows_of_sizes(void **state)
{
	static const uint64_t up_to[PMM_NR_CLASSES] = { 16, 256, 1024, 4096, 16384, 65536, 0 };
	struct full_class k;

	(void)state;
	start(1 << 20);
	for (unsigned n = 0; n < 3; n++) {
		struct tctx *c = agent_host_ctx();

		for (unsigned i = 0; i < PMM_NR_CLASSES; i++) {
			c->pub.class[i] = (struct pmm_class){ .frees = 100 + i,
							      .failed = 7 * i,
							      .bytes_in = 5000 + i,
							      .bytes_out = 3000 };
			c->pub.class[i].calls[PMM_KIND_MALLOC] = 10 + i;
			c->pub.class[i].calls[PMM_KIND_CALLOC] = 20 + i;
			c->pub.class[i].calls[PMM_KIND_REALLOC] = 30 + i;
			c->pub.class[i].calls[PMM_KIND_ALIGNED_ALLOC] = 40 + i;
			c->pub.class[i].calls[PMM_KIND_NEW] = 50 + i;
		}
	}
	agent_host_ctx();
	agent.ledger->ctx[3] = 0;				/* one that is not ready */
	for (unsigned i = 0; i < PMM_NR_CLASSES; i++) {
		assert_true(shim_class_row(i, &k));
		assert_int_equal(k.up_to, up_to[i]);
		assert_int_equal(k.malloc, 3 * (10 + i));
		assert_int_equal(k.calloc, 3 * (20 + i));
		assert_int_equal(k.realloc, 3 * (30 + i));
		assert_int_equal(k.other, 3 * (90 + 2 * i));
		assert_int_equal(k.frees, 3 * (100 + i));
		assert_int_equal(k.failed, 3 * 7 * i);
		assert_int_equal(k.bytes_in, 3 * (5000 + i));
		assert_int_equal(k.bytes_out, 3 * 3000);
	}
	assert_false(shim_class_row(PMM_NR_CLASSES, &k));
	((struct tctx *)arena_at(agent.ledger->ctx[0]))->pub.class[2].bytes_out = 100000;
	assert_true(shim_class_row(2, &k));
	assert_int_equal(k.bytes_out, k.bytes_in);	/* not below zero */
	agent_host_fini();
}

/* A child before its first event: what is there is the parent's. */
static void test_before_the_first_event_there_is_nothing(void **state)
{
	struct full_totals t = { .allocs = 1 };
	struct full_class k;

	(void)state;
	start(1 << 20);
	allocate(agent_host_ctx(), 0x100000000, 1, SRCLOC_FLAGS);
	agent.state = AGENT_OFF;
	shim_totals(&t);
	assert_int_equal(t.allocs, 0);
	assert_int_equal(t.nr_srclocs, 0);
	assert_true(shim_class_row(0, &k));
	assert_int_equal(k.malloc, 0);
	assert_int_equal(k.up_to, 16);
	assert_int_equal(shim_each_srcloc(never, NULL), 0);
	assert_int_equal(shim_live_bytes(), 0);
	agent.compiled_in = true;
	assert_int_equal(shim_live_bytes(), 0);
	agent.state = AGENT_ON;
	assert_int_equal(shim_live_bytes(), 16);
	shim_totals(&t);
	assert_int_equal(t.allocs, 1);
	agent_host_fini();
}

static void test_what_failed_and_what_was_nothing(void **state)
{
	struct tctx *c;
	struct full_totals t;
	uint32_t site;

	(void)state;
	start(1 << 20);
	c = agent_host_ctx();
	site = srcloc_site(c, "a.c", "f", 1, SRCLOC_FLAGS, 0);
	record_failed_at(c, 100, site);
	record_failed_at(c, 0, site);
	record_alloc_at(c, 0x100000000, 0, PMM_KIND_MALLOC, site);
	record_alloc_at(c, 0x100000100, 50, PMM_KIND_MALLOC, 0);	/* of no source location */
	agent.ledger->dropped[PMM_DROP_BLOCK_FULL] = 9;
	shim_totals(&t);
	assert_int_equal(t.failed, 2);
	assert_int_equal(t.zero, 2);
	assert_int_equal(t.allocs, 1);
	assert_int_equal(t.peak_blocks, 1);
	assert_int_equal(t.dropped, 9);
	assert_int_equal(t.nr_srclocs, 1);
	agent_host_fini();
}

/* The peak is what each record held when it was sealed. */
static void test_peak_of_each_place(void **state)
{
	struct block_info was;
	struct full_totals t;
	struct tctx *c;

	(void)state;
	start(1 << 20);
	c = agent_host_ctx();
	for (unsigned i = 0; i < 10; i++)
		allocate(c, 0x100000000 + 64 * i, 1 + i % 2, SRCLOC_FLAGS);
	for (unsigned i = 0; i < 8; i++)
		assert_true(record_free(c, 0x100000000 + 64 * i, &was));
	allocate(c, 0x200000000, 3, SRCLOC_FLAGS);
	shim_totals(&t);
	assert_int_equal(t.peak_bytes, 160);
	assert_int_equal(t.peak_blocks, 10);
	assert_int_equal(t.bytes_in - t.bytes_out, 48);
	agent_host_fini();
}

/* ---- source locations */
static uint32_t srcloc_of(struct tctx *c, const char *file, const char *function, uint32_t line)
{
	return srcloc_nr(srcloc_site(c, file, function, line, SRCLOC_FLAGS, 0));
}

/* Texts count, not where they lie. */
static void test_srclocs_are_what_they_say(void **state)
{
	static char file[] = "some/file.c", function[] = "function";
	char file2[sizeof(file)], function2[sizeof(function)], other[] = "some/file.d";
	struct tctx *c, *d;
	uint32_t nr, site;

	(void)state;
	memcpy(file2, file, sizeof(file));
	memcpy(function2, function, sizeof(function));
	start(1 << 20);
	c = agent_host_ctx();
	d = agent_host_ctx();
	nr = srcloc_of(c, file, function, 7);
	assert_int_equal(nr, 1);
	assert_int_equal(srcloc_of(c, file2, function2, 7), nr);
	assert_int_equal(srcloc_of(d, file2, function, 7), nr);
	assert_int_equal(srcloc_of(d, other, function, 7), 2);
	assert_int_equal(srcloc_of(c, file, "functiom", 7), 3);
	assert_int_equal(srcloc_of(c, file, "functio", 7), 4);
	assert_int_equal(srcloc_of(c, file, function, 8), 5);
	assert_int_equal(srcloc_of(c, NULL, NULL, 7), 6);
	assert_int_equal(srcloc_of(c, NULL, NULL, 7), 6);
	assert_int_equal(srcloc_of(d, "", "", 7), 6);
	assert_int_equal(agent.ledger->nr_srclocs, 7);
	assert_string_equal(arena_at(srcloc_number(nr)->file), file);
	assert_string_equal(arena_at(srcloc_number(nr)->function), function);
	assert_int_equal(srcloc_number(nr)->file_len, strlen(file));
	assert_int_equal(srcloc_number(nr)->line, 7);
	assert_int_equal(srcloc_number(nr)->flags, SRCLOC_FLAGS);
	assert_null(srcloc_number(0));
	assert_null(srcloc_number(PMM_MAX_SRCLOCS));
	assert_int_equal(srcloc_number(6)->file, 0);
	/* the same address, and another text came to it: a module was unloaded */
	agent.texts_bytes = 0;
	file[0] = 'S';
	assert_int_equal(srcloc_of(c, file, function, 7), 7);
	file[0] = 's';
	assert_int_equal(srcloc_of(c, file, function, 7), nr);
	/* other flags, other callers */
	site = srcloc_site(c, file, function, 7, SRCLOC_FLAGS & ~(uint32_t)PMM_SRCLOC_BEHIND, 0);
	assert_int_not_equal(srcloc_nr(site), nr);
	assert_int_equal(srcloc_first(srcloc_nr(site)), nr);
	assert_int_equal(srcloc_first(nr), nr);
	assert_int_equal(srcloc_first(5), 5);
	assert_int_equal(srcloc_flags(site),
			 PMM_SITE_SRCLOC | (SRCLOC_FLAGS & ~(uint32_t)PMM_SRCLOC_BEHIND));
	assert_int_equal(srcloc_under(site), 0);
	site = srcloc_site(c, file, function, 7, SRCLOC_FLAGS, node_get(0, 0x1000));
	assert_int_equal(srcloc_nr(site), nr);
	assert_int_equal(srcloc_under(site), node_get(0, 0x1000));
	assert_int_equal(srcloc_nr(site_get(node_get(0, 0x1000), 0)), 0);
	assert_int_equal(srcloc_nr(0), 0);
	assert_int_equal(srcloc_under(0), 0);
	assert_int_equal(srcloc_flags(0), 0);
	agent_host_fini();
}

static void test_long_texts_are_cut(void **state)
{
	char *text = malloc(10000);
	struct tctx *c;
	uint32_t nr;

	(void)state;
	memset(text, 'x', 9999);
	text[9999] = 0;
	start(1 << 20);
	c = agent_host_ctx();
	nr = srcloc_of(c, text, "f", 1);
	assert_int_equal(srcloc_number(nr)->file_len, 4096);
	assert_int_equal(strlen(arena_at(srcloc_number(nr)->file)), 4096);
	assert_int_equal(srcloc_of(c, text + 1, "f", 1), nr);
	agent_host_fini();
	free(text);
}

static void test_no_room_for_srclocs(void **state)
{
	struct tctx *c;

	(void)state;
	start(4 << 20);
	c = agent_host_ctx();
	agent.ledger->nr_srclocs = PMM_MAX_SRCLOCS - 1;
	assert_int_equal(srcloc_of(c, "a", "f", 1), PMM_MAX_SRCLOCS - 1);
	assert_int_equal(srcloc_site(c, "a", "f", 2, SRCLOC_FLAGS, 0), 0);
	assert_int_equal(agent.ledger->nr_srclocs, PMM_MAX_SRCLOCS);
	assert_int_equal(srcloc_of(c, "a", "f", 1), PMM_MAX_SRCLOCS - 1);
	agent_host_fini();
	start(1 << 20);
	c = agent_host_ctx();
	agent.ledger->arena_end = agent.ledger->arena_used;
	assert_int_equal(srcloc_site(c, "a", "f", 1, SRCLOC_FLAGS, 0), 0);
	agent_host_fini();
	start(1 << 20);
	c = agent_host_ctx();
	assert_int_equal(srcloc_of(c, "a", "f", 1), 1);
	agent.ledger->arena_end = agent.ledger->arena_used;	/* for the texts */
	assert_int_equal(srcloc_site(c, "another", "f", 1, SRCLOC_FLAGS, 0), 0);
	assert_int_equal(srcloc_of(c, "a", "f", 1), 1);
	agent_host_fini();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_of_sparse_memory_in_order),
		cmocka_unit_test(test_sums_of_many_lines_in_many_threads),
		cmocka_unit_test(test_no_figure_below_zero),
		cmocka_unit_test(test_few_lines_and_an_end),
		cmocka_unit_test(test_many_lines_leave_nothing),
		cmocka_unit_test(test_rows_of_sizes),
		cmocka_unit_test(test_before_the_first_event_there_is_nothing),
		cmocka_unit_test(test_what_failed_and_what_was_nothing),
		cmocka_unit_test(test_peak_of_each_place),
		cmocka_unit_test(test_srclocs_are_what_they_say),
		cmocka_unit_test(test_long_texts_are_cut),
		cmocka_unit_test(test_no_room_for_srclocs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
