/*
 * The .pmm capture: what is written reads back the same, and nothing that a file holds does harm.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/capture/capture.h"
#include "src/capture/file_format.h"
#include "src/capture/file_pack.h"
#include "tests/unit/heap_equal.h"

#define BUDGET (64u << 20)

static const char rich_recipe[] =
	"process comm=demo pid=7 ppid=3 exe=/bin/demo cmdline=\"demo 'a b'\" host=box attach=1s "
	"taken=1m "
	"end=killed status=9 forked\n"
	"watch sample=512K min-size=16 warn-size=1M tick=20ms ledger=1M limit=2M slots-used=3 "
	"slots=9 off=2 "
	"drift=1\n"
	"totals peak=3K peak-at=2s untracked-frees=4 skipped=5 skipped-bytes=6\n"
	"drop block-full=1 site-full=2 ctx-full=3 nested=4 module-full=5 address=6 bytes=7\n"
	"module /lib/a.so at=0x7000000 size=64K bias=0x6fff000 load=1s unload=2s build-id=00ff10\n"
	"thread main tid=7\nthread \"worker one\" tid=8 start=3s ended\n"
	"site main@/lib/a.so>/lib/a.so+0x2345>!no-unwind size=10 allocs=9 frees=4 thread=\"worker "
	"one\" "
	"temporary=1 max=11 failed=2 zero=3 huge=4 samples-in=5 samples-out=6 first=2s last=5s "
	"life=4s\n"
	"site main@/lib/a.so>other kind=calloc size=4000 allocs=3 first=7s\n"
	"site - size=1\n"
	"site +0x999 kind=mmap size=8K allocs=2 frees=1 last=9s\n"
	"allocator /lib/libc.so.6 arena=1M used=3 free=4 free-chunks=5 fast-chunks=6 fast-bytes=7 "
	"mmapped-chunks=8 mmapped-bytes=9 top=10 at=11s\n"
	"mapping mmap-failed=1 mremaps=2 grown=3 shrunk=4 brks=5 brk=6 brk-peak=7\n"
	"point 1s live=10 blocks=2 allocs=3 rss=4K\npoint 2s live=11\n"
	"site-point 1s main@/lib/a.so>other live=10 blocks=1\n"
	"search exit complete at=59s pause=3ms took=1s read=4K unread=5\n"
	"leak main@/lib/a.so>other definite blocks=2 bytes=8000 indirect-blocks=1 indirect-bytes=1 oldest=1s newest=2s\n"
	"leak - indirect blocks=1 bytes=1 holder=main@/lib/a.so>other held=1 oldest=3s\n"
	"leak main@/lib/a.so>other reachable blocks=1 bytes=4000 chained=1 holder=- held=1\n";

static struct heap *make(const char *recipe)
{
	struct heap *h = NULL;
	struct err e = {0};

	if (capture_fake.read(recipe, &h, &e))
		fail_msg("%s", e.text);
	return h;
}

/* A capture in memory. */
struct image {
	uint8_t *bytes;
	size_t n;
};

static struct image image_of(FILE *f)
{
	struct image m;

	fflush(f);
	m.n = (size_t)ftello(f);
	m.bytes = malloc(m.n + 1);
	rewind(f);
	assert_non_null(m.bytes);
	assert_int_equal(fread(m.bytes, 1, m.n, f), m.n);
	fclose(f);
	return m;
}

static struct image write_image(const struct heap *h)
{
	FILE *f = tmpfile();
	struct err e = {0};

	assert_non_null(f);
	if (file_write_heap(h, f, "x", &e))
		fail_msg("%s", e.text);
	return image_of(f);
}

static int read_image(const uint8_t *bytes, size_t n, struct heap **out, struct err *e)
{
	FILE *f = fmemopen((void *)(uintptr_t)bytes, n ? n : 1, "r");
	int rc;

	assert_non_null(f);
	memset(e, 0, sizeof(*e));
	*out = NULL;
	rc = file_read_heap(f, n, BUDGET, "x", out, e);
	fclose(f);
	return rc;
}

