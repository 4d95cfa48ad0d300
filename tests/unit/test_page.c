/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/page/page.c, page_part.c, page_doc.c, page_stacks.c, page_blocks.c, page_lines.c: parts of
 * the page of a small heap to the byte, names that would end an element, a disk that is full.
 */
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "src/model/heap_lifetimes.h"
#include "src/page/page.h"
#include "src/page/page_priv.h"
#include "tests/unit/recipe_heap.h"

#define ROOM 100000

/* What a page of a heap is, and one part of it. */
struct made {
	char *page;
	size_t bytes;
	unsigned char part[ROOM];
	size_t nr;
};

static const struct column columns[] = {
	{ "size_bytes", "size", UNIT_BYTES },
	{ "name", "who", UNIT_TEXT, COLUMN_LABEL },
};

static void add_table(struct doc *d, const char *key, const char *name)
{
	struct table *t = table_new(TABLE_ROWS, key, "Sizes", columns, 2);

	table_row(t, 0, ROW_STRONG, ROW_BOTH);
	table_set(t, 0, 4096);
	table_set_text(t, 1, name);
	table_row(t, 1, ROW_PLAIN, ROW_JSON_ONLY);
	table_note(t, "and no more");
	doc_add(d, t);
}

static void make(struct made *m, const char *recipe, const struct filter *filter)
{
	static const char *const leave_out[] = { "left", NULL };
	struct heap *h = recipe_heap(recipe);
	struct selection selection;
	struct doc d = { .schema = "x/1.0" };
	struct names n;
	struct page p;
	FILE *f = open_memstream(&m->page, &m->bytes);

	recipe_names(&n, h);
	assert_int_equal(selection_init(&selection, h, &n, filter, NULL), 0);
	add_table(&d, "kept", "</script>");
	add_table(&d, "left", "no");
	page_begin(&p, f, "a </title> & \"b\"\n");
	page_doc(&p, "report", &d, leave_out);
	page_heap(&p, &(struct page_source){ h, &n, &selection, "</script><script>" });
	assert_int_equal(page_end(&p), 0);
	fclose(f);
	doc_fini(&d);
	selection_fini(&selection);
	names_fini(&n);
	heap_free(h);
}

