/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The class `kernel`, with tables made here: src/analyze/trace/kmem_sums.c,
 * src/view/trace/trace_kernel.c, src/kernel/slabinfo.c, src/session/trace/trace_kernel_looks.c.
 */
#include "tests/unit/unit.h"

#include "src/analyze/trace/kmem_sums.h"
#include "src/document/event.h"
#include "src/session/trace/trace_session.h"
#include "src/view/trace/trace_line.h"
#include "src/view/trace/trace_sections.h"
#include "tests/fake/fake_kernel.h"
#include "tests/unit/trace_text.h"

#define CALLER	0x1111

static struct kmem_site site(uint32_t sort, uint64_t bytes, uint64_t ip, uint64_t allocated,
			     uint64_t freed)
{
	return (struct kmem_site){ .sort = sort, .object_bytes = bytes, .allocated = allocated,
				   .freed = freed, .caller = CALLER, .depth = 3,
				   .ips = { 0x9999, CALLER, ip } };
}

/* As kernel_rows_read() leaves them. */
static struct kernel_rows rows_of(const uint64_t *keys, const void *values, size_t value_bytes,
				  size_t nr)
{
	struct kernel_rows r = { .nr = nr, .key_bytes = 8, .value_bytes = value_bytes };

	r.bytes = calloc(nr ? nr : 1, 8 + value_bytes);
	for (size_t i = 0; i < nr; i++) {
		memcpy(r.bytes + i * (8 + value_bytes), &keys[i], 8);
		memcpy(r.bytes + i * (8 + value_bytes) + 8,
		       (const char *)values + i * value_bytes, value_bytes);
	}
	return r;
}

static const uint64_t keys[] = { 71, 72, 73 };

/* Two sites of one stack, and another one; before, the first had five and the third none. */
static void test_sums(void **state)
{
	struct kmem_site now[] = { site(KMEM_KMALLOC, 64, 0x2222, 10, 3),
				   site(KMEM_KMALLOC, 128, 0x2222, 2, 0),
				   site(KMEM_PAGES, 4096, 0x3333, 8, 7) };
	struct kmem_site then[] = { site(KMEM_KMALLOC, 64, 0x2222, 5, 0),
				    site(KMEM_KMALLOC, 128, 0x2222, 4, 1) };
	struct kmem_object objects[] = { { 71, 100, 0, 0 }, { 71, 99, 0, 0 }, { 73, 300, 0, 0 } };
	struct kernel_rows sites = rows_of(keys, now, sizeof(*now), 3),
			   before = rows_of(keys, then, sizeof(*then), 2),
			   old = rows_of(keys, objects, sizeof(*objects), 3);
	struct kmem_tables t = { .sites = &sites, .before = &before, .objects = &old,
				 .born_before_ns = 300, .sample = 4 };
	struct kmem_sums s;

	(void)state;
	now[0].reused = 1;
	assert_int_equal(kmem_sums_make(&s, &t), 0);
	assert_int_equal(s.stacks.nr, 2);
	assert_int_equal(s.caches.nr, 3);
	/* pages first: 4 x 4096 bytes; then 4 x (7 x 64 + 2 x 128) */
	assert_int_equal(s.stacks.v[0].sum.bytes, 16384);
	assert_int_equal(s.stacks.v[0].sum.objects, 4);
	assert_int_equal(s.stacks.v[0].sum.grown_objects, 4);
	assert_int_equal(s.stacks.v[0].sum.old_objects, 0);
	assert_int_equal(s.stacks.v[1].sum.bytes, 4 * (7 * 64 + 2 * 128));
	assert_int_equal(s.stacks.v[1].sum.objects, 36);
	assert_int_equal(s.stacks.v[1].sum.grown_objects, 4 * (2 - 1));
	assert_int_equal(s.stacks.v[1].sum.grown_bytes, 4 * (2 * 64 - 128));
	assert_int_equal(s.stacks.v[1].sum.old_objects, 8);
	assert_int_equal(s.stacks.v[1].sum.old_bytes, 8 * 64);
	assert_int_equal(s.sort[KMEM_KMALLOC].allocated, 48);
	assert_int_equal(s.sort[KMEM_KMALLOC].freed, 12);
	assert_int_equal(s.all.objects, 40);
	kmem_sums_fini(&s);
	/* more freed than allocated, of a site read meanwhile: none outstanding */
	((struct kmem_site *)kernel_rows_value(&sites, 2))->freed = 9;
	t.before = NULL;
	t.objects = NULL;
	assert_int_equal(kmem_sums_make(&s, &t), 0);
	assert_int_equal(s.sort[KMEM_PAGES].objects, 0);
	assert_int_equal(s.sort[KMEM_KMALLOC].grown_objects, 36);
	kmem_sums_fini(&s);
	kernel_rows_fini(&sites);
	kernel_rows_fini(&before);
	kernel_rows_fini(&old);
}

