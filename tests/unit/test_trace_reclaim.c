/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reclaim, compaction, migration, huge pages: src/view/trace/trace_reclaim.c,
 * trace_reclaim_tables.c, trace_compaction.c, trace_huge.c, trace_histogram.c, trace_waits.c,
 * trace_vmstat.c, src/kernel/gfp.c, status_names.c, vmstat.c, kernel_rows.c.
 */
#include "tests/unit/unit.h"

#include "bpf/compaction_abi.h"
#include "bpf/huge_abi.h"
#include "bpf/reclaim_abi.h"
#include "src/kernel/gfp.h"
#include "src/kernel/status_names.h"
#include "src/view/trace/trace_histogram.h"
#include "src/view/trace/trace_line.h"
#include "src/view/trace/trace_view.h"
#include "tests/fake/fake_kernel.h"

static struct trace_record record(uint32_t kind, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3,
				  uint64_t a4)
{
	return (struct trace_record){ .kind = kind, .tgid = 7, .tid = 7, .weight = 1,
				      .a = { a0, a1, a2, a3, a4 }, .comm = "victim" };
}

/* ---- names ---- */

static void gfp_is(uint32_t flags, const char *text)
{
	struct str s = STR_INIT;

	gfp_add(&s, flags);
	assert_string_equal(str_text(&s), text);
	str_fini(&s);
}

static void test_gfp(void **state)
{
	(void)state;
	gfp_is(0, "0");
	gfp_is(0xcc0, "GFP_KERNEL");
	gfp_is(0x400cc0, "GFP_KERNEL_ACCOUNT");
	gfp_is(0xc40, "GFP_NOFS");
	gfp_is(0xdc0, "GFP_KERNEL|__GFP_ZERO");
	gfp_is(0x100cca, "GFP_HIGHUSER_MOVABLE");
	gfp_is(0x1c24ca, "GFP_TRANSHUGE");
	gfp_is(0x1c20ca, "GFP_TRANSHUGE_LIGHT");
	gfp_is(0x820, "GFP_ATOMIC");
	gfp_is(0x2000cc0, "GFP_KERNEL|0x2000000");
	gfp_is(0x2000000, "0x2000000");
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(compaction_status_name(8), "success");
	assert_string_equal(compaction_status_name(9), "unknown");
	assert_string_equal(migrate_mode_name(1), "sync_light");
	assert_string_equal(migrate_mode_name(TRACE_MODE_SYNC), "sync or sync_light");
	assert_string_equal(migrate_mode_name(5), "unknown");
	assert_string_equal(migrate_reason_name(8), "demotion");
	assert_string_equal(throttle_reason_name(2), "noprogress");
	assert_string_equal(huge_status_name(HUGE_UNKNOWN), "unknown");
	for (int i = HUGE_UNKNOWN + 1; i < HUGE_NR_STATUSES; i++)
		assert_string_not_equal(huge_status_name(i), "unknown");
}

/* ---- lines ---- */

static void line_is(struct trace_record r, const char *text, const char *json)
{
	char *object = NULL;
	struct event e = { 0 };
	size_t n;
	FILE *out = open_memstream(&object, &n);
	const char *line;

	trace_line(&e, &r, "", 0, NULL, NULL, 0);
	assert_int_equal(event_error(&e), 0);
	line = strstr(str_text(&e.text), trace_kinds[r.kind].name);
	assert_non_null(line);
	line += strlen(trace_kinds[r.kind].name);
	assert_string_equal(line + strspn(line, " "), text);
	assert_int_equal(event_print_json(&e, out), 0);
	fclose(out);
	if (!strstr(object, json))
		print_message("%s\n", object);
	assert_non_null(strstr(object, json));
	free(object);
	event_fini(&e);
}