static void expect_refusal(const uint8_t *bytes, size_t n, int code, const char *text)
{
	struct heap *h;
	struct err e;

	assert_int_equal(read_image(bytes, n, &h, &e), code);
	assert_null(h);
	assert_string_equal(e.text, text);
	assert_string_not_equal(e.hint, "");
}

static void expect_round_trip(struct heap *h)
{
	struct image m = write_image(h);
	struct heap *back = NULL;
	char what[200];
	struct err e;

	if (read_image(m.bytes, m.n, &back, &e))
		fail_msg("%s", e.text);
	if (!heap_equal(h, back, what, sizeof(what)))
		fail_msg("differs in %s", what);
	heap_free(h);
	heap_free(back);
	free(m.bytes);
}

static void heaps_read_back_the_same(void **state)
{
	(void)state;
	expect_round_trip(heap_new());
	expect_round_trip(make(rich_recipe));
	expect_round_trip(make("generate sites=700 blocks=20000 depth=30 points=50\n"));
}

static void extreme_numbers_read_back_the_same(void **state)
{
	struct heap *h = make(rich_recipe);

	(void)state;
	h->bytes_in = UINT64_MAX;
	h->end_status = -1;
	h->taken_ns = UINT64_MAX;
	h->sites[0].live_bytes = INT64_MIN;
	h->sites[1].live_bytes = INT64_MAX;
	h->sites[1].max_bytes = UINT64_MAX;
	h->sites[2].max_bytes = UINT64_MAX - 1;
	h->sites[2].live_blocks = -1;
	h->blocks[h->nr_blocks - 1].address = UINT64_MAX;
	h->blocks[0].address = 0;
	h->blocks[1].size_bytes = UINT64_MAX;
	h->nodes[1].pc = UINT64_MAX;
	h->modules[1].end = UINT64_MAX;
	memset(h->modules[1].build_id, 0xff, HEAP_BUILD_ID_MAX);
	h->modules[1].build_id_len = HEAP_BUILD_ID_MAX;
	strcpy(h->threads[0].name, "sixteen letters!");
	expect_round_trip(h);
}

static void texts_are_made_harmless(void **state)
{
	static const char from[] =
		"a\x1b[2J\xc3\xa4\n\xff\xc2\x9b\xe2\x80\xae\xe2\x82\xac\x7f\xe2\x82";
	static const char to[] = "a?[2J\xc3\xa4?"
				 "?"
				 "??"
				 "???"
				 "\xe2\x82\xac"
				 "?"
				 "??";
	char text[sizeof(from)];
	struct heap *h = make("process comm=abcd\n"), *back;
	struct image m;
	struct err e;

	(void)state;
	memcpy(text, from, sizeof(from));
	file_clean_text(text, sizeof(from) - 1);
	assert_string_equal(text, to);

	h->comm[1] = '\x1b';
	strcpy(h->threads[0].name, "\x1b[m");
	m = write_image(h);
	assert_int_equal(read_image(m.bytes, m.n, &back, &e), 0);
	assert_string_equal(back->comm, "a?cd");
	assert_string_equal(back->threads[0].name, "?[m");
	heap_free(h);
	heap_free(back);
	free(m.bytes);
}

/* ---- damage -------------------------------------------------------------------------------- */

static void any_changed_byte_is_noticed(void **state)
{
	struct heap *h = make(rich_recipe), *back;
	struct image m = write_image(h);
	struct err e;

	(void)state;
	for (size_t i = 0; i < m.n; i++) {
		const uint8_t change[] = {0xff, (uint8_t)(1u << i % 8), 0x80};

		for (size_t k = 0; k < sizeof(change); k++) {
			int rc;

			m.bytes[i] ^= change[k];
			rc = read_image(m.bytes, m.n, &back, &e);
			if (!rc || !e.text[0] || !e.hint[0])
				fail_msg("byte %zu changed by %#x: %d '%s'", i, change[k], rc,
					 e.text);
			if (rc != (i < 8 ? -EINVAL : -EBADMSG))
				fail_msg("byte %zu changed by %#x: %d '%s'", i, change[k], rc,
					 e.text);
			m.bytes[i] ^= change[k];
		}
	}
	heap_free(h);
	free(m.bytes);
}