static void test_where_a_stack_begins(void **state)
{
	struct kmem_site s = site(KMEM_KMALLOC, 64, 0x2222, 1, 0);

	(void)state;
	assert_int_equal(kmem_first_frame(&s), 1);
	s.caller = 0;
	assert_int_equal(kmem_first_frame(&s), 0);
	s.caller = 0x7777;
	assert_int_equal(kmem_first_frame(&s), 0);
}

/* ---- /proc/slabinfo ---- */

static void test_slabinfo(void **state)
{
	char text[] = "slabinfo - version: 2.1\n# name <active_objs> ...\n"
		      "filp  100  128  256  16  1 : tunables 0 0 0 : slabdata  8  8  0\n"
		      "dentry 5 42 192 21 2 : tunables    0    0    0 : slabdata      1      2      0\n";
	char broken[] = "filp 100 128\n";
	struct slabinfo s = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(slabinfo_parse(&s, text, &e), 0);
	assert_int_equal(s.v.nr, 2);
	assert_string_equal(s.v.v[0].name, "dentry");
	assert_int_equal(slabinfo_find(&s, "dentry")->slabs, 2);
	assert_int_equal(slabinfo_find(&s, "dentry")->slab_bytes, 2 * sysconf(_SC_PAGESIZE));
	assert_int_equal(slabinfo_find(&s, "filp")->used, 100);
	assert_int_equal(slabinfo_find(&s, "filp")->objects, 128);
	assert_int_equal(slabinfo_find(&s, "filp")->object_bytes, 256);
	assert_null(slabinfo_find(&s, "fil"));
	assert_int_equal(slabinfo_parse(&s, broken, &e), -EINVAL);
	assert_string_equal(e.text, "/proc/slabinfo has a form that pmm does not know");
	slabinfo_fini(&s);
}

/* ---- the section ---- */

static void test_the_section(void **state)
{
	char kallsyms[] = "0000000000001000 T kmalloc_caller\n0000000000002000 t outer\t[mod]\n";
	char now_text[] = "filp 100 128 256 16 1 : tunables 0 0 0 : slabdata 8 8 0\n";
	char then_text[] = "filp 90 112 256 16 1 : tunables 0 0 0 : slabdata 7 7 0\n";
	struct kmem_site list[] = { site(KMEM_KMALLOC, 1024, 0x2222, 5, 2),
				    site(KMEM_SLAB, 64, 0x2223, 1, 0) };
	struct kmem_cache_info cache = { .name = "my_cache" };
	struct kmem_counts counts = { .unknown = 3, .no_room = 2, .failed = 1 };
	struct kernel_rows rows[KERNEL_NR_TABLES] = { 0 };
	struct slabinfo now = { 0 }, then = { 0 };
	struct ksyms ksyms = { 0 };
	struct trace_result t = { .rows = rows, .ksyms = &ksyms, .kmem_sample = 2, .slabs = &now,
				  .slabs_before = &then, .top = 1 };
	uint64_t cache_at = 0xc0, zero = 0;
	char *text;

	(void)state;
	list[1].cache = 0xc0;
	rows[KERNEL_TABLE_KMEM_SITES] = rows_of(keys, list, sizeof(*list), 2);
	rows[KERNEL_TABLE_KMEM_CACHES] = rows_of(&cache_at, &cache, sizeof(cache), 1);
	rows[KERNEL_TABLE_KMEM_COUNTS] = rows_of(&zero, &counts, sizeof(counts), 1);
	assert_int_equal(ksyms_parse(&ksyms, kallsyms, strlen(kallsyms), NULL), 0);
	assert_int_equal(slabinfo_parse(&now, now_text, NULL), 0);
	assert_int_equal(slabinfo_parse(&then, then_text, NULL), 0);
	text = section_text(trace_section_kernel, &t, false);
	has(text, "  counted   1 object in 2, chosen by its address; numbers are multiplied by 2");
	has(text, "  no room   4 objects not followed: --objects=N makes more room\n");
	has(text, "  unknown   6 objects freed that were not seen allocated");
	has(text, "  failed    1 allocation\n");
	has(text, "  6.00 KiB        6  +6.00 KiB         10      4  kmalloc\n");
	has(text, "  6.00 KiB        6  +6.00 KiB         10      4  kmalloc_caller+0x111\n");
	has(text, "  outer+0x222 [mod]\n");
	has(text, "  1 more row");
	has(text, "  32.0 KiB   100      128  256 B  +4.00 KiB  filp\n");
	assert_null(strstr(text, "0x9999"));
	free(text);
	t.top = 2;				/* as many as there are */
	text = section_text(trace_section_kernel, &t, false);
	assert_null(strstr(text, " more row"));
	free(text);
	t.slabs = &(struct slabinfo){ 0 };	/* it could not be read: no table */
	text = section_text(trace_section_kernel, &t, true);
	assert_null(strstr(text, "\"slabs\""));
	free(text);
	t.slabs = &now;
	t.top = 0;
	t.kmem_sample = 1;
	t.older_ns = 1;
	text = section_text(trace_section_kernel, &t, true);
	has(text, "\"cache\": \"my_cache\"");
	has(text, "\"stack\": \"outer+0x222 [mod];kmalloc_caller+0x111\"");
	has(text, "\"grown_bytes\": 3072");
	has(text, "\"grown_used\": 10");
	has(text, "\"unknown_frees\": 3");
	free(text);
	ksyms_fini(&ksyms);
	slabinfo_fini(&now);
	slabinfo_fini(&then);
	for (int i = 0; i < KERNEL_NR_TABLES; i++)
		kernel_rows_fini(&rows[i]);
}