static void test_reclaim_lines(void **state)
{
	struct trace_record r = record(TRACE_RECLAIM, 1500000, 131072, 3, 0xcc0, 0);

	(void)state;
	r.a[5] = 1 << 20;
	line_is(r, "1.50 ms waited, 128 KiB reclaimed, order 3, 1.00 MiB free, GFP_KERNEL\n",
		"\"latency_ns\": 1500000, \"reclaimed_bytes\": 131072, \"order\": 3, "
		"\"free_bytes\": 1048576, \"gfp\": \"GFP_KERNEL\"");
	line_is(record(TRACE_RECLAIM_NODE, 1000, 0, 0, 0xcc0, 2),
		"1.00 us waited, 0 B reclaimed, order 0 on node 2, GFP_KERNEL\n", "\"node\": 2");
	line_is(record(TRACE_SHRINK, 2000, 5, 0xffffffff81000000, 10, 0),
		"2.00 us, 5 of 10 objects freed by shrinker 0xffffffff81000000\n",
		"\"freed\": 5, \"shrinker\": \"0xffffffff81000000\", \"asked\": 10");
	line_is(record(TRACE_THROTTLED, 100000000, 0, 1, 0, 0),
		"100 ms waited: writeback, node 1\n", "\"reason\": \"writeback\"");
	line_is(record(TRACE_KSWAPD_WAKE, 1, 3, 0, 0, 0), "node 1, order 3\n",
		"\"node\": 1, \"order\": 3");
	line_is(record(TRACE_KSWAPD_SLEEP, 1, 0, 0, 0, 0), "node 1\n", "\"node\": 1}");
	line_is(record(TRACE_KSWAPD_CALL, 0, 9, 0xcc0, 0, 0), "node 0, order 9, GFP_KERNEL\n",
		"\"gfp\": \"GFP_KERNEL\"");
}

static void test_compaction_lines(void **state)
{
	struct trace_record r = record(TRACE_MIGRATE, 8192, 4096, 0, 0, 1);

	(void)state;
	line_is(record(TRACE_COMPACTION, 1500, 9, 8, 0xcc0, 1),
		"1.50 us waited, success, sync_light, order 9, GFP_KERNEL\n",
		"\"status\": \"success\", \"mode\": \"sync_light\", \"order\": 9");
	line_is(record(TRACE_COMPACTION, 1500, TRACE_ORDER_WHOLE, 5, 0, 2),
		"1.50 us waited, complete, sync, the whole zone\n", "\"whole_zone\": true}");
	line_is(record(TRACE_COMPACTION, 1500, TRACE_ORDER_UNKNOWN, 5, 0, TRACE_MODE_SYNC),
		"1.50 us waited, complete, sync or sync_light, order not known on this kernel\n",
		"\"mode\": \"sync or sync_light\"}");
	line_is(record(TRACE_KCOMPACTD_CALL, 0, 4, 0, 0, 0), "node 0, order 4\n", "\"order\": 4");
	line_is(r, "8.00 KiB moved, 4.00 KiB not, compaction, async, 1 huge page split\n",
		"\"huge_pages_split\": 1}");
	r.a[5] = 2000;
	line_is(r, "8.00 KiB moved, 4.00 KiB not, compaction, async, 1 huge page split, "
		   "in 2.00 us\n", "\"latency_ns\": 2000");
}

static void test_huge_lines(void **state)
{
	(void)state;
	line_is(record(TRACE_HUGE_FAULT, 9, 0x1c24ca, 2 << 20, 0, 0), "2.00 MiB, GFP_TRANSHUGE\n",
		"\"order\": 9, \"size_bytes\": 2097152, \"allocated\": true");
	line_is(record(TRACE_HUGE_FAULT, 9, 0x1c24ca, 0, 1, 0),
		"none was free, order 9, GFP_TRANSHUGE\n",
		"\"size_bytes\": 0, \"allocated\": false");
	line_is(record(TRACE_COLLAPSE, HUGE_SUCCEED, 9, 1, 0, 0),
		"succeeded, anonymous memory of process 9, by madvise\n",
		"\"status\": \"succeeded\", \"of_pid\": 9, \"by\": \"madvise\", "
		"\"memory\": \"anonymous\"");
	line_is(record(TRACE_KHUGEPAGED, HUGE_EXCEED_NONE_PTE, 9, 0, 1, 3),
		"exceed_none_pte, file memory of process 9, 3 pages swapped out\n",
		"\"by\": \"khugepaged\", \"memory\": \"file\", \"swapped_out_pages\": 3");
	line_is(record(TRACE_HUGE_SPLIT, 2, 0, 0, 0, 0), "2 huge pages, to be moved\n",
		"\"huge_pages\": 2");
}

