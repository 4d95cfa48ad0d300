/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heaptrack's files: every figure of a small one by hand; random ones against a model; lines that
 * make no sense are refused by number. Also of src/import/import_replay.c.
 */
#include "src/import/import_priv.h"
#include "tests/unit/import_file.h"

/* main calls outer, into which inner was inlined; and code of a library without names */
#define HEAD                                                                                       \
	"v 10400 3\nX /opt/bin/prog -q one\nI 1000 100\n"                                          \
	"s 9 /bin/prog\ns 7 libx.so\ns 4 main\ns 5 inner\ns 5 outer\ns 3 a.c\n"                     \
	"i 401000 1 3 6 a\ni 402000 1 4 6 14 5 6 1e\ni 7f0000 2\n"                                  \
	"t 1 0\nt 2 1\nt 3 1\n"

static const char small[] = HEAD
	"a 64 2\na 1000 3\n"
	"c 5\n"
	"+ 0\n+ 0\n+ 1\n"	/* 100, 200, 4296: the peak */
	"R 2\n"
	"c a\n"
	"- 1\n+ 0\n- 0\n"
	"- 0\n"
	"R 3\nc 14\n# done\n";

static void test_small(void **state)
{
	struct heap *h = heap_of(small, HEAP_TOOL_HEAPTRACK);
	const struct heap_site *inner = &h->sites[1], *library = &h->sites[2];

	(void)state;
	assert_int_equal(h->nr_sites, 3);
	assert_string_equal(h->cmdline, "/opt/bin/prog -q one");
	assert_string_equal(h->comm, "prog");
	assert_int_equal(h->import.version, 0x10400);
	assert_true(h->import.history && h->import.allocated && h->import.duration);
	assert_int_equal(h->began, HEAP_BEGAN_EXEC);
	assert_int_equal(h->allocs, 4);
	assert_int_equal(h->frees, 3);
	assert_int_equal(h->bytes_in, 4396);
	assert_int_equal(h->bytes_out, 4296);
	assert_int_equal(h->live_bytes, 100);
	assert_int_equal(h->live_blocks, 1);
	assert_int_equal(h->temporary, 2);	/* one of each site */
	assert_int_equal(h->peak_bytes, 4296);
	assert_int_equal(h->peak_ns, 5000000);
	assert_int_equal(h->taken_ns, 20000000);
	assert_int_equal(inner->allocs, 3);
	assert_int_equal(inner->live_bytes, 100);
	assert_int_equal(inner->peak_bytes, 200);
	assert_int_equal(inner->peak_blocks, 2);
	assert_int_equal(inner->max_bytes, 100);
	assert_int_equal(inner->temporary, 1);
	assert_int_equal(inner->first_ns, 5000000);
	assert_int_equal(inner->last_ns, 10000000);
	assert_int_equal(library->peak_bytes, 4096);
	assert_int_equal(library->live_blocks, 0);
	heap_free(h);
}

static void test_stacks(void **state)
{
	struct heap *h = heap_of(small, HEAP_TOOL_HEAPTRACK);
	uint32_t node = h->sites[1].node;

	(void)state;
	assert_place(h, node, "inner", "a.c", 20);
	assert_string_equal(h->modules[h->nodes[node].module].path, "/bin/prog");
	node = h->nodes[node].parent;
	assert_place(h, node, "outer", "a.c", 30);
	node = h->nodes[node].parent;
	assert_place(h, node, "main", "a.c", 10);
	assert_int_equal(h->nodes[node].parent, 0);
	node = h->sites[2].node;
	assert_place(h, node, "", "", 0);
	assert_string_equal(h->modules[h->nodes[node].module].path, "libx.so");
	assert_place(h, h->nodes[node].parent, "main", "a.c", 10);
	heap_free(h);
}

static void test_history(void **state)
{
	struct heap *h = heap_of(small, HEAP_TOOL_HEAPTRACK);

	(void)state;
	assert_int_equal(h->nr_points, 3);
	assert_int_equal(h->points[0].time_ns, 5000000);
	assert_int_equal(h->points[0].live_bytes, 0);
	assert_int_equal(h->points[0].rss_bytes, 2 * 4096);
	assert_int_equal(h->points[1].live_bytes, 4296);
	assert_int_equal(h->points[1].live_blocks, 3);
	assert_int_equal(h->points[1].rss_bytes, 3 * 4096);
	assert_int_equal(h->points[2].live_bytes, 100);
	assert_int_equal(h->points[2].allocs, 4);
	/* both sites at 10 ms, both at the end */
	assert_int_equal(h->nr_site_points, 4);
	assert_int_equal(h->site_points[0].site, 2);	/* the larger one first */
	assert_int_equal(h->site_points[0].live_bytes, 4096);
	assert_int_equal(h->site_points[1].live_bytes, 200);
	assert_int_equal(h->site_points[2].live_bytes, 0);
	assert_int_equal(h->site_points[3].live_bytes, 100);
	assert_int_equal(h->site_points[3].time_ns, 20000000);
	heap_free(h);
}