/* ---- a session ---- */

struct seen {
	struct trace_session *session;	/* ends with its first document */
	unsigned documents, notes;
	char *document;
	size_t bytes;
};

static int on_document(void *arg, const struct doc *d, bool follows)
{
	struct seen *s = arg;
	struct style style = { .width = 120 };
	FILE *out;

	(void)follows;
	s->documents++;
	trace_session_end(s->session);
	free(s->document);
	out = open_memstream(&s->document, &s->bytes);
	assert_int_equal(doc_print_text(d, &style, out), 0);
	fclose(out);
	return 0;
}

static void on_message(void *arg, enum session_kind kind, const char *text)
{
	struct seen *s = arg;

	(void)kind;
	s->notes += !!strstr(text, "every allocation of the kernel is followed");
}

static const struct session_ops sink_ops = { .document = on_document, .note = on_message };

/* Nothing changes between two results: the second has grown by nothing. */
static void test_growth_between_results(void **state)
{
	struct kmem_site list[] = { site(KMEM_KMALLOC, 1024, 0x2222, 5, 2) };
	struct kmem_object objects[] = { { 71, 1, 0, 0 } };
	struct fake_kernel f = {
		.keys = { [KERNEL_TABLE_KMEM_SITES] = keys, [KERNEL_TABLE_KMEM_OBJECTS] = keys },
		.values = { [KERNEL_TABLE_KMEM_SITES] = list,
			    [KERNEL_TABLE_KMEM_OBJECTS] = objects },
		.nr_rows = { [KERNEL_TABLE_KMEM_SITES] = 1, [KERNEL_TABLE_KMEM_OBJECTS] = 1 },
	};
	struct trace_options o = { .classes = 1u << EVENT_KERNEL, .scope = "all", .top = 1,
				   .older_ns = 1000, .interval_ns = 10000000,
				   .kernel = { .sample = 1 } };
	struct seen seen = { 0 };
	struct session_sink sink = { &sink_ops, &seen };
	struct trace_session *s;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(loop_new(&o.loop), 0);
	fake_kernel = &f;
	o.source = &fake_source;
	assert_int_equal(trace_session_open(&s, &o, &sink, &e), 0);
	assert_int_equal(f.asked.groups, 1u << KERNEL_KMEM);
	seen.session = s;
	assert_int_equal(trace_session_run(s, &e), 0);
	assert_int_equal(seen.documents, 1);
	has(seen.document, "  3.00 KiB        3  +3.00 KiB      1          5      2  kmalloc\n");
	assert_int_equal(trace_session_finish(s, &e), 0);
	assert_int_equal(seen.documents, 2);
	has(seen.document, "  3.00 KiB        3  0 B           1          5      2  kmalloc\n");
	assert_int_equal(seen.notes, 1);
	trace_session_close(s);
	loop_free(o.loop);
	free(seen.document);
}

static void test_sampling_is_a_power_of_two(void **state)
{
	struct kernel_options o = { 0 };

	(void)state;
	assert_int_equal(kernel_kmem_sample(&o), KERNEL_KMEM_SAMPLE);
	o.sample = 1;
	assert_int_equal(kernel_kmem_sample(&o), 1);
	o.sample = 33;
	assert_int_equal(kernel_kmem_sample(&o), 64);
	o.sample = UINT32_MAX;
	assert_int_equal(kernel_kmem_sample(&o), 1u << 30);
}

static void test_a_line(void **state)
{
	struct trace_record r = { .kind = TRACE_KERNEL_ALLOC, .tgid = 7, .tid = 7, .weight = 4,
				  .time_ns = 1500000, .comm = "victim",
				  .a = { 0xffff, 4096, 0x1111, KMEM_PAGES } };
	struct event e = { 0 };

	(void)state;
	trace_line(&e, &r, "", &(struct trace_clock){ .start_ns = 1000000 }, NULL, NULL, 0);
	has(str_text(&e.text), "kernel_alloc    4.00 KiB, pages, for 0x1111\n");
	event_fini(&e);
	memset(&e, 0, sizeof(e));
	trace_line(&e, &r, "some_function+0x5", &(struct trace_clock){ .start_ns = 1000000 }, NULL,
		   NULL, 0);
	has(str_text(&e.text), "4.00 KiB, pages, for some_function+0x5\n");
	event_fini(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_where_a_stack_begins),
		cmocka_unit_test(test_slabinfo),
		cmocka_unit_test(test_the_section),
		cmocka_unit_test(test_growth_between_results),
		cmocka_unit_test(test_sampling_is_a_power_of_two),
		cmocka_unit_test(test_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