static void any_lost_end_is_noticed(void **state)
{
	struct heap *h = make(rich_recipe), *back;
	struct image m = write_image(h);
	struct err e;

	(void)state;
	for (size_t n = 0; n < m.n; n++)
		if (read_image(m.bytes, n, &back, &e) != -ENODATA || !e.hint[0])
			fail_msg("cut to %zu of %zu bytes: '%s'", n, m.n, e.text);
	expect_refusal(m.bytes, 0, -ENODATA, "the capture 'x' is empty");
	expect_refusal(m.bytes, 4, -ENODATA, "the capture 'x' is cut short (header)");
	expect_refusal(m.bytes, m.n + 1, -EBADMSG,
		       "the capture 'x' is damaged (end mark): something follows it");
	heap_free(h);
	free(m.bytes);
}

static void other_files_are_told_apart(void **state)
{
	struct heap *h = heap_new();
	struct image m = write_image(h);
	struct file_header *head = (struct file_header *)m.bytes;

	(void)state;
	expect_refusal((const uint8_t *)"hello", 5, -EINVAL, "'x' is not a pmm capture");
	expect_refusal((const uint8_t *)"\x7f"
					"ELF, and some more so that there is a whole header",
		       51, -EINVAL, "'x' is not a pmm capture");
	head->major = FILE_MAJOR + 1;
	expect_refusal(m.bytes, m.n, -EBADMSG,
		       "the capture 'x' is damaged (header): its checksum does not match");
	head->crc = file_crc(0, head, offsetof(struct file_header, crc));
	expect_refusal(m.bytes, m.n, -EPROTO,
		       "the capture 'x' was made by a newer pmm (format 2.1, this one reads 1)");
	heap_free(h);
	free(m.bytes);
}

/* ---- forgeries: right checksums, wrong contents ---------------------------------------------- */

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
	expect_forgery(forge_bomb, -EBADMSG,
		       "the capture 'x' is damaged (live blocks): it declares more "
		       "than such a file can hold");
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
			     void (*change)(const char *id, uint8_t *raw, size_t *n),
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
static void clear_drift(const char *id, uint8_t *raw, size_t *n)
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
	struct heap *h = make("watch drift=1\nsite main size=10 allocs=2\n");
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
static void add_to_points(const char *id, uint8_t *raw, size_t *n)
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
static void later_minor_versions_are_read(void **state)
{
	struct heap *h = make(rich_recipe), *back = NULL;
	struct image m = write_image(h), later = repacked(&m, add_to_points, add_optional_section);
	struct file_header *head = (struct file_header *)later.bytes;
	char what[200];
	struct err e;

	(void)state;
	expect_refusal(later.bytes, later.n, -EBADMSG,
		       "the capture 'x' is damaged (time series): it holds more than its rows");
	head->minor = FILE_MINOR + 1;
	head->crc = file_crc(0, head, offsetof(struct file_header, crc));
	if (read_image(later.bytes, later.n, &back, &e))
		fail_msg("%s", e.text);
	assert_true(heap_equal(h, back, what, sizeof(what)));
	heap_free(h);
	heap_free(back);
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

static void change_nothing(const char *id, uint8_t *raw, size_t *n)
{
	(void)id;
	(void)raw;
	(void)n;
}

/* Search and leaks came with 1.1: readers of 1.0 pass over them, files of 1.0 have none. */
static void a_search_is_optional(void **state)
{
	struct heap *h = make("site main size=10 allocs=2\n"), *searched = make(rich_recipe);
	struct image m = write_image(h), rich = write_image(searched), forgery = repacked(&m, change_nothing, forge_leaks_without_search);
	struct file_section head;
	struct file_toc_entry toc;
	struct file_end end;

	(void)state;
	memcpy(&end, m.bytes + m.n - sizeof(end), sizeof(end));
	memcpy(&head, m.bytes + end.toc_offset, sizeof(head));
	assert_int_equal(head.count, FILE_SEARCH);
	memcpy(&end, rich.bytes + rich.n - sizeof(end), sizeof(end));
	memcpy(&head, rich.bytes + end.toc_offset, sizeof(head));
	assert_int_equal(head.count, FILE_NR_TABLES);
	for (int i = 0; i < FILE_NR_TABLES; i++) {
		memcpy(&toc, rich.bytes + end.toc_offset + sizeof(head) + i * sizeof(toc), sizeof(toc));
		assert_int_equal(!(toc.section.flags & FILE_REQUIRED), i >= FILE_SEARCH);
	}
	expect_refusal(forgery.bytes, forgery.n, -EBADMSG,
		       "the capture 'x' is damaged (contents): leaks that nobody searched for");
	heap_free(h);
	heap_free(searched);
	free(m.bytes);
	free(rich.bytes);
	free(forgery.bytes);
}

static void forge_large(struct pack *p)
{
	pack_pad(p, 5ull << 30);
	pack_pad(p, 5ull << 30); /* no more of it */
}

/* A very regular heap compresses below what the reader takes for honest: then the file is made
 * larger. */
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
		"the capture 'x' is damaged (a section passed over): its checksum does not match");
	free(m.bytes);
}

