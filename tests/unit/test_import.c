/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profiles of other tools: which one a file is, packed or not; packed ones that are cut or damaged;
 * limits of memory; names from outside. Also of src/import/import_input.c, import_heap.c,
 * src/view/import/import_facts.c.
 */
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "src/document/facts.h"
#include "src/import/import_priv.h"
#include "src/view/import/import_facts.h"
#include "tests/unit/import_file.h"

#define TEXT "heap_v2/1\n@ 0x401000\n  t*: 2: 64 [0: 0]\n\nMAPPED_LIBRARIES:\n"

static size_t pack_gzip(const char *text, unsigned char *to, size_t size)
{
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)text,
		       .avail_in = (unsigned)strlen(text), .next_out = to,
		       .avail_out = (unsigned)size };

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return size - z.avail_out;
}

static size_t pack_zstd(const char *text, unsigned char *to, size_t size)
{
	size_t n = ZSTD_compress(to, size, text, strlen(text), 3);

	assert_false(ZSTD_isError(n));
	return n;
}

typedef size_t pack(const char *text, unsigned char *to, size_t size);
static pack *const packs[] = { pack_gzip, pack_zstd };

/* A long text of lines, for more than one buffer. */
static char *long_text(void)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	fputs("heap_v2/1\n", f);
	for (unsigned i = 1; i <= 20000; i++)
		fprintf(f, "@ 0x%x 0x401000\n  t*: 1: %u [0: 0]\n", 0x500000 + i * 16, i);
	fputs("\nMAPPED_LIBRARIES:\n", f);
	fclose(f);
	return text;
}

static void test_packed(void **state)
{
	char *text = long_text();
	size_t room = strlen(text) + 1024;
	unsigned char *packed = malloc(room);
	struct heap *h;

	(void)state;
	for (unsigned i = 0; i < NR(packs); i++) {
		size_t n = packs[i](text, packed, room);

		assert_int_equal(read_profile(packed, n, HEAP_TOOL_JEMALLOC, 1 << 26, &h), 0);
		assert_int_equal(h->live_bytes, 20000ull * 20001 / 2);
		heap_free(h);
		/* two of them, one after the other, are one text */
		n = packs[i]("heap_v2/1\n@ 0x401000\n  t*: 2: 64 [0: 0]\n", packed, room);
		n += packs[i]("@ 0x402000\n  t*: 1: 8 [0: 0]\nMAPPED_LIBRARIES:\n", packed + n,
			      room - n);
		assert_int_equal(read_profile(packed, n, HEAP_TOOL_JEMALLOC, 1 << 26, &h), 0);
		assert_int_equal(h->live_bytes, 72);
		heap_free(h);
	}
	free(packed);
	free(text);
}

/* Cut where the name of the tool has been unpacked: truncated. Changed: damaged. */
static void test_packed_damaged(void **state)
{
	char *text = long_text();
	size_t room = strlen(text) + 1024;
	unsigned char *packed = malloc(room);
	struct heap *h;

	(void)state;
	for (unsigned i = 0; i < NR(packs); i++) {
		size_t n = packs[i](text, packed, room);

		for (size_t cut = 1; cut <= n / 2; cut = cut * 2 + 1) {
			assert_int_equal(read_profile(packed, n - cut, HEAP_TOOL_JEMALLOC, 1 << 26,
						      &h), -ENODATA);
			assert_non_null(strstr(import_error.text, "truncated"));
		}
		for (size_t at = n - 9; at > n - 200; at -= 10) {
			int rc;

			packed[at] ^= 0x55;
			rc = read_profile(packed, n, HEAP_TOOL_JEMALLOC, 1 << 26, &h);
			/* gzip has a checksum, this zstd frame none */
			assert_true(i ? rc <= 0 : rc < 0);
			heap_free(h);
			packed[at] ^= 0x55;
		}
	}
	free(packed);
	free(text);
}

