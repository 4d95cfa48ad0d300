/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures with the right checksums and wrong contents, or contents that are not this version's:
 * nothing that a file holds does harm. Also of src/store/file_format.c, file_pack.c, file_read.c,
 * file_unpack.c, file_values.c, file_write.c.
 */
#include "src/base/fmt.h"
#include "src/store/file_pack.h"
#include "tests/unit/capture_image.h"

/* A capture whose sections are `forge`'s. */
static struct image forged(void (*forge)(struct pack *p))
{
	FILE *f = tmpfile();
	struct pack *p;

	assert_non_null(f);
	p = pack_new(f);
	assert_non_null(p);
	forge(p);
	assert_int_equal(pack_finish(p), 0);
	pack_free(p);
	return image_of(f);
}

static void expect_forgery(void (*forge)(struct pack *p), int code, const char *text)
{
	struct image m = forged(forge);

	expect_refusal(m.bytes, m.n, code, text);
	free(m.bytes);
}

static void forge_count(struct pack *p)
{
	pack_begin(p, "BLOK", 1ull << 33);
	pack_end(p);
}

static void forge_impossible_count(struct pack *p)
{
	pack_begin(p, "THRD", 1ull << 40);
	pack_end(p);
}

static void forge_bomb(struct pack *p)
{
	static const uint8_t zeros[1 << 16];

	pack_begin(p, "BLOK", 1);
	for (int i = 0; i < 3000; i++)
		pack_bytes(p, zeros, sizeof(zeros));
	pack_end(p);
}

static void forge_surplus(struct pack *p)
{
	pack_begin(p, "PNTS", 0);
	pack_number(p, 1);
	pack_end(p);
}

static void forge_deficit(struct pack *p)
{
	pack_begin(p, "PNTS", 3);
	pack_number(p, FILE_PLAIN);
	pack_number(p, 1);
	pack_number(p, 1);
	pack_end(p);
}

static void forge_coding(struct pack *p)
{
	pack_begin(p, "PNTS", 3);
	pack_number(p, FILE_NR_CODINGS);
	pack_end(p);
}

static void forge_overflow(struct pack *p)
{
	pack_begin(p, "PNTS", 3);
	pack_number(p, FILE_PLAIN);
	pack_number(p, UINT64_MAX);
	pack_number(p, 2);
	pack_end(p);
}

static void forge_width(struct pack *p)
{
	pack_begin(p, "THRD", 2);
	pack_number(p, FILE_CONSTANT);
	pack_number(p, 1ull << 32);
	pack_end(p);
}

static void forge_long_number(struct pack *p)
{
	pack_begin(p, "PNTS", 3);
	pack_bytes(p, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12);
	pack_end(p);
}

static void forge_long_text(struct pack *p)
{
	pack_begin(p, "MODU", 1);
	for (int i = 0; i < 6; i++) {
		pack_number(p, FILE_CONSTANT);
		pack_number(p, 0);
	}
	pack_number(p, FILE_MAX_TEXT + 1);
	pack_end(p);
}

static void forge_twice(struct pack *p)
{
	for (int i = 0; i < 2; i++) {
		pack_begin(p, "PNTS", 0);
		pack_end(p);
	}
}

static void forge_nothing(struct pack *p)
{
	(void)p;
}

static void forge_unknown(struct pack *p)
{
	pack_begin(p, "WHAT", 0);
	pack_end(p);
}

