/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures with the right checksums and wrong rows in one of their tables: leaks, heap errors,
 * series, lines of the source, events of the kernel. Files without those tables are read.
 */
#include "src/store/file_pack.h"
#include "tests/unit/capture_forge.h"

/* A column by its field in the row, and the number in it. */
struct exception {
	size_t field;
	uint64_t value;
};

/*
 * A section with one row, in which all columns are `others` but the `nr` exceptions, the first of a
 * field; what follows the columns is left to the caller.
 */
static void begin_row(struct pack *p, enum file_table_number table, const struct exception *e,
		      unsigned nr, uint64_t others)
{
	const struct file_table *t = &file_tables[table];

	pack_begin(p, t->id, 1);
	for (unsigned i = 0; i < t->nr_columns; i++) {
		unsigned k = 0;

		while (k < nr && e[k].field != t->column[i].offset)
			k++;
		pack_number(p, FILE_CONSTANT);
		pack_number(p, k < nr ? e[k].value : others);
	}
}

static void forge_leaks_without_search(struct pack *p)
{
	begin_row(p, FILE_LEAKS, NULL, 0, 1);
	pack_end(p);
}

/* Search and leaks came with 1.1: readers of 1.0 pass over them, files of 1.0 have none. */
static void a_search_is_optional(void **state)
{
	struct heap *h = recipe_heap("site main size=10 allocs=2\n"),
		    *searched = recipe_heap(rich_recipe);
	struct image m = write_image(h), rich = write_image(searched),
		     forgery = repacked(&m, change_nothing, forge_leaks_without_search);
	struct file_section head;
	struct file_toc_entry toc;
	struct file_end end;

	(void)state;
	memcpy(&end, m.bytes + m.n - sizeof(end), sizeof(end));
	memcpy(&head, m.bytes + end.toc_offset, sizeof(head));
	assert_int_equal(head.count, FILE_SEARCH);
	memcpy(&end, rich.bytes + rich.n - sizeof(end), sizeof(end));
	memcpy(&head, rich.bytes + end.toc_offset, sizeof(head));
	/*
	 * the recipe has no FILE_SRCLOCS, FILE_MISSED, FILE_RESIDENT, FILE_KMOD, FILE_KMOD_SUMS,
	 * FILE_SPACE, FILE_OWN
	 */
	assert_int_equal(head.count, FILE_NR_TABLES - 7);
	for (int i = 0; i < FILE_NR_TABLES - 7; i++) {
		memcpy(&toc, rich.bytes + end.toc_offset + sizeof(head) + i * sizeof(toc),
		       sizeof(toc));
		assert_int_equal(!(toc.section.flags & FILE_REQUIRED), i >= FILE_SEARCH);
	}
	expect_refusal(forgery.bytes, forgery.n, -EBADMSG,
		       "the capture 'x' is damaged (contents): leaks without a search");
	heap_free(h);
	heap_free(searched);
	free(m.bytes);
	free(rich.bytes);
	free(forgery.bytes);
}

/*
 * A section with one heap error in which all columns are 0 but type and count, and a few as given;
 * what follows the columns is left to the caller.
 */
static void begin_finding(struct pack *p, size_t field, uint64_t value)
{
	const struct exception e[] = {
		{ field, value },
		{ offsetof(struct heap_finding, type), 1 },
		{ offsetof(struct heap_finding, count), 1 },
	};

	begin_row(p, FILE_FINDINGS, e, sizeof(e) / sizeof(*e), 0);
}

static void forge_finding(struct pack *p, size_t field, uint64_t value)
{
	begin_finding(p, field, value);
	pack_text(p, "memcpy");
	pack_text(p, "");
	pack_end(p);
}

static void forge_finding_site(struct pack *p)
{
	forge_finding(p, offsetof(struct heap_finding, free_site), 2);
}

static void forge_finding_thread(struct pack *p)
{
	forge_finding(p, offsetof(struct heap_finding, alloc_thread), UINT16_MAX - 1);
}

static void forge_finding_type(struct pack *p)
{
	forge_finding(p, offsetof(struct heap_finding, type), HEAP_NR_FINDING_TYPES);
}

static void forge_finding_count(struct pack *p)
{
	forge_finding(p, offsetof(struct heap_finding, count), 0);
}

static void forge_finding_code(struct pack *p)
{
	forge_finding(p, offsetof(struct heap_finding, nr_code), HEAP_FINDING_BYTES + 1);
}

