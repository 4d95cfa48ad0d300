/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel module's log as a heap. */
#include "tests/unit/unit.h"

#include "include/pmm/ledger.h"
#include "src/kmod/kmod_heap.h"
#include "tests/unit/kmod_fake.h"

#define START	1000000000000ull
#define NOW	(START + 5000)

static struct pmm_kmod_process process(void)
{
	return (struct pmm_kmod_process){ .pid = 77, .ppid = 1, .state = PMM_KMOD_RUNNING,
					  .comm = "victim", .since_ns = START, .allocations = 10,
					  .frees = 6, .allocated_bytes = 9000,
					  .freed_bytes = 1500, .lost_bytes = 70,
					  .peak_bytes = 8000, .peak_entries = 5 };
}

static struct pmm_kmod_record record(unsigned kind, uint64_t pointer, uint64_t bytes,
				     const char *file, unsigned line, uint64_t caller)
{
	struct pmm_kmod_record r = { .kind = (uint16_t)kind, .pointer = pointer, .bytes = bytes,
				     .line = line, .caller = caller, .tid = 77,
				     .time_ns = START + pointer };

	snprintf(r.file, sizeof(r.file), "%s", file);
	snprintf(r.function, sizeof(r.function), "%s", *file ? "work" : "");
	return r;
}

static struct heap *make(const struct pmm_kmod_process *p, const struct pmm_kmod_record *r,
			 size_t nr)
{
	struct err e = { 0 };
	struct heap *h = NULL;

	if (kmod_heap_make(p, r, nr, NOW, &h, &e))
		fail_msg("%s", e.text);
	return h;
}

static void records_of_a_place_and_caller_are_a_site(void **state)
{
	struct pmm_kmod_process p = process();
	const struct pmm_kmod_record r[] = {
		record(PMM_KMOD_MALLOC, 0x300, 30, "a.c", 7, 0x400010),
		record(PMM_KMOD_CALLOC, 0x100, 10, "a.c", 7, 0x400010),
		record(PMM_KMOD_REALLOC, 0x200, 20, "a.c", 8, 0x400010),
		record(PMM_KMOD_ALIGNED, 0x400, 0, "a.c", 7, 0x400020),
		record(PMM_KMOD_MALLOC, 0x500, 50, "", 0, 0),
	};
	struct heap *h = make(&p, r, NR(r));
	const struct heap_node *node;
	const struct heap_srcloc *at;

	(void)state;
	assert_int_equal(h->nr_blocks, 5);
	assert_int_equal(h->blocks[0].address, 0x100);
	assert_int_equal(h->blocks[0].kind, PMM_KIND_CALLOC);
	assert_int_equal(h->blocks[0].birth_ns, 0x100);
	assert_int_equal(h->blocks[1].kind, PMM_KIND_REALLOC);
	assert_int_equal(h->blocks[2].kind, PMM_KIND_MALLOC);
	assert_int_equal(h->blocks[3].kind, PMM_KIND_ALIGNED_ALLOC);
	assert_int_equal(h->blocks[0].site, h->blocks[2].site);
	assert_int_not_equal(h->blocks[0].site, h->blocks[1].site);
	assert_int_not_equal(h->blocks[0].site, h->blocks[3].site);
	assert_int_equal(h->blocks[4].site, 0);
	/* nothing, and three stacks of a place below one of two callers */
	assert_int_equal(h->nr_sites, 4);
	assert_int_equal(h->nr_nodes, 6);
	assert_int_equal(h->nr_srclocs, 3);
	node = &h->nodes[h->sites[h->blocks[0].site].node];
	at = heap_srcloc(h, node);
	assert_non_null(at);
	assert_string_equal(at->file, "a.c");
	assert_string_equal(at->function, "work");
	assert_int_equal(at->line, 7);
	assert_int_equal(h->nodes[node->parent].pc, 0x400010);
	assert_int_equal(h->nodes[node->parent].parent, 0);
	assert_int_equal(h->sites[h->blocks[0].site].live_bytes, 40);
	assert_int_equal(h->sites[h->blocks[0].site].live_blocks, 2);
	assert_int_equal(h->sites[h->blocks[0].site].max_bytes, 30);
	assert_int_equal(h->sites[h->blocks[0].site].first_ns, 0x100);
	assert_int_equal(h->sites[h->blocks[0].site].last_ns, 0x300);
	heap_free(h);
}

