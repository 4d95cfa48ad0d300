/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof profiles: figures, names, inlined functions, files without names; profiles of something
 * else, differences and messages that make no sense are refused. Also of src/import/import_wire.c.
 */
#include "src/export/wire.h"
#include "tests/unit/import_file.h"

/* Strings by number. */
enum { NONE, INUSE_SPACE, INUSE_OBJECTS, ALLOC_SPACE, ALLOC_OBJECTS, BYTES, COUNT, CPU, PROG, LIB,
       MAIN, OUTER, INNER, A_C, BUILD, COMMAND, NR_STRINGS };
static const char *const strings[NR_STRINGS] = {
	"", "inuse_space", "inuse_objects", "alloc_space", "alloc_objects", "bytes", "count", "cpu",
	"/opt/none/prog", "/opt/none/libx.so", "main", "outer", "inner", "a.c", "00ff10ab",
	"pmm 0.1.0, process 42: prog -x",
};

struct making {
	struct str out, part, inner;
};

static void end_part(struct making *m, unsigned field)
{
	wire_bytes(&m->out, field, str_text(&m->part), m->part.len);
	str_clear(&m->part);
}

static void two(struct making *m, unsigned field, uint64_t a, uint64_t b)
{
	wire_number(&m->part, 1, a);
	wire_number(&m->part, 2, b);
	end_part(m, field);
}

static void add_mapping(struct making *m, uint64_t id, uint64_t start, uint64_t end, uint64_t name,
			uint64_t build)
{
	wire_number(&m->part, 1, id);
	wire_number(&m->part, 2, start);
	wire_number(&m->part, 3, end);
	wire_number(&m->part, 5, name);
	wire_number(&m->part, 6, build);
	end_part(m, 3);
}

static void add_line(struct making *m, uint64_t function, uint64_t line)
{
	wire_number(&m->inner, 1, function);
	wire_number(&m->inner, 2, line);
	wire_bytes(&m->part, 4, str_text(&m->inner), m->inner.len);
	str_clear(&m->inner);
}

static void add_location(struct making *m, uint64_t id, uint64_t mapping, uint64_t address)
{
	wire_number(&m->part, 1, id);
	wire_number(&m->part, 2, mapping);
	wire_number(&m->part, 3, address);
	end_part(m, 4);
}

static void add_function(struct making *m, uint64_t id, uint64_t name, uint64_t file)
{
	wire_number(&m->part, 1, id);
	wire_number(&m->part, 2, name);
	wire_number(&m->part, 4, file);
	end_part(m, 5);
}

/* `packed`: lists are one field, else a field for each number. */
static void add_sample(struct making *m, bool packed, const uint64_t *id, size_t nr_ids,
		       const uint64_t *value, size_t nr_values)
{
	if (packed) {
		wire_numbers(&m->part, 1, id, nr_ids);
		wire_numbers(&m->part, 2, value, nr_values);
	}
	for (size_t i = 0; !packed && i < nr_ids; i++)
		wire_number(&m->part, 1, id[i]);
	for (size_t i = 0; !packed && i < nr_values; i++)
		wire_number(&m->part, 2, value[i]);
	end_part(m, 2);
}

static void add_strings(struct making *m)
{
	for (unsigned i = 0; i < NR_STRINGS; i++)
		wire_bytes(&m->out, 6, strings[i], strlen(strings[i]));
}

static void fini(struct making *m)
{
	str_fini(&m->out);
	str_fini(&m->part);
	str_fini(&m->inner);
}

static int read_made(struct making *m, struct heap **h)
{
	int rc = read_profile(m->out.s, m->out.len, HEAP_TOOL_PPROF, 1 << 24, h);

	fini(m);
	return rc;
}

/* The types as Go has them, in an order of its own. */
static void add_types(struct making *m)
{
	two(m, 1, ALLOC_OBJECTS, COUNT);
	two(m, 1, ALLOC_SPACE, BYTES);
	two(m, 1, INUSE_OBJECTS, COUNT);
	two(m, 1, INUSE_SPACE, BYTES);
}

