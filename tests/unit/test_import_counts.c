/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text profiles of jemalloc and gperftools: figures as they stand there; samples are made up for;
 * addresses get the files that were mapped there; what makes no sense is refused by line. Also of
 * src/import/import_modules.c.
 */
#include <math.h>

#include "tests/unit/import_file.h"

#define MAPS                                                                                       \
	"\nMAPPED_LIBRARIES:\n"                                                                    \
	"00400000-00500000 r-xp 00001000 08:01 5 /opt/none/prog\n"                                 \
	"00500000-00600000 rw-p 00000000 00:00 0\n"                                                \
	"7f0000000000-7f0000001000 r--p 00000000 08:01 6 /opt/none/libx.so\n"                      \
	"7f0000001000-7f0000002000 r-xp 00001000 08:01 6 /opt/none/libx.so\n"

static const char jemalloc[] = "heap_v2/1\n"
	"  t*: 3: 300 [5: 900]\n  t0: 3: 300 [5: 900]\n"
	"@ 0x7f0000001234 0x401000\n  t*: 2: 200 [4: 800]\n  t0: 1: 100 [2: 400]\n"
	"  t1: 1: 100 [2: 400]\n"
	"@ 0x402000 0x401000\n  t*: 1: 100 [1: 100]\n  t0: 1: 100 [1: 100]\n" MAPS;

static void test_jemalloc(void **state)
{
	struct heap *h = heap_of(jemalloc, HEAP_TOOL_JEMALLOC);
	const struct heap_node *n;

	(void)state;
	assert_int_equal(h->mode, HEAP_EXACT);
	assert_string_equal(h->comm, "prog");
	assert_true(h->import.allocated && !h->import.history && !h->import.duration);
	assert_int_equal(h->live_bytes, 300);
	assert_int_equal(h->live_blocks, 3);
	assert_int_equal(h->allocs, 5);
	assert_int_equal(h->bytes_in, 900);
	assert_int_equal(h->frees, 2);
	assert_int_equal(h->bytes_out, 600);
	assert_int_equal(h->nr_sites, 3);
	assert_int_equal(h->sites[1].live_bytes, 200);
	assert_int_equal(h->sites[1].bytes_in, 800);
	n = &h->nodes[h->sites[1].node];
	assert_int_equal(n->pc, 0x7f0000001233);
	assert_string_equal(h->modules[n->module].path, "/opt/none/libx.so");
	assert_int_equal(h->modules[n->module].start, 0x7f0000000000);
	assert_int_equal(h->modules[n->module].end, 0x7f0000002000);
	assert_int_equal(h->nodes[n->parent].pc, 0x400fff);
	assert_string_equal(h->modules[h->nodes[n->parent].module].path, "/opt/none/prog");
	/* both stacks have the outer frame in common */
	assert_int_equal(h->nr_nodes, 4);
	heap_free(h);
}

static const char gperftools[] =
	"heap profile:      3:      300 [     5:      900] @ heapprofile\n"
	"     2:      200 [     4:      800] @ 0x402000 0x401000\n"
	"     1:      100 [     1:      100] @\n" MAPS;

static void test_gperftools(void **state)
{
	struct heap *h = heap_of(gperftools, HEAP_TOOL_GPERFTOOLS);

	(void)state;
	assert_int_equal(h->live_bytes, 300);
	assert_int_equal(h->sites[1].live_bytes, 200);
	assert_int_equal(h->sites[1].frees, 2);
	assert_int_equal(h->sites[0].live_bytes, 100);	/* a stack without frames */
	assert_int_equal(h->nr_nodes, 3);
	heap_free(h);
}

/* Not what was allocated in all: the profile has 0 for it. */
static void test_live_only(void **state)
{
	struct heap *h = heap_of("heap_v2/1\n@ 0x401000\n  t*: 2: 64 [0: 0]\n" MAPS,
				 HEAP_TOOL_JEMALLOC);

	(void)state;
	assert_false(h->import.allocated);
	assert_int_equal(h->allocs, 2);
	assert_int_equal(h->bytes_in, 64);
	assert_int_equal(h->frees, 0);
	heap_free(h);
}