/* ---- the machine's counters ---- */

static void test_vmstat(void **state)
{
	struct vmstat s = { 0 };

	(void)state;
	assert_int_equal(vmstat_parse(&s, "nr_free_pages 12\nodd\nthp_fault_alloc 5\n"), 0);
	assert_int_equal(s.v.nr, 2);
	assert_int_equal(vmstat_find(&s, "thp_fault_alloc")->value, 5);
	assert_null(vmstat_find(&s, "thp_fault"));
	assert_int_equal(vmstat_parse(&s, "a 1"), 0);
	assert_int_equal(s.v.nr, 1);
	assert_int_equal(vmstat_read(&s), 0);
	assert_non_null(vmstat_find(&s, "pgfault"));
	vmstat_fini(&s);
}

/* ---- rows of a time ---- */

static int fill(struct kernel_rows *rows, struct kernel_rows *before, struct fake_kernel *f)
{
	struct kernel_options o = { .groups = 1u << KERNEL_RECLAIM };
	struct kernel_source *s;
	struct err e = { 0 };
	int rc;

	fake_kernel = f;
	assert_int_equal(kernel_source_open(&fake_source, &o, &s, &e), 0);
	rc = kernel_rows_read(rows, s, KERNEL_TABLE_SHRINKERS);
	if (!rc)
		rc = kernel_rows_since(rows, before, KERNEL_TABLE_SHRINKERS);
	kernel_source_close(s);
	return rc;
}

static void test_rows_since(void **state)
{
	uint64_t keys[] = { 1, 2 };
	struct reclaim_shrinker values[2] = { { .calls = 3, .slots = { [31] = 3 } },
					      { .calls = 4 } };
	struct fake_kernel f = { .keys = { [KERNEL_TABLE_SHRINKERS] = keys },
				 .values = { [KERNEL_TABLE_SHRINKERS] = values },
				 .nr_rows = { [KERNEL_TABLE_SHRINKERS] = 1 } };
	struct kernel_rows rows = { 0 }, before = { 0 };
	const struct reclaim_shrinker *first, *second;

	(void)state;
	assert_int_equal(fill(&rows, &before, &f), 0);
	first = kernel_rows_value(&rows, 0);
	assert_int_equal(first->calls, 3);
	values[0].calls = 10;
	values[0].slots[31] = 5;
	f.nr_rows[KERNEL_TABLE_SHRINKERS] = 2;
	assert_int_equal(fill(&rows, &before, &f), 0);
	first = kernel_rows_value(&rows, 0);
	second = kernel_rows_value(&rows, 1);
	assert_int_equal(first->calls, 7);
	assert_int_equal(first->slots[31], 2);
	assert_int_equal(second->calls, 4);
	assert_int_equal(fill(&rows, &before, &f), 0);
	first = kernel_rows_value(&rows, 0);
	assert_int_equal(first->calls, 0);
	kernel_rows_fini(&rows);
	kernel_rows_fini(&before);
}

/* ---- the result ---- */

struct result {
	struct trace_totals totals;
	struct trace_counts counts[TRACE_NR_KINDS];
	struct kernel_group_state groups[KERNEL_NR_GROUPS];
	struct kernel_rows rows[KERNEL_NR_TABLES];
	struct vmstat before, after;
	struct ksyms ksyms;
	struct trace_result r;
	char *text;
};