static void add_tables(struct making *m)
{
	add_mapping(m, 7, 0x400000, 0x500000, PROG, BUILD);
	add_mapping(m, 9, 0x7f0000000000, 0x7f0000100000, LIB, NONE);
	add_line(m, 21, 20);	/* inner, inlined into outer */
	add_line(m, 22, 30);
	add_location(m, 1, 7, 0x401000);
	add_line(m, 23, 10);
	add_location(m, 2, 7, 0x402000);
	add_location(m, 300, 9, 0x7f0000001234);
	add_function(m, 21, INNER, A_C);
	add_function(m, 22, OUTER, A_C);
	add_function(m, 23, MAIN, A_C);
	wire_number(&m->out, 9, 1700000000000000000);
	wire_number(&m->out, 10, 5000000000);
	wire_number(&m->out, 13, COMMAND);
	add_strings(m);
}

static void test_all(void **state)
{
	static const uint64_t first[] = { 1, 2 }, second[] = { 300, 2 };
	static const uint64_t value[] = { 4, 400, 1, 100 }, other[] = { 2, 50, 2, 50 };
	struct heap *h;

	(void)state;
	for (unsigned packed = 0; packed < 2; packed++) {
		struct making m = { 0 };
		uint32_t node;

		add_types(&m);
		add_sample(&m, packed, first, 2, value, 4);
		add_sample(&m, packed, second, 2, other, 4);
		add_sample(&m, packed, first, 2, value, 4);	/* the same stack again */
		add_tables(&m);
		assert_int_equal(read_made(&m, &h), 0);
		assert_int_equal(h->nr_sites, 3);
		assert_int_equal(h->allocs, 10);
		assert_int_equal(h->bytes_in, 850);
		assert_int_equal(h->live_blocks, 4);
		assert_int_equal(h->live_bytes, 250);
		assert_int_equal(h->frees, 6);
		assert_int_equal(h->bytes_out, 600);
		assert_int_equal(h->sites[1].live_bytes, 200);
		assert_string_equal(h->cmdline, "prog -x");
		assert_string_equal(h->comm, "prog");
		assert_int_equal(h->start_realtime_ns, 1700000000000000000);
		assert_int_equal(h->taken_ns, 5000000000);
		assert_true(h->import.start && h->import.duration && h->import.allocated);
		assert_int_equal(h->mode, HEAP_EXACT);
		node = h->sites[1].node;
		assert_place(h, node, "inner", "a.c", 20);
		assert_string_equal(h->modules[h->nodes[node].module].path, "/opt/none/prog");
		assert_int_equal(h->modules[h->nodes[node].module].build_id_len, 4);
		assert_memory_equal(h->modules[h->nodes[node].module].build_id, "\x00\xff\x10\xab",
				    4);
		node = h->nodes[node].parent;
		assert_place(h, node, "outer", "a.c", 30);
		assert_place(h, h->nodes[node].parent, "main", "a.c", 10);
		node = h->sites[2].node;
		assert_int_equal(h->nodes[node].pc, 0x7f0000001234);
		assert_string_equal(h->modules[h->nodes[node].module].path, "/opt/none/libx.so");
		heap_free(h);
	}
}

/* Values stand for all memory already; a period in bytes says that they are estimates. */
static void test_sampled(void **state)
{
	static const uint64_t id[] = { 2 }, value[] = { 40, 4000, 10, 1000 };
	struct making m = { 0 };
	struct heap *h;

	(void)state;
	add_types(&m);
	add_sample(&m, true, id, 1, value, 4);
	add_tables(&m);
	wire_number(&m.part, 1, INUSE_SPACE);
	wire_number(&m.part, 2, BYTES);
	end_part(&m, 11);
	wire_number(&m.out, 12, 1000);
	assert_int_equal(read_made(&m, &h), 0);
	assert_int_equal(h->mode, HEAP_SAMPLED);
	assert_int_equal(h->sample_bytes, 1000);
	assert_int_equal(h->live_bytes, 1000);
	assert_int_equal(h->sites[1].samples_in, 1);	/* 1000 bytes in blocks of 100 */
	heap_free(h);
}