static unsigned digit(char c)
{
	static const char all[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				  "0123456789+/";
	const char *at = strchr(all, c);

	assert_non_null(at);
	return (unsigned)(at - all);
}

/* Decode and unpack the part of this name. */
static void unpack(struct made *m, const char *name)
{
	static unsigned char packed[ROOM];
	char begin[100];
	z_stream z = { .next_out = m->part, .avail_out = ROOM - 1, .next_in = packed };
	const char *at;

	snprintf(begin, sizeof(begin), "id=\"pmm-data-%s\">", name);
	at = strstr(m->page, begin);
	assert_non_null(at);
	for (at += strlen(begin); *at != '<'; at += 4) {
		unsigned pad = at[2] == '=' ? 2 : at[3] == '=' ? 1 : 0;
		unsigned n = digit(at[0]) << 18 | digit(at[1]) << 12 |
			     (pad > 1 ? 0 : digit(at[2])) << 6 | (pad ? 0 : digit(at[3]));

		packed[z.avail_in++] = (unsigned char)(n >> 16);
		if (pad < 2)
			packed[z.avail_in++] = (unsigned char)(n >> 8);
		if (!pad)
			packed[z.avail_in++] = (unsigned char)n;
	}
	assert_int_equal(inflateInit2(&z, -15), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	inflateEnd(&z);
	m->nr = ROOM - 1 - z.avail_out;
	m->part[m->nr] = 0;
}

static void check_bytes(struct made *m, const char *name, const unsigned char *expected, size_t nr)
{
	unpack(m, name);
	assert_int_equal(m->nr, nr);
	assert_memory_equal(m->part, expected, nr);
}

#define ONE "site main>leaf allocs=3 size=100 frees=1 peak-blocks=3\n"

static void a_profile_is_frames_nodes_and_figures(void **state)
{
	static const unsigned char profile[] = {
		1,		/* the form */
		3,		/* frames: none, then function, file, module, line */
		1, 2, 1, 7,	/* leaf in leaf.c:7 of the module leaf */
		3, 4, 3, 7,	/* main */
		3, 1, 2, 1, 1,	/* nodes: distance to the parent, frame */
		7, 1, 2,	/* figures; of one node, the second behind the root */
		0x90, 3, 4,	/* live: 200 bytes in 2 blocks, twice that as they have signs */
		0xd8, 4, 6,	/* at the peak */
		0xd8, 4, 6, 0,	/* allocated; none temporary */
	};
	struct made m = { 0 };

	(void)state;
	make(&m, ONE, NULL);
	check_bytes(&m, "profile", profile, sizeof(profile));
	unpack(&m, "strings");
	assert_string_equal((char *)m.part,
			    "[\"\", \"leaf\", \"/src/leaf.c\", \"main\", \"/src/main.c\"]\n");
	free(m.page);
}

static void sites_have_their_node_and_counters(void **state)
{
	static const unsigned char begin[] = {
		1, 1, HEAP_NR_LIFETIMES, 1,	/* form, sites, counters of lifetimes; number */
		2, 1,				/* node, frame that answers */
		200, 1, 2,			/* live */
		172, 2, 3,			/* at the peak */
		172, 2, 3, 0,			/* allocated; none temporary */
		0, 0,				/* leaked */
		1, 100, 100, 0,			/* frees, bytes of them, largest, failed */
	};
	struct made m = { 0 };

	(void)state;
	make(&m, ONE, NULL);
	unpack(&m, "sites");
	assert_true(m.nr > sizeof(begin));
	assert_memory_equal(m.part, begin, sizeof(begin));
	free(m.page);
}

/* With a filter of blocks nothing is known but what is live. */
static void filters_hold(void **state)
{
	static const struct filter sized = { .by_size = true, .size_bytes = { 50, 60 } };
	static const unsigned char nothing[] = { 1, 0, 0 };
	struct made m = { 0 };

	(void)state;
	make(&m, ONE, &sized);
	check_bytes(&m, "sites", nothing, sizeof(nothing));
	unpack(&m, "about");
	assert_non_null(strstr((char *)m.part, "\"live_only\": true"));
	free(m.page);
}

static void a_document_is_there_with_all_its_columns(void **state)
{
	struct made m = { 0 };

	(void)state;
	make(&m, ONE, NULL);
	unpack(&m, "report");
	assert_non_null(strstr((char *)m.part, "\"schema\": \"x/1.0\""));
	assert_non_null(strstr((char *)m.part, "\"key\": \"kept\",\n      \"title\": \"Sizes\""));
	assert_non_null(strstr((char *)m.part, "[0, 1, 0, 4096, \"</script>\"]"));
	assert_non_null(strstr((char *)m.part, "[1, 0, 2, null, null]"));
	assert_non_null(strstr((char *)m.part, "\"and no more\""));
	assert_null(strstr((char *)m.part, "\"left\""));
	free(m.page);
}

/* Elements end where they are meant to, whatever names say. */
static void names_end_no_element(void **state)
{
	struct made m = { 0 };
	unsigned nr = 0;

	(void)state;
	make(&m, "site main>a{script} allocs=1 size=3\n", NULL);
	assert_non_null(strstr(m.page, "<title>a &#60;/title&#62; &#38; &#34;b&#34;&#32; - pmm"));
	for (const char *at = m.page; (at = strstr(at, "</script>")); at++)
		nr++;
	assert_int_equal(nr, 7);	/* six parts and the code */
	unpack(&m, "strings");
	assert_non_null(strstr((char *)m.part, "\"a<script>\""));
	free(m.page);
}

static void blocks_come_largest_first(void **state)
{
	struct made m = { 0 };
	struct heap *h = recipe_heap("site main allocs=2 size=9\nsite main>b allocs=1 size=70\n");
	const unsigned char *at = m.part;

	(void)state;
	make(&m, "site main allocs=2 size=9\nsite main>b allocs=1 size=70\n", NULL);
	unpack(&m, "blocks");
	assert_int_equal(*at++, 1);
	assert_int_equal(*at++, h->nr_threads);
	at = memmem(m.part, m.nr, "\003\106\002", 3);	/* three; 70 bytes of site 2 */
	assert_non_null(at);
	heap_free(h);
	free(m.page);
}

static void numbers_of_any_size(void **state)
{
	static const unsigned char expected[] = { 0,	0x7f, 0x80, 1,	  0xff, 0xff, 0xff, 0xff,
						  0xff, 0xff, 0xff, 0xff, 0xff, 1,    0,    1,
						  2,	3 };
	char *bytes;
	size_t nr;
	FILE *f = open_memstream(&bytes, &nr);

	(void)state;
	page_number(f, 0);
	page_number(f, 127);
	page_number(f, 128);
	page_number(f, UINT64_MAX);
	page_signed(f, 0);
	page_signed(f, -1);
	page_signed(f, 1);
	page_signed(f, -2);
	fclose(f);
	assert_int_equal(nr, sizeof(expected));
	assert_memory_equal(bytes, expected, nr);
	free(bytes);
}

/* A file named so, of lines "1", "2" ..., is asked for these lines; its part. */
static void check_lines(const char *name, unsigned nr_lines, const uint32_t *line, size_t nr,
			const char *expected)
{
	static struct made m;
	static const struct profile_metric metric = { "live", "bytes" };
	struct page_stacks k = { .profile = profile_new(&metric, 1) };
	char folder[] = "/tmp/test_page.XXXXXX", path[100];
	FILE *f, *out = open_memstream(&m.page, &m.bytes);
	struct page p = { .out = out };

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	for (unsigned i = 1; i <= nr_lines; i++)
		fprintf(f, "%u\n", i);
	fclose(f);
	intern_add(&k.strings, "");
	for (size_t i = 0; i < nr; i++)
		assert_true(profile_frame(k.profile, &(struct profile_frame){ "f", path, "m",
									       line[i] }) > 0);
	page_put_lines(&p, &k);
	assert_int_equal(p.rc, 0);
	fclose(out);
	unpack(&m, "source");
	assert_non_null(strstr((char *)m.part, expected));
	profile_free(k.profile);
	intern_fini(&k.strings);
	free(m.page);
	unlink(path);
	rmdir(folder);
}

static void lines_around_those_of_frames(void **state)
{
	static const uint32_t far[] = { 100, 1 }, near[] = { 3 }, behind[] = { 900 };

	(void)state;
	check_lines("a.c", 4, near, 1, "\"runs\": [\n      [1, \"1\", \"2\", \"3\", \"4\"]\n");
	check_lines("a.rs", 200, far, 2, "\"20\", \"21\"],\n      [80, \"80\", \"81\"");
	check_lines("a.rs", 200, far, 2, "\"119\", \"120\"]\n    ]");
	check_lines("a.go", 4, behind, 1, "\"runs\": []");
}

/* What debug information calls a source file may be anything. */
static void other_files_are_not_read(void **state)
{
	static const uint32_t first[] = { 1 };

	(void)state;
	check_lines("shadow", 4, first, 1, "\"why\": \"its name is not that of a source file\"");
	check_lines("id_rsa.c ", 4, first, 1, "\"why\": \"its name is not");
	check_lines("large.c", 900000, first, 1, "\"why\": \"it is too large\"");
}

/* Data that do not shrink fill many rooms of a part. */
static void long_parts_come_back_whole(void **state)
{
	static struct made m;
	FILE *f = open_memstream(&m.page, &m.bytes), *part;
	struct page p = { .out = f };
	uint64_t seed = 1;

	(void)state;
	part = page_part(&p, "x");
	for (unsigned i = 0; i < 80000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		putc((int)(seed >> 56), part);
	}
	page_part_end(&p, part);
	assert_int_equal(p.rc, 0);
	fclose(f);
	unpack(&m, "x");
	assert_int_equal(m.nr, 80000);
	seed = 1;
	for (unsigned i = 0; i < 80000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		assert_int_equal(m.part[i], seed >> 56);
	}
	free(m.page);
}

static void a_full_disk_is_an_error(void **state)
{
	FILE *f = fopen("/dev/full", "w");
	struct heap *h = recipe_heap(ONE);
	struct selection selection;
	struct names n;
	struct page p;

	(void)state;
	recipe_names(&n, h);
	assert_int_equal(selection_init(&selection, h, &n, NULL, NULL), 0);
	page_begin(&p, f, "x");
	page_heap(&p, &(struct page_source){ h, &n, &selection, NULL });
	assert_int_equal(page_end(&p), -ENOSPC);
	fclose(f);
	selection_fini(&selection);
	names_fini(&n);
	heap_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_profile_is_frames_nodes_and_figures),
		cmocka_unit_test(sites_have_their_node_and_counters),
		cmocka_unit_test(filters_hold),
		cmocka_unit_test(a_document_is_there_with_all_its_columns),
		cmocka_unit_test(names_end_no_element),
		cmocka_unit_test(blocks_come_largest_first),
		cmocka_unit_test(lines_around_those_of_frames),
		cmocka_unit_test(other_files_are_not_read),
		cmocka_unit_test(numbers_of_any_size),
		cmocka_unit_test(long_parts_come_back_whole),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
