/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page faults: src/analyze/trace/fault_totals.c and src/view/trace/trace_faults.c, with rows made
 * here. Also of src/analyze/trace/fault_names.c, src/kernel/fault_area.c,
 * src/session/trace/trace_paths.c.
 */
#include "tests/unit/unit.h"

#include "src/analyze/trace/fault_totals.h"
#include "src/document/event.h"
#include "src/kernel/event_class.h"
#include "src/session/trace/trace_paths.h"
#include "src/session/trace/trace_session.h"
#include "src/view/trace/trace_line.h"
#include "src/view/trace/trace_sections.h"
#include "tests/fake/fake_kernel.h"
#include "tests/unit/trace_text.h"

#define DEVICE		(254u << 20 | 3)

/* What the kernel has counted: three areas of two processes, two files. */
static const struct fault_key fault_keys[] = {
	{ .tgid = 7, .area = FAULT_ANONYMOUS },
	{ .tgid = 7, .area = FAULT_FILE_PRIVATE, .inode = 11, .device = DEVICE, .range = 2,
	  .shift = 16 },
	{ .tgid = 8, .area = FAULT_FILE_PRIVATE, .inode = 11, .device = DEVICE, .range = 2,
	  .shift = 16 },
	{ .tgid = 8, .area = FAULT_FILE_SHARED, .inode = 12, .device = DEVICE, .range = 0,
	  .shift = 20 },
	{ .tgid = 8, .area = FAULT_STACK_GROWTH },
};

static const struct fault_row fault_values[] = {
	{ .faults = { [FAULT_READ] = 5, [FAULT_WRITE] = 90, [FAULT_WRITE_PRESENT] = 5 },
	  .by_kernel = 4, .comm = "first" },
	{ .faults = { [FAULT_FETCH] = 10 }, .comm = "first" },
	{ .faults = { [FAULT_FETCH] = 20, [FAULT_READ] = 1 }, .comm = "second" },
	{ .faults = { [FAULT_WRITE] = 40 }, .comm = "second" },
	{ .faults = { [FAULT_WRITE] = 3 }, .comm = "second" },
};

static const struct fault_key major_keys[] = {
	{ .tgid = 7, .area = FAULT_ANONYMOUS },
	{ .tgid = 8, .area = FAULT_FILE_SHARED, .inode = 12, .device = DEVICE, .range = 0,
	  .shift = 20 },
};

static const struct major_row major_values[] = {
	{ .faults = 6, .comm = "first" },
	{ .faults = 2, .comm = "second" },
};

static const struct fault_file_key file_keys[] = {
	{ .inode = 11, .device = DEVICE },
	{ .inode = 12, .device = DEVICE },
	{ .inode = 13, .device = DEVICE },
};

static const struct fault_file file_values[] = {
	{ .bytes = 16, .names = "libc.so.6\0lib\0x" },
	{ .bytes = 5, .deleted = 1, .names = "data" },
	{ .bytes = 4, .cut = 1, .names = "end" },
};

static struct fake_kernel fake_of_all(void)
{
	return (struct fake_kernel){
		.keys = { [KERNEL_TABLE_FAULTS] = fault_keys, [KERNEL_TABLE_MAJOR] = major_keys,
			  [KERNEL_TABLE_FAULT_FILES] = file_keys },
		.values = { [KERNEL_TABLE_FAULTS] = fault_values,
			    [KERNEL_TABLE_MAJOR] = major_values,
			    [KERNEL_TABLE_FAULT_FILES] = file_values },
		.nr_rows = { [KERNEL_TABLE_FAULTS] = NR(fault_keys),
			     [KERNEL_TABLE_MAJOR] = NR(major_keys),
			     [KERNEL_TABLE_FAULT_FILES] = NR(file_keys) },
		.counts = { [TRACE_FAULT] = { .seen = 174 }, [TRACE_SWAP_IN] = { .seen = 6 } },
	};
}

static void read_rows(struct kernel_rows rows[KERNEL_NR_TABLES], struct fake_kernel *f)
{
	struct kernel_options o = { 0 };
	struct kernel_source *s;

	fake_kernel = f;
	assert_int_equal(kernel_source_open(&fake_source, &o, &s, NULL), 0);
	for (int i = 0; i < KERNEL_NR_TABLES; i++)
		assert_int_equal(kernel_rows_read(&rows[i], s, i), 0);
	kernel_source_close(s);
}