static void show(struct result *x, uint32_t classes)
{
	struct style style = { .width = 120 };
	struct doc d = { 0 };
	size_t n;
	FILE *out;

	x->r = (struct trace_result){ .scope = "victim", .classes = classes, .totals = &x->totals,
				      .counts = x->counts, .groups = x->groups, .rows = x->rows,
				      .before = &x->before, .after = &x->after,
				      .ksyms = &x->ksyms, .min_ns = x->r.min_ns,
				      .top = x->r.top };
	trace_document(&d, &x->r);
	free(x->text);
	out = open_memstream(&x->text, &n);
	assert_int_equal(doc_print_text(&d, &style, out), 0);
	fclose(out);
	doc_fini(&d);
}

static void has(const struct result *x, const char *text)
{
	if (!strstr(x->text, text))
		print_message("%s\n", x->text);
	assert_non_null(strstr(x->text, text));
}

static void fini(struct result *x)
{
	trace_totals_fini(&x->totals);
	for (int i = 0; i < KERNEL_NR_TABLES; i++)
		kernel_rows_fini(&x->rows[i]);
	vmstat_fini(&x->before);
	vmstat_fini(&x->after);
	ksyms_fini(&x->ksyms);
	free(x->text);
}

static void add(struct result *x, struct trace_record r)
{
	trace_totals_add(&x->totals, &r, TRACE_NO_STACK);
}

static void add_shrinkers(struct result *x)
{
	uint64_t keys[] = { 0xffffffff81000010, 0xffffffff81000020 };
	struct reclaim_shrinker values[] = {
		{ .calls = 2, .ns = 3000, .asked = 128, .freed = 5, .slots = { [10] = 2 } },
		{ .calls = 1, .ns = 9000, .asked = 1, .slots = { [13] = 1 } },
	};
	struct fake_kernel f = { .keys = { [KERNEL_TABLE_SHRINKERS] = keys },
				 .values = { [KERNEL_TABLE_SHRINKERS] = values },
				 .nr_rows = { [KERNEL_TABLE_SHRINKERS] = 2 } };
	struct kernel_rows before = { 0 };
	const char names[] = "ffffffff81000000 T _text\nffffffff81000010 t super_cache_scan\n";
	struct err e = { 0 };

	assert_int_equal(fill(&x->rows[KERNEL_TABLE_SHRINKERS], &before, &f), 0);
	kernel_rows_fini(&before);
	assert_int_equal(ksyms_parse(&x->ksyms, names, strlen(names), &e), 0);
	x->ksyms.tried = true;
}

static void test_reclaim(void **state)
{
	struct result x = { 0 };

	(void)state;
	show(&x, 1u << EVENT_RECLAIM);
	assert_null(strstr(x.text, "reclaim"));		/* nothing to say */
	add(&x, record(TRACE_RECLAIM_MEMCG, 5000, 8192, 0, 0xcc0, 0));
	add(&x, record(TRACE_RECLAIM_MEMCG, 7000, 4096, 0, 0xcc0, 0));
	add(&x, record(TRACE_RECLAIM_MEMCG, 90000, 4096, 0, 0xcc0, 0));
	add(&x, record(TRACE_THROTTLED, 100000, 2, 0, 0, 0));
	add_shrinkers(&x);
	assert_int_equal(vmstat_parse(&x.before, "pgscan_direct 5\nnr_free 9\n"), 0);
	assert_int_equal(vmstat_parse(&x.after, "pgscan_direct 12\nnr_free 3000\n"), 0);
	show(&x, 1u << EVENT_RECLAIM);
	has(&x, "Time lost in reclaim\n"
		"  pid  event          count    time  average  longest     bytes  command\n"
		"    7  memcg_reclaim      3  102 us  34.0 us  90.0 us  16.0 KiB  victim\n"
		"    7  throttled          1  100 us   100 us   100 us            victim\n");
	has(&x, "  4.10 us  8.19 us      2  ########################################\n"
		"  8.19 us  16.4 us      0\n");
	has(&x, "  65.5 us   131 us      1  ####################\n");
	has(&x, "  noprogress         1  100 us   100 us\n");
	has(&x, "      1                  1      0  9.00 us  9.00 us  super_cache_scan\n"
		"      2                128      5  3.00 us  1.50 us  super_cache_scan\n");
	has(&x, "  pgscan_direct       7\n");
	assert_null(strstr(x.text, "nr_free"));
	x.r.min_ns = 1000000;
	x.r.top = 1;
	show(&x, 1u << EVENT_RECLAIM);
	has(&x, "  1 more row (--top=0 shows all)\n"
		"  without what took less than 1.00 ms, which is counted only\n");
	has(&x, "  9.00 us  super_cache_scan\n  1 more row (--top=0 shows all)\n");
	x.r.top = 2;
	show(&x, 1u << EVENT_RECLAIM);
	assert_null(strstr(x.text, "super_cache_scan\n  1 more"));
	assert_null(strstr(x.text, "super_cache_scan\n  0 more"));
	fini(&x);
}