static void test_old_formats(void **state)
{
	struct heap *h = heap_of("v 10000 1\nX a\nA\ns some name\ni 10 0 1\nt 1 0\na 8 1\n+ 0\n",
				 HEAP_TOOL_HEAPTRACK);

	(void)state;
	assert_place(h, h->sites[1].node, "some name", "", 0);
	assert_int_equal(h->nodes[h->sites[1].node].module, 0);
	assert_int_equal(h->live_bytes, 8);
	assert_int_equal(h->began, HEAP_BEGAN_ATTACH);
	heap_free(h);
	refused("v 10900 4\n", HEAP_TOOL_HEAPTRACK, -ENOTSUP, "format 4");
	refused("v 10400 0\n", HEAP_TOOL_HEAPTRACK, -ENOTSUP, "format 0");
	refused("v 10400 3\nm 1 400000\n", HEAP_TOOL_HEAPTRACK, -ENOTSUP, "raw data");
	assert_non_null(strstr(import_error.hint, "--interpret"));
}

static void test_damaged(void **state)
{
	static const struct {
		const char *line, *words;
	} bad[] = {
		{ "t 4 0\n", "line 16" },	/* no such address, none, no such parent */
		{ "t 0 0\n", "line 16" },
		{ "t 1 4\n", "line 16" },
		{ "t 1\n", "line 16" },
		{ "i 1 7\n", "line 16" },	/* no such string */
		{ "i 1 1 7 1 1\n", "line 16" },
		{ "i 1 1 1 7 1\n", "line 16" },
		{ "a 5 4\n", "line 16" },
		{ "a -5 1\n", "line 16" },
		{ "a ffffffffffffffff 1\n", "line 16" },
		{ "+ 0\n", "line 16" },
		{ "- 0\n", "line 16" },
		{ "a 5 1\n- 0\n", "line 17 frees what was not allocated" },
		{ "a 5 1\n+ 0\n- 0\n- 0\n", "line 19 frees" },
		{ "s 5 abc\n", "line 16" },
		{ "s x abc\n", "line 16" },
		{ "c x\n", "line 16" },
		{ "c 5\nc 4\n", "time runs back" },
		{ "c ffffffffffffffff\n", "line 16" },
		{ "R fffffffffffffff0\n", "line 16" },
		{ "tx\n", "line 16" },
		{ "a 7fffffffffffffff 1\n+ 0\n+ 0\n", "more than a process can have" },
	};
	char text[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(text, sizeof(text), "%s%s", HEAD, bad[i].line);
		refused(text, HEAP_TOOL_HEAPTRACK, -EBADMSG, bad[i].words);
	}
	refused("v zz 3\n", HEAP_TOOL_PMM, -EBADMSG, "");
}

/* ---- random ones against a model ---- */

#define KINDS	8u
#define EVENTS	400u

/* Sizes are 16 << kind; two kinds share a stack. */
static void test_random(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 60; seed++) {
		uint64_t live[KINDS] = { 0 }, at_peak[KINDS] = { 0 }, sum = 0, peak = 0, allocs = 0,
			 temporary = 0;
		int last = -1;
		char *text = NULL;
		size_t size;
		FILE *f = open_memstream(&text, &size);
		struct heap *h;

		srandom(seed);
		fputs("v 10400 3\nX p\n", f);
		for (unsigned i = 0; i < KINDS / 2; i++)
			fprintf(f, "s 2 f%u\ni %x 0 %x 0 0\nt %x 0\n", i, 0x1000 + i, i + 1, i + 1);
		for (unsigned i = 0; i < KINDS; i++)
			fprintf(f, "a %x %x\n", 16u << i, i / 2 + 1);
		for (unsigned i = 0; i < EVENTS; i++) {
			unsigned kind = (unsigned)random() % KINDS;
			bool freed = live[kind] && random() % 2;

			if (random() % 8 == 0)
				fprintf(f, "c %x\n", i);
			fprintf(f, "%c %x\n", freed ? '-' : '+', kind);
			live[kind] += freed ? -1ull : 1;
			sum += freed ? -(16ull << kind) : 16ull << kind;
			allocs += !freed;
			temporary += freed && last == (int)kind;
			last = freed ? -1 : (int)kind;
			if (sum > peak) {
				peak = sum;
				memcpy(at_peak, live, sizeof(live));
			}
		}
		fclose(f);
		h = heap_of(text, HEAP_TOOL_HEAPTRACK);
		assert_int_equal(h->live_bytes, sum);
		assert_int_equal(h->peak_bytes, peak);
		assert_int_equal(h->allocs, allocs);
		assert_int_equal(h->temporary, temporary);
		for (unsigned i = 0; i < KINDS / 2; i++) {
			const struct heap_site *s = &h->sites[i + 1];

			assert_int_equal(s->live_blocks, live[2 * i] + live[2 * i + 1]);
			assert_int_equal(s->peak_blocks, at_peak[2 * i] + at_peak[2 * i + 1]);
			assert_int_equal(s->peak_bytes,
					 (at_peak[2 * i] + 2 * at_peak[2 * i + 1]) << (4 + 2 * i));
		}
		heap_free(h);
		free(text);
	}
}