static void rows_fini(struct kernel_rows rows[KERNEL_NR_TABLES])
{
	for (int i = 0; i < KERNEL_NR_TABLES; i++)
		kernel_rows_fini(&rows[i]);
}

/* ---- sums ---- */

static void test_sums(void **state)
{
	struct kernel_rows rows[KERNEL_NR_TABLES] = { 0 };
	struct fault_totals t = { 0 };
	struct fake_kernel f = fake_of_all();

	(void)state;
	read_rows(rows, &f);
	assert_int_equal(fault_totals_make(&t, &rows[KERNEL_TABLE_FAULTS],
					   &rows[KERNEL_TABLE_MAJOR]), 0);
	assert_int_equal(t.area[FAULT_ANONYMOUS].faults, 100);
	assert_int_equal(t.area[FAULT_ANONYMOUS].by_kernel, 4);
	assert_int_equal(t.area[FAULT_ANONYMOUS].major, 6);
	assert_int_equal(t.area[FAULT_FILE_PRIVATE].faults, 31);
	assert_int_equal(t.area[FAULT_FILE_PRIVATE].access[FAULT_FETCH], 30);
	assert_int_equal(t.files.nr, 2);
	assert_int_equal(t.files.v[0].inode, 12);
	assert_int_equal(t.files.v[0].sum.faults, 40);
	assert_int_equal(t.files.v[0].sum.major, 2);
	assert_int_equal(t.files.v[1].sum.faults, 31);
	assert_int_equal(t.ranges.nr, 2);
	assert_int_equal(t.ranges.v[1].start, 2 << 16);
	assert_int_equal(t.ranges.v[1].bytes, 1 << 16);
	assert_int_equal(t.ranges.v[1].sum.faults, 31);
	assert_int_equal(t.processes.nr, 2);
	assert_int_equal(t.processes.v[0].tgid, 7);
	assert_int_equal(t.processes.v[0].sum.faults, 110);
	assert_int_equal(t.processes.v[0].swapped_in, 6);
	assert_string_equal(t.processes.v[1].comm, "second");
	assert_int_equal(t.processes.v[1].area[FAULT_STACK_GROWTH], 3);
	assert_int_equal(t.processes.v[1].swapped_in, 0);
	fault_totals_fini(&t);
	rows_fini(rows);
}

/* Rows since the result before: counts are those of the time between, names stay. */
static void test_sums_of_an_interval(void **state)
{
	struct kernel_rows rows[KERNEL_NR_TABLES] = { 0 }, before = { 0 };
	struct fault_row values[NR(fault_values)];
	struct fault_totals t = { 0 };
	struct fake_kernel f = fake_of_all();

	(void)state;
	read_rows(rows, &f);
	assert_int_equal(kernel_rows_since(&rows[KERNEL_TABLE_FAULTS], &before,
					   KERNEL_TABLE_FAULTS), 0);
	assert_int_equal(rows[KERNEL_TABLE_FAULTS].nr, NR(fault_values));
	memcpy(values, fault_values, sizeof(values));
	values[2].faults[FAULT_READ] += 5;
	f.values[KERNEL_TABLE_FAULTS] = values;
	f.nr_rows[KERNEL_TABLE_MAJOR] = 0;
	read_rows(rows, &f);
	assert_int_equal(kernel_rows_since(&rows[KERNEL_TABLE_FAULTS], &before,
					   KERNEL_TABLE_FAULTS), 0);
	assert_int_equal(fault_totals_make(&t, &rows[KERNEL_TABLE_FAULTS],
					   &rows[KERNEL_TABLE_MAJOR]), 0);
	assert_int_equal(t.processes.nr, 1);
	assert_string_equal(t.processes.v[0].comm, "second");
	assert_int_equal(t.area[FAULT_FILE_PRIVATE].faults, 5);
	assert_int_equal(t.area[FAULT_ANONYMOUS].faults, 0);
	fault_totals_fini(&t);
	kernel_rows_fini(&before);
	rows_fini(rows);
}