static void forge_finding_name(struct pack *p)
{
	begin_finding(p, 0, 1);
	pack_text(p, "seventeen letters");
	pack_text(p, "");
	pack_end(p);
}

static void forge_finding_alone(struct pack *p)
{
	forge_finding(p, offsetof(struct heap_finding, number), 7);
}

static void forge_usage_points_alone(struct pack *p)
{
	begin_row(p, FILE_USAGE_POINTS, NULL, 0, 1);
	pack_end(p);
}

static void forge_usage_alone(struct pack *p)
{
	begin_row(p, FILE_USAGE, NULL, 0, 1);
	pack_end(p);
}

static void forge_usage(struct pack *p)
{
	forge_usage_alone(p);
	forge_usage_points_alone(p);	/* times are known, and sizes are said */
}

static void forge_mark_name(struct pack *p)
{
	begin_row(p, FILE_MARKS, NULL, 0, 1);
	pack_text(p, "forty letters, which are one more than 39");
	pack_end(p);
}

static void forge_many_marks(struct pack *p)
{
	pack_begin(p, "MARK", HEAP_MAX_MARKS + 1);
	pack_end(p);
}

static void forged_series_and_marks_are_refused(void **state)
{
	static const struct {
		void (*forge)(struct pack *p);
		const char *text;
	} forgeries[] = {
		{ forge_usage_points_alone, "the kernel's figures over time): it does not go with "
					    "the series as a whole" },
		{ forge_usage_alone, "the kernel's figures over time): it does not go with the "
				     "series as a whole" },
		{ forge_usage, "contents): point 0 of the kernel's figures has what is not known" },
		{ forge_mark_name, "what happened when): a name is too long" },
		{ forge_many_marks, "what happened when): it cannot have 65537 rows" },
	};
	struct heap *h = recipe_heap("site main size=1\n");
	struct image m = write_image(h);

	(void)state;
	for (unsigned i = 0; i < sizeof(forgeries) / sizeof(forgeries[0]); i++) {
		struct image forgery = repacked(&m, change_nothing, forgeries[i].forge);
		char text[200];

		snprintf(text, sizeof(text), "the capture 'x' is damaged (%s", forgeries[i].text);
		expect_refusal(forgery.bytes, forgery.n, -EBADMSG, text);
		free(forgery.bytes);
	}
	heap_free(h);
	free(m.bytes);
}

static void forged_heap_errors_are_refused(void **state)
{
	static const struct {
		void (*forge)(struct pack *p);
		const char *text;
	} row[] = {
		{ forge_finding_site, "(contents): finding 0 names site 2" },
		{ forge_finding_thread, "(contents): finding 0 names thread 65534" },
		{ forge_finding_type, "(contents): finding 0 is of type 15 by 0" },
		{ forge_finding_count, "(contents): finding 0 contradicts itself" },
		{ forge_finding_code, "(heap errors): a heap error has too many bytes" },
		{ forge_finding_name, "(heap errors): a name is too long" },
	};
	struct heap *h = recipe_heap("site main size=10 allocs=2\n"), *back;
	struct image m = write_image(h), alone = repacked(&m, change_nothing, forge_finding_alone);
	struct err e;

	(void)state;
	for (size_t i = 0; i < NR(row); i++) {
		struct image forgery = repacked(&m, change_nothing, row[i].forge);
		char text[128];

		snprintf(text, sizeof(text), "the capture 'x' is damaged %s", row[i].text);
		expect_refusal(forgery.bytes, forgery.n, -EBADMSG, text);
		free(forgery.bytes);
	}
	assert_int_equal(read_image(alone.bytes, alone.n, &back, &e), 0);
	assert_int_equal(back->nr_findings, 1);
	assert_int_equal(back->findings[0].number, 7);
	assert_string_equal(back->findings[0].function, "memcpy");
	heap_free(back);
	heap_free(h);
	free(m.bytes);
	free(alone.bytes);
}

/* ---- lines of the source */
static void begin_srclocs(struct pack *p, uint64_t rows, uint64_t line)
{
	pack_begin(p, "SPOT", rows);
	pack_number(p, FILE_CONSTANT);
	pack_number(p, line);
}

static void forge_srclocs_too_many(struct pack *p)
{
	begin_srclocs(p, HEAP_MAX_SRCLOCS + 1, 1);
	pack_end(p);
}

static void forge_srclocs_without_texts(struct pack *p)
{
	begin_srclocs(p, 2, 1);
	pack_text(p, "a.c");
	pack_end(p);
}