static void forgeries_are_refused(void **state)
{
	(void)state;
	expect_forgery(forge_count, -EBADMSG,
		       "the capture 'x' is damaged (live blocks): it declares more "
		       "than such a file can hold");
	expect_forgery(forge_impossible_count, -EBADMSG,
		       "the capture 'x' is damaged (threads): it cannot have 1099511627776 rows");
	expect_forgery(forge_surplus, -EBADMSG,
		       "the capture 'x' is damaged (time series): it holds more than its rows");
	expect_forgery(forge_deficit, -EBADMSG,
		       "the capture 'x' is damaged (time series): its data end early");
	expect_forgery(forge_coding, -EBADMSG,
		       "the capture 'x' is damaged (time series): a column has an unknown coding");
	expect_forgery(forge_overflow, -EBADMSG,
		       "the capture 'x' is damaged (time series): a number is out of range");
	expect_forgery(forge_width, -EBADMSG,
		       "the capture 'x' is damaged (threads): a number is out of range");
	expect_forgery(forge_long_number, -EBADMSG,
		       "the capture 'x' is damaged (time series): a number is too large");
	expect_forgery(forge_long_text, -EBADMSG,
		       "the capture 'x' is damaged (modules): a string is too long");
	expect_forgery(forge_twice, -EBADMSG,
		       "the capture 'x' is damaged (time series): it is there twice");
	expect_forgery(forge_nothing, -EBADMSG,
		       "the capture 'x' is damaged (what ran): it is missing");
	expect_forgery(forge_unknown, -EPROTO, "the capture 'x' was made by a newer pmm");
}

/* Pack an image's sections again, each changed by `change`, and whatever `more` adds. */
static struct image repacked(const struct image *m,
			     void (*change)(char *id, uint8_t *raw, size_t *n),
			     void (*more)(struct pack *p))
{
	struct file_toc_entry toc[FILE_MAX_SECTIONS];
	struct file_section head;
	struct file_end end;
	FILE *f = tmpfile();
	struct pack *p = pack_new(f);

	assert_non_null(p);
	memcpy(&end, m->bytes + m->n - sizeof(end), sizeof(end));
	memcpy(&head, m->bytes + end.toc_offset, sizeof(head));
	memcpy(toc, m->bytes + end.toc_offset + sizeof(head), head.raw_bytes);
	for (uint64_t i = 0; i < head.count; i++) {
		struct file_section s = toc[i].section;
		size_t n = s.raw_bytes;
		uint8_t *raw = calloc(1, n + 1);

		assert_int_equal(ZSTD_decompress(raw, n + 1, m->bytes + toc[i].offset + sizeof(s),
						 s.stored_bytes),
				 n);
		change(s.id, raw, &n);
		pack_begin(p, s.id, s.count);
		p->toc[p->nr_toc].section.flags = s.flags;
		pack_bytes(p, raw, n);
		pack_end(p);
		free(raw);
	}
	more(p);
	assert_int_equal(pack_finish(p), 0);
	pack_free(p);
	return image_of(f);
}

/* drift_blocks, field 25 of HEAD, from 1 to 0. */
static void clear_drift(char *id, uint8_t *raw, size_t *n)
{
	size_t at = 0;

	if (memcmp(id, "HEAD", 4))
		return;
	for (int field = 0; field < 25; field++)
		for (at++; raw[at++] & 0x80;)
			;
	assert_in_range(at, 1, *n);
	assert_int_equal(raw[at + 1], 1);
	raw[at + 1] = 0;
}

/* heap_check() has the last word. */
static void contradictions_are_refused(void **state)
{
	struct heap *h = recipe_heap("watch drift=1\nsite main size=10 allocs=2\n");
	struct image m, forgery;
	struct err e;

	(void)state;
	h->allocs = 3;
	m = write_image(h);
	forgery = repacked(&m, clear_drift, forge_nothing);
	expect_refusal(
		forgery.bytes, forgery.n, -EBADMSG,
		"the capture 'x' is damaged (contents): allocations: the sites add up to 2, the "
		"total is 3");
	h->drift_blocks = 0;
	assert_int_equal(file_write_heap(h, stderr, "x", &e), -EBADMSG);
	heap_free(h);
	free(m.bytes);
	free(forgery.bytes);
}

/* A column that version 1.0 does not have. */
static void add_to_points(char *id, uint8_t *raw, size_t *n)
{
	if (!memcmp(id, "PNTS", 4))
		raw[(*n)++] = 77;
}