/* Nothing outside the tables is read, whatever the rows say. */
static void test_rows_of_another_build(void **state)
{
	static const struct fault_key keys[] = { { .area = FAULT_NR_AREAS, .inode = 1 },
						 { .shift = 64, .inode = 1 },
						 { .shift = 63, .inode = 1 } };
	static const struct fault_row values[3] = { { .faults = { 1 } }, { .faults = { 1 } },
						    { .faults = { 1 } } };
	struct fake_kernel f = { .keys = { [KERNEL_TABLE_FAULTS] = keys },
				 .values = { [KERNEL_TABLE_FAULTS] = values },
				 .nr_rows = { [KERNEL_TABLE_FAULTS] = 2 } };
	struct kernel_rows rows[KERNEL_NR_TABLES] = { 0 };
	struct fault_totals t = { 0 };

	(void)state;
	read_rows(rows, &f);
	assert_int_equal(fault_totals_make(&t, &rows[KERNEL_TABLE_FAULTS],
					   &rows[KERNEL_TABLE_MAJOR]), 0);
	assert_int_equal(t.files.nr + t.ranges.nr + t.processes.nr, 0);
	fault_totals_fini(&t);
	t = (struct fault_totals){ 0 };
	rows_fini(rows);
	f.nr_rows[KERNEL_TABLE_FAULTS] = 3;	/* the largest shift that there can be */
	read_rows(rows, &f);
	assert_int_equal(fault_totals_make(&t, &rows[KERNEL_TABLE_FAULTS],
					   &rows[KERNEL_TABLE_MAJOR]), 0);
	assert_int_equal(t.ranges.nr, 1);
	fault_totals_fini(&t);
	rows_fini(rows);
}

static void test_names(void **state)
{
	struct fault_names n = { 0 };

	(void)state;
	for (size_t i = 0; i < NR(file_keys); i++)
		assert_int_equal(fault_names_add(&n, &file_keys[i], &file_values[i]), 0);
	assert_string_equal(fault_names_find(&n, DEVICE, 11), "/x/lib/libc.so.6");
	assert_string_equal(fault_names_find(&n, DEVICE, 12), "/data (deleted)");
	assert_string_equal(fault_names_find(&n, DEVICE, 13), ".../end");
	assert_null(fault_names_find(&n, DEVICE, 14));
	assert_null(fault_names_find(&n, DEVICE + 1, 11));
	fault_names_fini(&n);
}

/* ---- lines ---- */

static struct trace_record fault(uint32_t kind, enum fault_area area, uint64_t error)
{
	return (struct trace_record){
		.kind = kind, .tgid = 7, .tid = 7, .weight = 1, .comm = "victim",
		.a = { 0x7000, 0x400, error | (uint64_t)area << TRACE_FAULT_AREA_SHIFT },
	};
}

static void line_is(struct trace_record r, const char *path, const char *text, const char *json)
{
	struct stack_table stacks;
	struct event e = { 0 };

	stack_table_init(&stacks, 0);
	trace_line(&e, &r, path, 0, &stacks, NULL, 0);
	event_has(&e, text, json);
	stack_table_fini(&stacks);
}

static void test_lines(void **state)
{
	struct trace_record r = fault(TRACE_FAULT, FAULT_ANONYMOUS,
				      TRACE_FAULT_WRITE | TRACE_FAULT_USER);

	(void)state;
	line_is(r, "", " fault           write, anonymous at 0x7000\n",
		"\"access\": \"write\", \"page_present\": false, \"address\": \"0x7000\", "
		"\"instruction\": \"0x400\", \"memory\": \"anonymous\", \"by_kernel\": false");
	r.weight = 37;
	line_is(r, "", "write, anonymous at 0x7000; one of 37\n", "\"weight\": 37");
	r = fault(TRACE_FAULT, FAULT_FILE_PRIVATE, TRACE_FAULT_WRITE | TRACE_FAULT_PRESENT);
	r.a[4] = 11;
	r.a[5] = 0x3000;
	line_is(r, "/lib/libc.so.6",
		"write of a page that is there, private file at 0x7000, /lib/libc.so.6+0x3000, "
		"in a system call\n",
		"\"memory\": \"private_file\", \"by_kernel\": true, \"file\": \"/lib/libc.so.6\", "
		"\"inode\": 11, \"offset_bytes\": 12288");
	line_is(r, "", "at 0x7000, inode 11+0x3000", "\"inode\": 11");
	line_is(fault(TRACE_FAULT, FAULT_HUGETLB, TRACE_FAULT_USER), "",
		" fault           read, hugetlb at 0x7000\n", "\"memory\": \"hugetlb\"");
	line_is(fault(TRACE_FAULT, FAULT_NR_AREAS, TRACE_FAULT_FETCH | TRACE_FAULT_USER), "",
		"fetch, not known at 0x7000\n", "\"memory\": \"unknown\"");
	line_is(fault(TRACE_SWAP_IN, FAULT_HEAP, TRACE_FAULT_USER), "",
		" swap_in         heap (brk) at 0x7000\n", "\"event\": \"swap_in\"");
	r = fault(TRACE_FAULT_MAJOR, FAULT_FILE_SHARED, TRACE_FAULT_USER);
	r.a[4] = 12;
	line_is(r, "/data", " major           shared file at 0x7000, /data+0x0\n",
		"\"file\": \"/data\"");
}