static void forge_srcloc_text(struct pack *p)
{
	begin_srclocs(p, 1, 1);
	pack_number(p, UINT64_MAX);
	pack_end(p);
}

static void forge_srcloc_line(struct pack *p)
{
	begin_srclocs(p, 1, UINT32_MAX + 1ull);
	pack_end(p);
}

static void forge_srclocs_twice(struct pack *p)
{
	for (int i = 0; i < 2; i++) {
		begin_srclocs(p, 1, 1);
		pack_text(p, "");
		pack_text(p, "");
		pack_end(p);
	}
}

static void forge_srclocs_none(struct pack *p)
{
	(void)p;
}

/* A section that no reader knows. */
static void forget_srclocs(char *id, uint8_t *raw, size_t *n)
{
	(void)raw;
	(void)n;
	if (!memcmp(id, "SPOT", 4))
		memcpy(id, "WHAT", 4);
}

static void forged_lines_are_refused(void **state)
{
	static const struct {
		void (*change)(char *id, uint8_t *raw, size_t *n);
		void (*forge)(struct pack *p);
		const char *text;
	} row[] = {
		{ change_nothing, forge_srclocs_too_many,
		  "(lines of the source): it cannot have 65537 rows" },
		{ change_nothing, forge_srclocs_without_texts,
		  "(lines of the source): its data end early" },
		{ change_nothing, forge_srcloc_text,
		  "(lines of the source): a string is too long" },
		{ change_nothing, forge_srcloc_line,
		  "(lines of the source): a number is out of range" },
		{ change_nothing, forge_srclocs_twice, "(lines of the source): it is there twice" },
		{ forget_srclocs, forge_srclocs_none,
		  "(contents): node 1 names a source location that is not there" },
	};
	struct heap *h = recipe_heap("site main size=10 allocs=2\n");
	struct image plain = write_image(h), spotted;

	(void)state;
	h->nr_srclocs = 1;
	h->srclocs = calloc(1, sizeof(*h->srclocs));
	h->srclocs[0] = (struct heap_srcloc){ strdup("a.c"), strdup("f"), 1 };
	h->nodes[1].pc = HEAP_SRCLOC_PC;
	h->nodes[1].module = 0;
	spotted = write_image(h);
	for (size_t i = 0; i < NR(row); i++) {
		struct image forgery = repacked(row[i].change == forget_srclocs ? &spotted : &plain,
						row[i].change, row[i].forge);
		char text[128];

		snprintf(text, sizeof(text), "the capture 'x' is damaged %s", row[i].text);
		expect_refusal(forgery.bytes, forgery.n, -EBADMSG, text);
		free(forgery.bytes);
	}
	heap_free(h);
	free(plain.bytes);
	free(spotted.bytes);
}

/* ---- events of the kernel */

/* Columns of a table of them, all of one row: 0, but one as given. */
static void pack_kernel(struct pack *p, enum file_table_number number, size_t field, uint64_t value)
{
	begin_row(p, number, &(struct exception){ field, value }, 1, 0);
	if (number == FILE_KERNEL)
		pack_text(p, "");
	pack_end(p);
}

/* All four tables with one row, in which fields of the rows have these values. */
static void pack_all_kernel(struct pack *p, uint64_t kind, size_t bin_field, uint64_t bin_value)
{
	const struct exception e = { offsetof(struct heap_kernel_row, site), HEAP_NO_SITE };

	pack_kernel(p, FILE_KERNEL, offsetof(struct heap, kernel.traced), 1);
	pack_kernel(p, FILE_KERNEL_KINDS, offsetof(struct heap_kernel_kind, kind), kind);
	begin_row(p, FILE_KERNEL_ROWS, &e, 1, 1);
	pack_end(p);
	pack_kernel(p, FILE_KERNEL_BINS, bin_field, bin_value);
}

static void forge_kernel_kind(struct pack *p)
{
	pack_all_kernel(p, HEAP_KERNEL_MAX_KINDS, 0, 0);
}

/* `of` is a block, and the site none. */
static void forge_kernel_site(struct pack *p)
{
	pack_all_kernel(p, 1, 0, 0);
}

static void forge_kernel_alone(struct pack *p)
{
	pack_kernel(p, FILE_KERNEL_BINS, 0, 0);
}