static void add_optional_section(struct pack *p)
{
	pack_begin(p, "WHAT", 5);
	p->toc[p->nr_toc].section.flags = FILE_ZSTD;
	pack_bytes(p, "anything", 8);
	pack_end(p);
}

/* What a later minor version may do: optional sections, more at the end of a section. */
/*
 * More than such a file can hold is damage; what it can hold and the limit forbids is told with
 * both figures.
 */
static void bombs_are_refused(void **state)
{
	struct image m = forged(forge_bomb);
	struct heap *h = NULL;
	char text[512];
	struct err e;

	(void)state;
	snprintf(text, sizeof(text),
		 "the capture 'x' of %s asks for 188 MiB of memory, and the limit is 64.0 MiB",
		 fmt_bytes(m.n).s);
	expect_refusal(m.bytes, m.n, -EFBIG, text);
	assert_int_equal(read_image_within(m.bytes, m.n, 256u << 20, &h, &e), -EBADMSG);
	assert_string_equal(
		e.text, "the capture 'x' is damaged (live blocks): it holds more than its rows");
	free(m.bytes);
}

static void later_minor_versions_are_read(void **state)
{
	struct heap *h = recipe_heap(rich_recipe);
	struct image m = write_image(h), later = repacked(&m, add_to_points, add_optional_section);
	struct file_header *head = (struct file_header *)later.bytes;

	(void)state;
	expect_refusal(later.bytes, later.n, -EBADMSG,
		       "the capture 'x' is damaged (time series): it holds more than its rows");
	head->minor = FILE_MINOR + 1;
	head->crc = file_crc(0, head, offsetof(struct file_header, crc));
	expect_read_back(&later, h);
	heap_free(h);
	free(m.bytes);
	free(later.bytes);
}

static void forge_leaks_without_search(struct pack *p)
{
	pack_begin(p, "LEAK", 1);
	for (unsigned i = 0; i < file_tables[FILE_LEAKS].nr_columns; i++) {
		pack_number(p, FILE_CONSTANT);
		pack_number(p, 1);
	}
	pack_end(p);
}