/* ---- files --------------------------------------------------------------------------------- */

struct place {
	char dir[64];
	char path[128];
};

static struct place place_new(void)
{
	struct place p = {.dir = "/tmp/pmm-test-capture-XXXXXX"};

	assert_non_null(mkdtemp(p.dir));
	snprintf(p.path, sizeof(p.path), "%s/a.pmm", p.dir);
	return p;
}

/* How many files a directory holds. */
static int count_files(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	assert_non_null(d);
	for (struct dirent *entry; (entry = readdir(d));)
		n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(d);
	return n;
}

static void place_free(struct place *p)
{
	unlink(p->path);
	assert_int_equal(rmdir(p->dir), 0);
}

static void a_file_is_written_for_its_owner_only(void **state)
{
	struct place p = place_new();
	struct heap *h = make(rich_recipe), *back = NULL;
	mode_t mask = umask(0);
	struct err e = {0};
	char what[200];
	struct stat st;

	(void)state;
	for (int i = 0; i < 2; i++) /* the second replaces the first */
		assert_int_equal(capture_write(h, p.path, &e), 0);
	umask(mask);
	assert_int_equal(stat(p.path, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_int_equal(count_files(p.dir), 1);
	assert_int_equal(capture_file.read(p.path, &back, &e), 0);
	assert_true(heap_equal(h, back, what, sizeof(what)));
	heap_free(h);
	heap_free(back);
	place_free(&p);
}

static void expect_no_write(const struct heap *h, const char *path, int code)
{
	struct err e = {0};

	assert_int_equal(capture_write(h, path, &e), code);
	assert_non_null(strstr(e.text, "cannot write the capture"));
	assert_string_not_equal(e.hint, "");
}

static void places_that_cannot_be_written_are_named(void **state)
{
	struct place p = place_new();
	struct heap *h = heap_new();
	char path[200];
	struct stat st;

	(void)state;
	snprintf(path, sizeof(path), "%s/none/a.pmm", p.dir);
	expect_no_write(h, path, -ENOENT);
	expect_no_write(h, p.dir, -EISDIR);
	expect_no_write(h, "/dev/full", -EINVAL);
	expect_no_write(h, "/proc/a.pmm", -ENOENT);
	assert_int_equal(stat("/dev/full", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	if (!geteuid()) {
		assert_int_equal(seteuid(65534), 0);
		expect_no_write(h, p.path, -EACCES);
		assert_int_equal(seteuid(0), 0);
	} else {
		chmod(p.dir, 0500);
		expect_no_write(h, p.path, -EACCES);
		chmod(p.dir, 0700);
	}
	assert_int_equal(count_files(p.dir), 0);
	heap_free(h);
	place_free(&p);
}

/* A limit on the size of files stands for the full disk: write() fails in the middle. */
static void a_full_disk_leaves_nothing_behind(void **state)
{
	struct place p = place_new();
	struct heap *small = heap_new(), *large = make("generate sites=2000 blocks=50000\n"),
		    *back = NULL;
	struct rlimit old, limit;
	struct err e = {0};
	char what[200];

	(void)state;
	assert_int_equal(capture_write(small, p.path, &e), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	for (rlim_t max = 0; max < 100000; max += 9999) {
		limit.rlim_cur = max;
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		expect_no_write(large, p.path, -EFBIG);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(count_files(p.dir), 1);
	assert_int_equal(capture_file.read(p.path, &back, &e), 0);
	assert_true(heap_equal(small, back, what, sizeof(what)));
	heap_free(small);
	heap_free(large);
	heap_free(back);
	place_free(&p);
}

static void expect_no_read(const char *path, int code, const char *text)
{
	struct heap *h = NULL;
	struct err e = {0};

	assert_int_equal(capture_file.read(path, &h, &e), code);
	assert_null(h);
	if (text)
		assert_string_equal(e.text, text);
	assert_string_not_equal(e.hint, "");
}

static void files_that_cannot_be_read_are_named(void **state)
{
	struct place p = place_new();
	FILE *f = fopen(p.path, "w");

	(void)state;
	fclose(f);
	chmod(p.path, 0600);
	expect_no_read("/none.pmm", -ENOENT, "cannot open '/none.pmm': No such file or directory");
	expect_no_read("/tmp", -EISDIR, "'/tmp' is a directory");
	expect_no_read("/dev/null", -EINVAL, "'/dev/null' is not a regular file");
	expect_no_read(p.path, -ENODATA, NULL);
	if (!geteuid()) {
		chmod(p.dir, 0755);
		assert_int_equal(seteuid(65534), 0);
		expect_no_read(p.path, -EPERM, NULL);
		assert_int_equal(seteuid(0), 0);
	}
	place_free(&p);
}

static void arguments_find_their_source(void **state)
{
	(void)state;
	assert_ptr_equal(capture_for("fake:x"), &capture_fake);
	assert_ptr_equal(capture_for("a.pmm"), &capture_file);
	assert_ptr_equal(capture_for("./123"), &capture_file);
	assert_ptr_equal(capture_for("123"), &capture_ledger);
	assert_ptr_equal(capture_for(""), &capture_file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heaps_read_back_the_same),
		cmocka_unit_test(extreme_numbers_read_back_the_same),
		cmocka_unit_test(texts_are_made_harmless),
		cmocka_unit_test(any_changed_byte_is_noticed),
		cmocka_unit_test(any_lost_end_is_noticed),
		cmocka_unit_test(other_files_are_told_apart),
		cmocka_unit_test(forgeries_are_refused),
		cmocka_unit_test(contradictions_are_refused),
		cmocka_unit_test(later_minor_versions_are_read),
		cmocka_unit_test(a_search_is_optional),
		cmocka_unit_test(large_heaps_get_a_file_to_match),
		cmocka_unit_test(a_file_is_written_for_its_owner_only),
		cmocka_unit_test(places_that_cannot_be_written_are_named),
		cmocka_unit_test(a_full_disk_leaves_nothing_behind),
		cmocka_unit_test(files_that_cannot_be_read_are_named),
		cmocka_unit_test(arguments_find_their_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