static void what_is_no_block_has_bytes(void **state)
{
	struct pmm_kmod_process p = process();
	const struct pmm_kmod_record r[] = {
		record(PMM_KMOD_MALLOC, 0x100, 100, "a.c", 1, 0),
		record(PMM_KMOD_MALLOC, 0x200, 200, "", 0, 0),
		record(PMM_KMOD_MMAP, 0x1000, 4096, "a.c", 2, 0),
	};
	struct heap *h = make(&p, r, NR(r));

	(void)state;
	assert_true(h->kmod.sums);
	assert_int_equal(h->live_bytes, 300);
	assert_int_equal(h->bytes_in, 9000 - 4096);
	assert_int_equal(h->bytes_out, 1500);
	assert_int_equal(h->sites[0].bytes_in, 9000 - 4096 - 100);
	assert_int_equal(h->sites[0].bytes_out, 1500);
	assert_int_equal(h->sites[0].live_bytes, 200);
	assert_int_equal(h->kmod.lost_bytes, 70);
	assert_int_equal(h->kmod.peak_bytes, 8000);
	assert_int_equal(h->kmod.peak_blocks, 5);
	heap_free(h);
	/* more was read than is counted: entries changed meanwhile */
	p.allocated_bytes = 50;
	h = make(&p, r, NR(r));
	assert_int_equal(h->bytes_in, 300);
	assert_int_equal(h->live_bytes, 300);
	heap_free(h);
}

static void frees_count_in_the_totals_alone(void **state)
{
	struct pmm_kmod_process p = process();
	const struct pmm_kmod_record r[] = {
		record(PMM_KMOD_MALLOC, 0x100, 100, "a.c", 1, 0),
		record(PMM_KMOD_MMAP, 0x1000, 4096, "a.c", 2, 0),
	};
	struct heap *h = make(&p, r, NR(r));

	(void)state;
	assert_true(h->kmod.logged);
	assert_int_equal(h->allocs, 9);		/* without the mapping */
	assert_int_equal(h->frees, 6);
	assert_int_equal(h->sites[0].allocs, 8);
	assert_int_equal(h->sites[0].frees, 6);
	assert_int_equal(h->live_bytes, 100);
	assert_int_equal(h->live_blocks, 1);
	assert_int_equal(h->bytes_in, 9000 - 4096);
	assert_int_equal(h->nr_maps, 1);
	assert_int_equal(h->maps[0].kind, PMM_KIND_MMAP);
	assert_int_equal(h->map_sites[h->maps[0].site].live_bytes, 4096);
	assert_int_equal(h->mapping.mmap_bytes, 4096);
	assert_int_equal(h->taken_ns, 5000);
	assert_int_equal(h->pid, 77);
	assert_string_equal(h->comm, "victim");
	assert_int_equal(h->end, HEAP_RUNNING);
	assert_int_equal(h->began, HEAP_BEGAN_ATTACH);
	heap_free(h);
}

static void losses_are_taken_over(void **state)
{
	struct pmm_kmod_process p = process();
	struct heap *h;

	(void)state;
	p.over_limit = 1;
	p.no_memory = 2;
	p.overflows = 3;
	p.torn = 4;
	p.bad = 5;
	p.sites_lost = 6;
	p.replaced = 7;
	p.foreign_frees = 8;
	p.double_frees = 9;
	p.evicted = 10;
	h = make(&p, NULL, 0);
	assert_int_equal(h->kmod.over_limit, 1);
	assert_int_equal(h->kmod.no_memory, 2);
	assert_int_equal(h->kmod.overflows, 3);
	assert_int_equal(h->kmod.torn, 4);
	assert_int_equal(h->kmod.bad, 5);
	assert_int_equal(h->kmod.sites_lost, 6);
	assert_int_equal(h->kmod.replaced, 7);
	assert_int_equal(h->kmod.foreign_frees, 8);
	assert_int_equal(h->untracked_frees, 8);
	assert_int_equal(h->kmod.double_frees, 9);
	assert_int_equal(h->kmod.evicted, 10);
	assert_int_equal(h->nr_blocks, 0);
	heap_free(h);
}

static void senseless_records_are_counted(void **state)
{
	struct pmm_kmod_process p = process();
	const struct pmm_kmod_record r[] = {
		record(PMM_KMOD_FREE, 0x100, 1, "a.c", 1, 0),
		record(0, 0x200, 1, "a.c", 1, 0),
		record(PMM_KMOD_NR_KINDS, 0x300, 1, "a.c", 1, 0),
		record(PMM_KMOD_MALLOC, 0, 1, "a.c", 1, 0),
		record(PMM_KMOD_MALLOC, 0x400, 1, "a.c", 1, 0x10),	/* caller: no address */
		record(PMM_KMOD_MALLOC, 0x500, 2, "\xff\x1b[2J", 1, HEAP_SRCLOC_PC + 9),
	};
	struct heap *h = make(&p, r, NR(r));

	(void)state;
	assert_int_equal(h->kmod.bad, 4);
	assert_int_equal(h->nr_blocks, 2);
	assert_int_equal(h->nodes[h->sites[h->blocks[0].site].node].parent, 0);
	assert_int_equal(h->nodes[h->sites[h->blocks[1].site].node].parent, 0);
	assert_string_equal(h->srclocs[2].file, "??[2J");
	heap_free(h);
}