/* A long run: points are thinned out, stay in order, and the last ones are there. */
static void test_many_points(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct heap *h;

	(void)state;
	fputs("v 10400 3\nX p\ns 1 f\ni 1000 0 1 0 0\nt 1 0\na 1 1\n", f);
	for (unsigned i = 0; i < 100000; i++)
		fprintf(f, "c %x\nR %x\n+ 0\n", i, i);
	fclose(f);
	h = heap_of(text, HEAP_TOOL_HEAPTRACK);
	assert_in_range(h->nr_points, 2048, 4096);
	assert_in_range(h->nr_site_points, 128, 257);
	for (uint32_t i = 0; i < h->nr_points; i++) {
		assert_int_equal(h->points[i].live_bytes * 1000000, h->points[i].time_ns);
		assert_int_equal(h->points[i].rss_bytes, 4096 * h->points[i].live_bytes);
	}
	assert_true(h->points[h->nr_points - 1].time_ns >= 99936ull * 1000000);
	heap_free(h);
	free(text);
}

/* Stacks and inlined functions without end are refused: each costs more to show than to write. */
static void test_deep(void **state)
{
	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		char *text = NULL;
		size_t size;
		FILE *f = open_memstream(&text, &size);

		fputs("v 10400 3\nX p\ns 1 f\ni 1000 0 1 0 0\n", f);
		for (unsigned i = 0; i < 4096 + more; i++)
			fprintf(f, "t 1 %x\n", i);
		fclose(f);
		if (more)
			refused(text, HEAP_TOOL_HEAPTRACK, -EBADMSG, "more than 4096 frames");
		else
			heap_free(heap_of(text, HEAP_TOOL_HEAPTRACK));
		free(text);
		f = open_memstream(&text, &size);
		fputs("v 10400 3\nX p\ns 1 f\ni 1000 0", f);
		for (unsigned i = 0; i < 256 + more; i++)
			fputs(" 1 0 0", f);
		fputs("\nt 1 0\n", f);
		fclose(f);
		if (more)
			refused(text, HEAP_TOOL_HEAPTRACK, -EBADMSG, "line 4 ");
		else
			heap_free(heap_of(text, HEAP_TOOL_HEAPTRACK));
		free(text);
	}
}

/* Lines that are small in a packed file are counted. */
static void test_limit(void **state)
{
	static const char *const lines[] = { "t 1 0\n", "i 1000 0 1 0 0\n", "a 1 1\n" };

	(void)state;
	for (unsigned k = 0; k < NR(lines); k++) {
		char *text = NULL;
		size_t size;
		FILE *f = open_memstream(&text, &size);
		struct heap *h;

		fputs("v 10400 3\nX p\ns 1 f\ni 1000 0 1 0 0\nt 1 0\n", f);
		for (unsigned i = 0; i < 300000; i++)
			fputs(lines[k], f);
		fclose(f);
		assert_int_equal(read_profile(text, size, HEAP_TOOL_HEAPTRACK, 1 << 20, &h),
				 -EFBIG);
		free(text);
	}
}

/* The file is another one when it is read again. */
static void test_changed(void **state)
{
	static const char *const texts[] = {
		"c 1\n+ 0\n+ 0\n+ 0\n",	/* more, fewer events than were counted */
		"c 1\n+ 0\n",
		"c 1\n- 0\n+ 0\n",		/* less than nothing */
		"c 1\n+ 0\n+ 1\n",		/* what was not there */
		"c 1\n+ 0\n+ 0\nc 3\n",	/* time after the end */
	};

	(void)state;
	for (unsigned i = 0; i <= NR(texts); i++) {
		const char *text = i < NR(texts) ? texts[i] : "c 1\n+ 0\n+ 0\nc 2\n";
		struct err e = { .text = "" };
		struct import m = { .path = import_name, .e = &e, .max_bytes = 1 << 20 };
		struct replay r = { .peak_event = 2, .nr_events = 2, .end_ns = 2000000 };

		write_profile(text, strlen(text));
		assert_int_equal(import_begin(&m), 0);
		assert_int_equal(import_site(&m, 1), 1);
		assert_int_equal(vec_push(&r.sizes, 8), 0);
		assert_int_equal(vec_push(&r.sites, 1), 0);
		assert_int_equal(import_replay(&m, &r), i < NR(texts) ? -EBADMSG : 0);
		assert_int_equal(!!strstr(e.text, "it changed while it was read"), i < NR(texts));
		if (i == NR(texts))
			assert_int_equal(m.sites.v[1].peak_bytes, 16);
		vec_fini(&r.sizes);
		vec_fini(&r.sites);
		import_end(&m);
		unlink(import_name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),	    cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_history),	    cmocka_unit_test(test_old_formats),
		cmocka_unit_test(test_damaged),	    cmocka_unit_test(test_random),
		cmocka_unit_test(test_many_points), cmocka_unit_test(test_deep),
		cmocka_unit_test(test_limit),	    cmocka_unit_test(test_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