/* A file is looked up once; one that is in no table has no path. */
static void test_paths(void **state)
{
	struct trace_record r = fault(TRACE_FAULT, FAULT_FILE_PRIVATE, 0);
	struct fake_kernel f = fake_of_all();
	struct fault_names n = { 0 };
	struct kernel_options o = { 0 };
	struct kernel_source *s;

	(void)state;
	fake_kernel = &f;
	assert_int_equal(kernel_source_open(&fake_source, &o, &s, NULL), 0);
	assert_false(trace_paths_has(&r));
	r.a[3] = DEVICE;
	r.a[4] = 11;
	assert_true(trace_paths_has(&r));
	assert_string_equal(trace_paths_find(&n, s, &r), "/x/lib/libc.so.6");
	f.nr_rows[KERNEL_TABLE_FAULT_FILES] = 0;
	assert_string_equal(trace_paths_find(&n, s, &r), "/x/lib/libc.so.6");
	r.a[4] = 99;
	assert_string_equal(trace_paths_find(&n, s, &r), "");
	r.a[4] = 12;
	r.kind = TRACE_FAULT_MAJOR;		/* its group does not run */
	assert_string_equal(trace_paths_find(&n, s, &r), "");
	kernel_source_close(s);
	fault_names_fini(&n);
}

/* ---- sections ---- */

static char *text_of(uint32_t classes, struct fake_kernel *f, uint64_t top)
{
	struct kernel_rows rows[KERNEL_NR_TABLES] = { 0 };
	struct trace_result result = { .classes = classes, .rows = rows, .top = top };
	struct style style = { .width = 100 };
	struct doc d = { 0 };
	char *words = NULL;
	size_t n;
	FILE *out = open_memstream(&words, &n);

	read_rows(rows, f);
	for (int i = 0; i < EVENT_NR_CLASSES; i++)
		if (classes >> i & 1 && trace_sections[i])
			trace_sections[i](&d, &result);
	assert_int_equal(doc_error(&d), 0);
	assert_int_equal(doc_print_text(&d, &style, out), 0);
	fclose(out);
	doc_fini(&d);
	rows_fini(rows);
	return words;
}

static void test_section_of_faults(void **state)
{
	struct fake_kernel f = fake_of_all();
	char *text = text_of(1u << EVENT_FAULTS | 1u << EVENT_MAJOR, &f, 1);

	(void)state;
	has(text, "Page faults by kind of memory\n");
	has(text, "  anonymous          100      5      90        -           5"
			  "         4      6\n");
	has(text, "  stack, growing       3      -       3        -           -"
			  "         -      -\n");
	has(text, "    7     110        100    10      6  first\n");
	has(text, "      40      40      2  /data (deleted)\n");
	has(text, "      40      2   0 B  1.00 MiB  /data (deleted)\n");
	has(text, "  1 more row (--top=0 shows all)\n");
	assert_null(strstr(text, "libc.so.6"));
	assert_null(strstr(text, "Major faults by range"));
	free(text);
	f.nr_rows[KERNEL_TABLE_FAULT_FILES] = 0;
	text = text_of(1u << EVENT_FAULTS, &f, 0);
	has(text, "inode 12 of device 254:3\n");
	free(text);
}

static void test_sections_of_major_and_swap(void **state)
{
	struct fake_kernel f = fake_of_all();
	char *text = text_of(1u << EVENT_MAJOR | 1u << EVENT_SWAP, &f, 0);

	(void)state;
	has(text, "       2   0 B  1.00 MiB  /data (deleted)\n");
	has(text, "    7         6  24.0 KiB  first\n");
	assert_null(strstr(text, "second"));
	assert_null(strstr(text, "Page faults by"));
	free(text);
	f.nr_rows[KERNEL_TABLE_MAJOR] = 0;
	text = text_of(1u << EVENT_MAJOR | 1u << EVENT_SWAP, &f, 0);
	assert_string_equal(text, "");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_sums_of_an_interval),
		cmocka_unit_test(test_rows_of_another_build),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_section_of_faults),
		cmocka_unit_test(test_sections_of_major_and_swap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