static void test_recognised(void **state)
{
	static const struct {
		const char *text;
		enum heap_tool tool;
	} files[] = {
		{ "v 10400 3\nX a\n", HEAP_TOOL_HEAPTRACK },
		{ "v 10400", HEAP_TOOL_PMM },
		{ "version 1 3\n", HEAP_TOOL_PMM },
		{ "heap_v2/524288\n", HEAP_TOOL_JEMALLOC },
		{ "heap profile: 1: 1 [ 1: 1] @", HEAP_TOOL_GPERFTOOLS },
		{ "\x0a\x04\x08\x01\x10\x02", HEAP_TOOL_PPROF },
		{ "\x5a\x04\x08\x01\x10\x02\x60\x01\x0a\x04\x08\x03\x10\x04", HEAP_TOOL_PPROF },
		{ "\x0a\x04\x18\x01\x20\x02", HEAP_TOOL_PMM },	/* no such fields */
		{ "\x0a\x04\x08\x01\x10", HEAP_TOOL_PMM },		/* cut */
		{ "\x08\x04\x0a\x04\x08\x01\x10\x02", HEAP_TOOL_PMM },
		{ "\n", HEAP_TOOL_PMM },
		{ "", HEAP_TOOL_PMM },
		{ "PMM", HEAP_TOOL_PMM },
	};

	(void)state;
	for (unsigned i = 0; i < NR(files); i++) {
		write_profile(files[i].text, strlen(files[i].text));
		assert_int_equal(import_recognise(import_name), files[i].tool);
		unlink(import_name);
	}
	/* no more than the beginning of what is packed */
	refused("\x28\xb5\x2f\xfd\x24", HEAP_TOOL_HEAPTRACK, -ENODATA, "is truncated");
	refused("\x1f\x8b\x08\x08\x01", HEAP_TOOL_PPROF, -ENODATA, "is truncated");
	refused("\x1f\x8b\x07\x01\x01\x01\x01\x01\x01\x01\x01", HEAP_TOOL_PPROF,
		-EBADMSG, "is damaged");
	assert_int_equal(import_recognise("/nonexistent"), HEAP_TOOL_PMM);
	assert_int_equal(import_recognise("/tmp"), HEAP_TOOL_PMM);
	assert_int_equal(import_recognise("/dev/null"), HEAP_TOOL_PMM);
}

static void test_lines(void **state)
{
	static const char text[] = "one\n\nthree";
	char *line, *large = malloc(IMPORT_MAX_LINE + 2);
	struct import_input *in;

	(void)state;
	write_profile(text, strlen(text));
	assert_int_equal(import_open(import_name, &in), 0);
	assert_int_equal(import_line(in, &line), 1);
	assert_string_equal(line, "one");
	assert_int_equal(import_line(in, &line), 1);
	assert_string_equal(line, "");
	assert_int_equal(import_line(in, &line), 1);
	assert_string_equal(line, "three");
	assert_int_equal(import_line(in, &line), 0);
	assert_int_equal(import_line(in, &line), 0);
	import_close(in);
	unlink(import_name);
	for (unsigned more = 0; more < 2; more++) {
		memset(large, 'a', IMPORT_MAX_LINE + more);
		large[IMPORT_MAX_LINE + more] = '\n';
		write_profile(large, IMPORT_MAX_LINE + more + 1);
		assert_int_equal(import_open(import_name, &in), 0);
		assert_int_equal(import_line(in, &line), more ? -EBADMSG : 1);
		import_close(in);
		unlink(import_name);
	}
	free(large);
}

static void test_limit(void **state)
{
	char *text = long_text();
	struct heap *h;

	(void)state;
	assert_int_equal(read_profile(text, strlen(text), HEAP_TOOL_JEMALLOC, 1 << 20, &h), -EFBIG);
	assert_non_null(strstr(import_error.text, "more than 1 MiB"));
	assert_non_null(strstr(import_error.hint, "--memory-limit"));
	free(text);
}