/* 10 samples of blocks of 1000 bytes with a sample every 4096: n / (1 - exp(-1000/4096)). */
static void test_sampled(void **state)
{
	static const char text[] = "heap_v2/4096\n@ 0x401000\n  t*: 10: 10000 [30: 30000]\n" MAPS;
	static const char other[] = "heap profile: 10: 10000 [30: 30000] @ heap_v2/4096\n"
				    "10: 10000 [30: 30000] @ 0x401000\n" MAPS;
	const double by = 1 / (1 - exp(-1000.0 / 4096));

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct heap *h = i ? heap_of(other, HEAP_TOOL_GPERFTOOLS)
				   : heap_of(text, HEAP_TOOL_JEMALLOC);

		assert_int_equal(h->mode, HEAP_SAMPLED);
		assert_int_equal(h->sample_bytes, 4096);
		assert_int_equal(h->live_bytes, (uint64_t)(10000 * by + 0.5));
		assert_int_equal(h->live_blocks, (uint64_t)(10 * by + 0.5));
		assert_int_equal(h->bytes_in, (uint64_t)(30000 * by + 0.5));
		assert_int_equal(h->sites[1].samples_in, 30);
		assert_int_equal(h->sites[1].samples_out, 20);
		heap_free(h);
	}
}

static void test_damaged(void **state)
{
	(void)state;
	refused("heap_v2/x\n" MAPS, HEAP_TOOL_JEMALLOC, -EBADMSG, "line 1 ");
	refused("heap_v2/1\n@ 0x1000\n t*: 1 2\n" MAPS, HEAP_TOOL_JEMALLOC, -EBADMSG, "line 3 ");
	refused("heap_v2/1\n@ 0xzz\n" MAPS, HEAP_TOOL_JEMALLOC, -EBADMSG, "line 2 ");
	refused("heap_v2/1\n@ 0x5000\n  t*: 1: 2 [0: 0]\n", HEAP_TOOL_JEMALLOC, -ENODATA,
		"truncated");
	refused("heap profile: 1: 2 [1: 2]\n" MAPS, HEAP_TOOL_GPERFTOOLS, -EBADMSG, "line 1 ");
	refused("heap profile: 1: 2 [1: 2] @ growthz\n" MAPS, HEAP_TOOL_GPERFTOOLS, -ENOTSUP,
		"growth");
	refused("heap profile: 1: 2 [1: 2] @ heapprofile\n1: 2 [1: -2] @ 0x1000\n" MAPS,
		HEAP_TOOL_GPERFTOOLS, -EBADMSG, "line 2 ");
	refused("heap profile: 1: 2 [1: 2] @ heapprofile\n"
		"1: 9223372036854775807 [1: 2] @ 0x5000\n1: 9223372036854775807 [1: 2] @ 0x5000\n"
		MAPS, HEAP_TOOL_GPERFTOOLS, -EBADMSG, "add up");
}

/* Mappings in any order, of nothing, that overlap: an address is in one of them or in none. */
static void test_odd_maps(void **state)
{
	struct heap *h = heap_of("heap_v2/1\n@ 0x401000 0x9000000 0x10 0xffffffffffffffff\n"
				 "  t*: 2: 64 [0: 0]\n\nMAPPED_LIBRARIES:\nno mapping\n"
				 "00400000-00500000 r-xp 00000000 08:01 5 /opt/none/b\n"
				 "00100000-00200000 r-xp 00000000 08:01 5 /opt/none/a\n",
				 HEAP_TOOL_JEMALLOC);
	const struct heap_node *n = &h->nodes[h->sites[1].node];

	(void)state;
	assert_string_equal(h->modules[n->module].path, "/opt/none/b");
	assert_int_equal(h->nodes[n->parent].module, 0);
	assert_int_equal(h->nr_nodes, 3);	/* 0x10 and the last one are no code */
	assert_string_equal(h->comm, "b");
	heap_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jemalloc),   cmocka_unit_test(test_gperftools),
		cmocka_unit_test(test_live_only),  cmocka_unit_test(test_sampled),
		cmocka_unit_test(test_damaged),	   cmocka_unit_test(test_odd_maps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