static void an_address_twice_is_its_later_block(void **state)
{
	struct pmm_kmod_process p = process();
	const struct pmm_kmod_record r[] = {
		record(PMM_KMOD_MALLOC, 0x100, 1, "a.c", 1, 0),
		record(PMM_KMOD_MALLOC, 0x200, 2, "a.c", 2, 0),
		record(PMM_KMOD_MALLOC, 0x100, 3, "a.c", 3, 0),
	};
	struct heap *h = make(&p, r, NR(r));

	(void)state;
	assert_int_equal(h->drift_blocks, 1);
	assert_int_equal(h->nr_blocks, 2);
	assert_int_equal(h->blocks[0].size_bytes, 3);
	assert_int_equal(h->live_bytes, 5);
	heap_free(h);
}

static void ends_are_as_wait_gives_them(void **state)
{
	struct pmm_kmod_process p = process();
	struct pmm_kmod_record r = record(PMM_KMOD_MALLOC, 0x100, 1, "a.c", 1, 0);
	struct heap *h;

	(void)state;
	p.state = PMM_KMOD_EXITED;
	p.status = 3 << 8;
	p.seen_ns = START + 400;
	r.time_ns = START + 900;	/* no later than the end, as far as that is known */
	h = make(&p, &r, 1);
	assert_int_equal(h->end, HEAP_EXITED);
	assert_int_equal(h->end_status, 3);
	assert_int_equal(h->taken_ns, 400);
	assert_int_equal(h->blocks[0].birth_ns, 400);
	heap_free(h);
	p.state = PMM_KMOD_KILLED;
	p.status = 11;
	h = make(&p, NULL, 0);
	assert_int_equal(h->end, HEAP_KILLED);
	assert_int_equal(h->end_status, 11);
	heap_free(h);
	p = process();
	r.time_ns = 5;			/* before monitoring began */
	h = make(&p, &r, 1);
	assert_int_equal(h->blocks[0].birth_ns, 0);
	heap_free(h);
}

static void threads_are_those_of_the_records(void **state)
{
	struct pmm_kmod_process p = process();
	struct pmm_kmod_record r[] = {
		record(PMM_KMOD_MALLOC, 0x100, 1, "a.c", 1, 0),
		record(PMM_KMOD_MALLOC, 0x200, 2, "a.c", 1, 0),
		record(PMM_KMOD_MALLOC, 0x300, 4, "a.c", 1, 0),
	};
	struct heap *h;

	(void)state;
	r[1].tid = 78;
	h = make(&p, r, NR(r));
	assert_int_equal(h->nr_threads, 2);
	assert_int_equal(h->threads[0].tid, 77);
	assert_int_equal(h->threads[0].allocs, 2);
	assert_int_equal(h->threads[0].bytes_in, 5);
	assert_int_equal(h->threads[1].tid, 78);
	assert_int_equal(h->blocks[1].thread, 1);
	heap_free(h);
}

/* More places than a heap can name: the rest has none, and that is counted. */
static void places_have_their_limit(void **state)
{
	struct pmm_kmod_process p = process();
	size_t nr = HEAP_MAX_SRCLOCS + 5;
	struct pmm_kmod_record *r = calloc(nr, sizeof(*r));
	struct heap *h;

	(void)state;
	for (size_t i = 0; i < nr; i++)
		r[i] = record(PMM_KMOD_MALLOC, 16 * (i + 1), 1, "a.c", (unsigned)i + 1, 0);
	h = make(&p, r, nr);
	assert_int_equal(h->nr_blocks, nr);
	assert_int_equal(h->nr_srclocs, HEAP_MAX_SRCLOCS);
	assert_int_equal(h->kmod.sites_lost, 6);
	assert_int_equal(h->sites[0].live_blocks, 6);
	heap_free(h);
	free(r);
}

static void it_is_read_from_the_device(void **state)
{
	struct pmm_kmod_process p = process();
	struct pmm_kmod_record r = record(PMM_KMOD_MALLOC, 0x100, 64, "a.c", 1, 0);
	struct kmod_fake fake;
	struct heap *h = NULL;
	struct err e = { 0 };

	(void)state;
	kmod_fake_init(&fake);
	p.pid = INT32_MAX;	/* no process: it has no modules */
	fake.processes = &p;
	fake.nr_processes = 1;
	fake.records = &r;
	fake.nr_records = 1;
	assert_int_equal(kmod_heap_read(&fake.device, INT32_MAX, 0, &h, &e), 0);
	assert_int_equal(h->live_bytes, 64);
	assert_int_equal(h->nr_modules, 1);
	heap_free(h);
	assert_int_equal(kmod_heap_read(&fake.device, 5, 0, &h, &e), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_a_place_and_caller_are_a_site),
		cmocka_unit_test(frees_count_in_the_totals_alone),
		cmocka_unit_test(what_is_no_block_has_bytes),
		cmocka_unit_test(losses_are_taken_over),
		cmocka_unit_test(senseless_records_are_counted),
		cmocka_unit_test(an_address_twice_is_its_later_block),
		cmocka_unit_test(ends_are_as_wait_gives_them),
		cmocka_unit_test(threads_are_those_of_the_records),
		cmocka_unit_test(places_have_their_limit),
		cmocka_unit_test(it_is_read_from_the_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