/* Bytes that are no UTF-8, or drive a terminal, are '?'; long names are cut. */
static void test_names(void **state)
{
	char *text = malloc(20000), *name = malloc(10001);
	struct heap *h;

	(void)state;
	h = heap_of("v 1 1\nX pr\x1b[31mog \xff\ns f\x07g\ni 10 0 1\nt 1 0\na 8 1\n+ 0\n",
		    HEAP_TOOL_HEAPTRACK);
	assert_string_equal(h->cmdline, "pr?[31mog ?");
	assert_string_equal(h->comm, "pr?[31mog");
	assert_place(h, 1, "f?g", "", 0);
	heap_free(h);
	memset(name, 'n', 10000);
	name[10000] = 0;
	sprintf(text, "v 1 1\nX p\ns %s\ni 10 0 1\nt 1 0\na 8 1\n+ 0\n", name);
	h = heap_of(text, HEAP_TOOL_HEAPTRACK);
	assert_int_equal(strlen(h->srclocs[1].function), 8192);
	heap_free(h);
	free(text);
	free(name);
}

/* A site keeps its figures where allocations are said to be fewer than what is live. */
static void test_contradictions(void **state)
{
	struct heap *h = heap_of("heap_v2/1\n@ 0x401000\n  t*: 5: 64 [2: 100]\n"
				 "\nMAPPED_LIBRARIES:\n", HEAP_TOOL_JEMALLOC);

	(void)state;
	assert_int_equal(h->allocs, 5);
	assert_int_equal(h->frees, 0);
	assert_int_equal(h->bytes_in, 100);
	assert_int_equal(h->bytes_out, 36);
	heap_free(h);
}

/* The text of a fact, NULL: there is none. */
static const char *fact(const struct table *t, const char *name)
{
	for (size_t i = 0; i < t->rows.nr; i++)
		if (!strcmp(table_cells(t, i)[FACT_NAME].text, name))
			return table_cells(t, i)[FACT_TEXT].text;
	return NULL;
}

/* What is not known is said and has no figure. */
static void test_facts(void **state)
{
	struct heap *h = heap_of(TEXT, HEAP_TOOL_JEMALLOC);
	struct table *t = facts_new(NULL);
	struct str s = STR_INIT;

	(void)state;
	import_facts(t, h);
	assert_string_equal(fact(t, "process"), "not named, recorded by jemalloc's profiler");
	assert_string_equal(fact(t, "live"), "64 B in 2 blocks when the profile was taken");
	assert_null(fact(t, "peak"));
	assert_null(fact(t, "calls"));
	import_lacks(&s, h);
	assert_string_equal(str_text(&s),
			    "what another tool recorded does not have single blocks with addresses "
			    "and ages, threads, mappings, leaks; nor when anything happened, the "
			    "peak, temporary blocks; nor allocations that were freed again");
	table_free(t);
	heap_free(h);
	h = heap_of("v 10400 3\nX p\nA\ns 1 f\ni 10 0 1\nt 1 0\na 8 1\nc 5\n+ 0\nc f\n",
		    HEAP_TOOL_HEAPTRACK);
	t = facts_new(NULL);
	import_facts(t, h);
	assert_string_equal(fact(t, "process"),
			    "p, recorded by heaptrack 1.4.0, watched while it ran for 15 ms");
	assert_string_equal(fact(t, "peak"), "8 B after 5 ms");
	assert_string_equal(fact(t, "live"), "8 B in 1 block at the end");
	assert_string_equal(fact(t, "calls"),
			    "1 allocation of 8 B (67/s), 0 frees; 0% temporary, mean 8 B");
	str_clear(&s);
	import_lacks(&s, h);
	assert_string_equal(str_text(&s), "what another tool recorded does not have single blocks "
					  "with addresses and ages, threads, mappings, leaks");
	str_fini(&s);
	table_free(t);
	heap_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packed),	   cmocka_unit_test(test_packed_damaged),
		cmocka_unit_test(test_recognised), cmocka_unit_test(test_lines),
		cmocka_unit_test(test_limit),	   cmocka_unit_test(test_names),
		cmocka_unit_test(test_contradictions), cmocka_unit_test(test_facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