static void expect(struct making *m, int rc, const char *words)
{
	struct heap *h;

	assert_int_equal(read_made(m, &h), rc);
	if (!strstr(import_error.text, words))
		fail_msg("'%s' is not in '%s'", words, import_error.text);
}

static void test_refused(void **state)
{
	static const uint64_t id[] = { 2, 77 }, value[] = { 4, 400, 1, 100 },
			      less[] = { 4, 400, 1, -100ull },
			      huge[] = { 1, INT64_MAX, 1, INT64_MAX };
	struct making m = { 0 };

	(void)state;
	two(&m, 1, CPU, COUNT);
	add_tables(&m);
	expect(&m, -ENOTSUP, "its samples are of cpu");
	m = (struct making){ 0 };
	add_types(&m);
	add_sample(&m, true, id, 1, less, 4);
	add_tables(&m);
	expect(&m, -ENOTSUP, "difference");
	m = (struct making){ 0 };
	add_types(&m);
	add_sample(&m, true, id, 2, value, 4);
	add_tables(&m);
	expect(&m, -EBADMSG, "location that is not there");
	m = (struct making){ 0 };
	add_types(&m);
	add_sample(&m, true, id, 1, huge, 4);
	add_sample(&m, true, id, 1, huge, 4);
	add_tables(&m);
	expect(&m, -EBADMSG, "more than a process can have");
	for (unsigned more = 0; more < 2; more++) {
		static uint64_t deep[4097];
		struct heap *h;

		for (unsigned i = 0; i < 4097; i++)
			deep[i] = 2;
		m = (struct making){ 0 };
		add_types(&m);
		add_sample(&m, true, deep, 4096 + more, value, 4);
		add_tables(&m);
		assert_int_equal(read_made(&m, &h), more ? -EBADMSG : 0);
		assert_int_equal(!!strstr(import_error.text, "more than 4096 frames"), more);
		heap_free(h);
		m = (struct making){ 0 };
		add_types(&m);
		for (unsigned i = 0; i < 256 + more; i++)
			add_line(&m, 21, i);
		add_location(&m, 5, 7, 0x401000);
		add_tables(&m);
		assert_int_equal(read_made(&m, &h), more ? -EBADMSG : 0);
		assert_int_equal(!!strstr(import_error.text, "more than 256 functions"), more);
		heap_free(h);
	}
	m = (struct making){ 0 };
	for (unsigned i = 0; i < 33; i++)
		two(&m, 1, INUSE_SPACE, BYTES);
	expect(&m, -EBADMSG, "more than 32 types");
}

/* Cut anywhere, and each byte changed: an error or a heap that heap_check() accepts. */
static void test_damaged(void **state)
{
	static const uint64_t id[] = { 1, 2 }, value[] = { 4, 400, 1, 100 };
	struct making m = { 0 };
	unsigned refused_ones = 0;
	struct heap *h;
	char *copy;

	(void)state;
	add_types(&m);
	add_sample(&m, true, id, 2, value, 4);
	add_tables(&m);
	copy = malloc(m.out.len);
	for (size_t i = 8; i < m.out.len; i++) {
		refused_ones += read_profile(m.out.s, i, HEAP_TOOL_PPROF, 1 << 24, &h) != 0;
		heap_free(h);
		memcpy(copy, m.out.s, m.out.len);
		copy[i] ^= 0xff;
		refused_ones +=
			read_profile(copy, m.out.len, HEAP_TOOL_PPROF, 1 << 24, &h) != 0;
		heap_free(h);
	}
	assert_true(refused_ones > m.out.len / 2);
	free(copy);
	fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),	cmocka_unit_test(test_sampled),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