static void change_nothing(char *id, uint8_t *raw, size_t *n)
{
	(void)id;
	(void)raw;
	(void)n;
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
	const struct file_table *t = &file_tables[FILE_FINDINGS];

	pack_begin(p, "FIND", 1);
	for (unsigned i = 0; i < t->nr_columns; i++) {
		size_t at = t->column[i].offset;
		bool one = at == offsetof(struct heap_finding, type) ||
			   at == offsetof(struct heap_finding, count);

		pack_number(p, FILE_CONSTANT);
		pack_number(p, at == field ? value : one);
	}
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

/* All columns are 1. */
static void forge_ones(struct pack *p, enum file_table_number table)
{
	pack_begin(p, file_tables[table].id, 1);
	for (unsigned i = 0; i < file_tables[table].nr_columns; i++) {
		pack_number(p, FILE_CONSTANT);
		pack_number(p, 1);
	}
}

static void forge_usage_points_alone(struct pack *p)
{
	forge_ones(p, FILE_USAGE_POINTS);
	pack_end(p);
}

static void forge_usage_alone(struct pack *p)
{
	forge_ones(p, FILE_USAGE);
	pack_end(p);
}

static void forge_usage(struct pack *p)
{
	forge_usage_alone(p);
	forge_usage_points_alone(p);	/* times are known, and sizes are said */
}

static void forge_mark_name(struct pack *p)
{
	forge_ones(p, FILE_MARKS);
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
	const struct file_table *t = &file_tables[number];

	pack_begin(p, t->id, 1);
	for (unsigned i = 0; i < t->nr_columns; i++) {
		size_t at = t->column[i].offset;

		pack_number(p, FILE_CONSTANT);
		pack_number(p, at == field ? value : 0);
	}
	if (number == FILE_KERNEL)
		pack_text(p, "");
	pack_end(p);
}

/* All four tables with one row, in which fields of the rows have these values. */
static void pack_all_kernel(struct pack *p, uint64_t kind, size_t bin_field, uint64_t bin_value)
{
	const struct file_table *row = &file_tables[FILE_KERNEL_ROWS];

	pack_kernel(p, FILE_KERNEL, offsetof(struct heap, kernel.traced), 1);
	pack_kernel(p, FILE_KERNEL_KINDS, offsetof(struct heap_kernel_kind, kind), kind);
	pack_begin(p, row->id, 1);
	for (unsigned i = 0; i < row->nr_columns; i++) {
		size_t at = row->column[i].offset;

		pack_number(p, FILE_CONSTANT);
		pack_number(p, at == offsetof(struct heap_kernel_row, site) ? HEAP_NO_SITE : 1);
	}
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
	pack_begin(p, "KERN", 1);
	for (unsigned i = 0; i < file_tables[FILE_KERNEL].nr_columns; i++) {
		pack_number(p, FILE_CONSTANT);
		pack_number(p, 0);
	}
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

/* Heap errors came with 1.2: files of 1.1 have none. */
static void captures_of_before_are_read(void **state)
{
	struct heap *h = recipe_heap(
		"site main size=10 allocs=2\nsearch copy\nleak main definite blocks=1\n");
	struct image m = write_image(h);
	struct file_header *head = (struct file_header *)m.bytes;

	(void)state;
	assert_int_equal(head->minor, FILE_MINOR);
	head->minor = 1;
	head->crc = file_crc(0, head, offsetof(struct file_header, crc));
	expect_read_back(&m, h);
	heap_free(h);
	free(m.bytes);
}

static void forge_large(struct pack *p)
{
	pack_pad(p, 5ull << 30);
	pack_pad(p, 5ull << 30); /* no more of it */
}

/*
 * A very regular heap compresses below what the reader takes for honest: then the file is made
 * larger.
 */
static void large_heaps_get_a_file_to_match(void **state)
{
	struct image m = forged(forge_large);

	(void)state;
	assert_true(file_budget(m.n) >= 5ull << 30);
	assert_in_range(m.n, 1 << 20, (1 << 20) + 8192);
	expect_refusal(m.bytes, m.n, -EBADMSG,
		       "the capture 'x' is damaged (what ran): it is missing");
	m.bytes[1000]++;
	expect_refusal(
		m.bytes, m.n, -EBADMSG,
		"the capture 'x' is damaged (a skipped section): its checksum does not match");
	free(m.bytes);
}

static struct image of_recipe(const char *recipe)
{
	struct heap *h = recipe_heap(recipe);
	struct image m = write_image(h);

	heap_free(h);
	return m;
}

/* pmm records 512 frames and reads 4096 of other tools. */
static void deep_stacks_are_refused(void **state)
{
	struct image m = of_recipe("deep depth=4097\n");
	struct heap *h;
	struct err e;

	(void)state;
	expect_refusal(m.bytes, m.n, -EBADMSG,
		       "the capture 'x' is damaged (contents): a stack has more than 4096 frames");
	free(m.bytes);
	m = of_recipe("deep depth=4096\n");
	assert_int_equal(read_image(m.bytes, m.n, &h, &e), 0);
	heap_free(h);
	free(m.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forgeries_are_refused),
		cmocka_unit_test(bombs_are_refused),
		cmocka_unit_test(contradictions_are_refused),
		cmocka_unit_test(later_minor_versions_are_read),
		cmocka_unit_test(forged_heap_errors_are_refused),
		cmocka_unit_test(forged_series_and_marks_are_refused),
		cmocka_unit_test(forged_lines_are_refused),
		cmocka_unit_test(forged_kernel_events_are_refused),
		cmocka_unit_test(kernel_events_are_optional),
		cmocka_unit_test(captures_of_before_are_read),
		cmocka_unit_test(a_search_is_optional),
		cmocka_unit_test(deep_stacks_are_refused),
		cmocka_unit_test(large_heaps_get_a_file_to_match),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