static void test_compaction(void **state)
{
	struct result x = { 0 };
	struct trace_record moved = record(TRACE_MIGRATE, 8192, 4096, 1, 0, 0);

	(void)state;
	add(&x, record(TRACE_COMPACTION, 5000, 9, 8, 0xcc0, 1));
	add(&x, record(TRACE_COMPACTION, 6000, TRACE_ORDER_WHOLE, 5, 0, 2));
	add(&x, record(TRACE_COMPACTION, 6000, TRACE_ORDER_UNKNOWN, 5, 0, 2));
	moved.a[5] = 3000;
	add(&x, moved);
	moved.a[1] = 0;
	add(&x, moved);
	show(&x, 1u << EVENT_COMPACTION | 1u << EVENT_MIGRATE);
	has(&x, "  success   9               1  5.00 us  5.00 us\n"
		"  complete  whole zone      1  6.00 us  6.00 us\n"
		"  complete  not known       1  6.00 us  6.00 us\n");
	has(&x, "  compaction  sync_light      2           1  16.0 KiB  6.00 us  3.00 us\n");
	fini(&x);
}

static void test_huge(void **state)
{
	struct result x = { 0 };

	(void)state;
	add(&x, record(TRACE_HUGE_FAULT, 9, 0, 2 << 20, 0, 0));
	add(&x, record(TRACE_HUGE_FAULT, 9, 0, 0, 1, 0));
	add(&x, record(TRACE_COLLAPSE, HUGE_SUCCEED, 9, 1, 0, 0));
	add(&x, record(TRACE_KHUGEPAGED, HUGE_PMD_NULL, 9, 0, 1, 0));
	add(&x, record(TRACE_KHUGEPAGED, HUGE_PMD_NULL, 8, 0, 1, 0));
	show(&x, 1u << EVENT_THP);
	has(&x, "  huge_fault      2       1  2.00 MiB\n");
	has(&x, "  madvise     anonymous  collapse      1  succeeded\n"
		"  khugepaged  file       scan          2  pmd_null\n");
	fini(&x);
}

static void test_slowest_slot(void **state)
{
	uint64_t slots[3] = { 1, 0, 100 };
	struct style style = { .width = 120 };
	struct doc d = { 0 };
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	trace_histogram(&d, "key", "Title", slots, 3);
	assert_int_equal(doc_print_text(&d, &style, out), 0);
	fclose(out);
	assert_non_null(strstr(text, "   0 s   2 ns      1  #\n  2 ns   4 ns      0\n"
				     "  4 ns           100  ####################"));
	free(text);
	doc_fini(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gfp),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_reclaim_lines),
		cmocka_unit_test(test_compaction_lines),
		cmocka_unit_test(test_huge_lines),
		cmocka_unit_test(test_vmstat),
		cmocka_unit_test(test_rows_since),
		cmocka_unit_test(test_reclaim),
		cmocka_unit_test(test_compaction),
		cmocka_unit_test(test_huge),
		cmocka_unit_test(test_slowest_slot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