static void forge_kernel_not_traced(struct pack *p)
{
	pack_kernel(p, FILE_KERNEL, offsetof(struct heap, kernel.sample), 5);
	for (int i = FILE_KERNEL_KINDS; i <= FILE_KERNEL_BINS; i++) {
		pack_begin(p, file_tables[i].id, 0);
		pack_end(p);
	}
}

/* Counted page faults of what was not traced. */
static void forge_kernel_faults_alone(struct pack *p)
{
	pack_kernel(p, FILE_KERNEL_FAULTS, offsetof(struct heap, kernel.faults_counted), 1);
}

static void forge_kernel_bool(struct pack *p)
{
	pack_kernel(p, FILE_KERNEL, offsetof(struct heap, kernel.stacks), 2);
}

static void forge_kernel_kinds(struct pack *p)
{
	pack_begin(p, "KKND", HEAP_KERNEL_MAX_KINDS + 1);
	pack_end(p);
}

static void forge_kernel_rows(struct pack *p)
{
	pack_begin(p, "KROW", HEAP_KERNEL_MAX_ROWS + 1);
	pack_end(p);
}

static void forge_kernel_bins(struct pack *p)
{
	pack_begin(p, "KBIN", HEAP_KERNEL_MAX_BINS + 1);
	pack_end(p);
}

static void forge_kernel_twice(struct pack *p)
{
	forge_kernel_alone(p);
	forge_kernel_alone(p);
}

static void forge_kernel_text(struct pack *p)
{
	begin_row(p, FILE_KERNEL, NULL, 0, 0);
	pack_number(p, UINT64_MAX);
	pack_end(p);
}

static void forged_kernel_events_are_refused(void **state)
{
	static const struct {
		void (*forge)(struct pack *p);
		const char *text;
	} row[] = {
		{ forge_kernel_kind, "(contents): there is no kind 128 of kernel events" },
		{ forge_kernel_site, "(contents): kernel event 0 names site 4294967295" },
		{ forge_kernel_alone, "(kernel events): it is missing" },
		{ forge_kernel_not_traced,
		  "(contents): events of the kernel that were not looked for" },
		{ forge_kernel_faults_alone,
		  "(contents): events of the kernel that were not looked for" },
		{ forge_kernel_bool, "(kernel events): a number is out of range" },
		{ forge_kernel_kinds, "(kinds of kernel events): it cannot have 129 rows" },
		{ forge_kernel_rows, "(sums of kernel events): it cannot have 1048577 rows" },
		{ forge_kernel_bins, "(kernel events over time): it cannot have 65537 rows" },
		{ forge_kernel_twice, "(kernel events over time): it is there twice" },
		{ forge_kernel_text, "(kernel events): a string is too long" },
	};
	struct heap *h = recipe_heap("site main size=10 allocs=2\n");
	struct image m = write_image(h);

	(void)state;
	for (size_t i = 0; i < NR(row); i++) {
		struct image forgery = repacked(&m, change_nothing, row[i].forge);
		char text[128];

		snprintf(text, sizeof(text), "the capture 'x' is damaged %s", row[i].text);
		expect_refusal(forgery.bytes, forgery.n, -EBADMSG, text);
		free(forgery.bytes);
	}
	heap_free(h);
	free(m.bytes);
}

/* A reader from before 1.6 skips all four sections. */
static void forget_kernel(char *id, uint8_t *raw, size_t *n)
{
	(void)raw;
	(void)n;
	if (id[0] == 'K')
		id[0] = 'X';
}

static void kernel_events_are_optional(void **state)
{
	static const char recipe[] = "site main size=10 allocs=2\n";
	struct heap *plain = recipe_heap(recipe), *traced, *back;
	char text[sizeof(recipe) + 100];
	struct image m, old;
	struct err e;

	(void)state;
	snprintf(text, sizeof(text), "%skernel why=x\nevent mmap main events=4\n", recipe);
	traced = recipe_heap(text);
	m = write_image(traced);
	old = repacked(&m, forget_kernel, forge_nothing);
	expect_read_back(&m, traced);
	assert_int_equal(read_image(old.bytes, old.n, &back, &e), 0);
	expect_same_heap(plain, back);
	heap_free(plain);
	heap_free(traced);
	heap_free(back);
	free(m.bytes);
	free(old.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forged_heap_errors_are_refused),
		cmocka_unit_test(forged_series_and_marks_are_refused),
		cmocka_unit_test(forged_lines_are_refused),
		cmocka_unit_test(forged_kernel_events_are_refused),
		cmocka_unit_test(kernel_events_are_optional),
		cmocka_unit_test(a_search_is_optional),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
