/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An allocation fails, each in turn: what was half done is not used, what is missing is said.
 * Reading and writing that the kernel does in part. The linker leads allocations, pread() and
 * pwrite() of what is tested to the functions below (--wrap).
 */
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include "src/analyze/growing.h"
#include "src/base/io.h"
#include "src/base/loop.h"
#include "src/symbol/symbol.h"
#include "src/document/doc.h"
#include "tests/unit/recipe_heap.h"

static unsigned made, failing;		/* allocations; the one that fails, 0: none */
static size_t at_once;			/* bytes that are read or written at once, 0: all */

static bool fails(void)
{
	if (++made != failing)
		return false;
	errno = ENOMEM;
	return true;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__real_reallocarray(void *p, size_t n, size_t bytes);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t n);
ssize_t __real_pread(int fd, void *to, size_t bytes, off_t at);
ssize_t __real_pwrite(int fd, const void *from, size_t bytes, off_t at);

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void *__wrap_reallocarray(void *p, size_t n, size_t bytes);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t n);
ssize_t __wrap_pread(int fd, void *to, size_t bytes, off_t at);
ssize_t __wrap_pwrite(int fd, const void *from, size_t bytes, off_t at);

void *__wrap_malloc(size_t bytes) { return fails() ? NULL : __real_malloc(bytes); }
void *__wrap_calloc(size_t n, size_t bytes) { return fails() ? NULL : __real_calloc(n, bytes); }
void *__wrap_realloc(void *p, size_t bytes) { return fails() ? NULL : __real_realloc(p, bytes); }
void *__wrap_reallocarray(void *p, size_t n, size_t bytes)
{
	return fails() ? NULL : __real_reallocarray(p, n, bytes);
}
char *__wrap_strdup(const char *text) { return fails() ? NULL : __real_strdup(text); }
char *__wrap_strndup(const char *text, size_t n)
{
	return fails() ? NULL : __real_strndup(text, n);
}

static size_t part(size_t bytes)
{
	return at_once && at_once < bytes ? at_once : bytes;
}

ssize_t __wrap_pread(int fd, void *to, size_t bytes, off_t at)
{
	return __real_pread(fd, to, part(bytes), at);
}
ssize_t __wrap_pwrite(int fd, const void *from, size_t bytes, off_t at)
{
	return __real_pwrite(fd, from, part(bytes), at);
}

/* Allocation n of those from here on fails. */
static void fail_at(unsigned n)
{
	made = 0;
	failing = n;
}

/* ---- a report ---- */

static const struct column columns[] = {
	{ "size_bytes", "size", UNIT_BYTES },
	{ "name", "who", UNIT_TEXT },
	{ NULL, "where", UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
	{ NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_TAIL },
};

static void fill(struct table *t, uint64_t group)
{
	struct str s = STR_INIT;

	table_row(t, (uint32_t)group % 3, ROW_PLAIN, ROW_BOTH);
	table_set(t, 0, 1000 + group);
	str_addf(&s, "number %u", (unsigned)group);
	table_set_text(t, 1, table_text(t, &s));
	str_fini(&s);
	table_setf(t, 2, "a_function_with_a_long_name_%u", (unsigned)group);
	table_set_text(t, 3, "file.c:12");
}

/* Made and printed: 0 or -errno, the text in *out. */
static int print(bool json, char **out)
{
	const struct style style = { .width = 60 };
	struct doc d = { .schema = "s/1" };
	struct table *t = table_new(TABLE_ROWS, "rows", "Rows", columns, NR(columns)),
		     *all = table_new(TABLE_ROWS, "all", NULL, columns, NR(columns));
	size_t size;
	FILE *f = open_memstream(out, &size);
	int rc;

	for (uint64_t i = 0; t && i < 20; i++)
		fill(t, i);
	if (t)
		table_note(t, "a note");
	doc_add(&d, t);
	if (all) {
		all->fill = fill;
		all->nr_groups = 20;
	}
	doc_add(&d, all);
	rc = doc_error(&d);
	if (!rc)
		rc = json ? doc_print_json(&d, f) : doc_print_text(&d, &style, f);
	doc_fini(&d);
	fclose(f);
	return rc;
}

static void report_is_whole_or_fails(bool json)
{
	char *whole, *text;
	unsigned nr;

	fail_at(0);
	assert_int_equal(print(json, &whole), 0);
	nr = made;
	assert_true(nr > 50);
	for (unsigned n = 1; n <= nr; n++) {
		int rc;

		fail_at(n);
		rc = print(json, &text);
		assert_true(rc == -ENOMEM || !rc);
		if (!rc)
			assert_string_equal(text, whole);
		free(text);
	}
	free(whole);
}

static void text_is_whole_or_fails(void **state)
{
	(void)state;
	report_is_whole_or_fails(false);
}

static void json_is_whole_or_fails(void **state)
{
	(void)state;
	report_is_whole_or_fails(true);
}

/* ---- names ---- */

#define NR_LOOKUPS 40

struct answer {
	char function[200], file[200];
	uint32_t line;
};

/* The first object is the program. */
static int take_bias(struct dl_phdr_info *info, size_t bytes, void *bias)
{
	(void)bytes;
	*(uint64_t *)bias = info->dlpi_addr;
	return 1;
}

/*
 * From now on what is read of the open file fails with EIO, as the memory at address 0 of a process
 * does.
 */
static void break_reads(const char *path)
{
	int mem = open("/proc/self/mem", O_RDONLY), nr = 0;
	char name[64], link[4096];

	for (int fd = 3; fd < 64; fd++) {
		ssize_t n;

		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		n = readlink(name, link, sizeof(link) - 1);
		if (n <= 0)
			continue;
		link[n] = '\0';
		if (strcmp(link, path))
			continue;
		assert_int_equal(dup2(mem, fd), fd);
		nr++;
	}
	close(mem);
	assert_int_equal(nr, 1);
}

/*
 * Addresses of this test itself, on lines of its own code. What was found of them; the symbolizer's
 * error.
 */
static int look_up(const char *path, bool broken, struct answer answers[NR_LOOKUPS])
{
	struct symbol_module module = { .path = path };
	struct symbolizer *sym = symbolizer_new(&(struct symbolizer_options){ .full = true });
	struct symbol_frame frame[SYMBOL_FRAMES_MAX];
	int rc = sym ? 0 : -ENOMEM;

	dl_iterate_phdr(take_bias, &module.bias);
	memset(answers, 0, NR_LOOKUPS * sizeof(answers[0]));
	if (!rc && symbolizer_add(sym, &module))
		rc = -ENOMEM;
	if (broken) {
		symbolizer_module(sym, 0);
		break_reads(path);
	}
	for (unsigned i = 0; !rc && i < NR_LOOKUPS; i++) {
		symbol_lookup(sym, 0, (uintptr_t)look_up + i * 64, frame, SYMBOL_FRAMES_MAX);
		snprintf(answers[i].function, sizeof(answers[i].function), "%s",
			 frame[0].named ? frame[0].function : "");
		snprintf(answers[i].file, sizeof(answers[i].file), "%s",
			 frame[0].file ? frame[0].file : "");
		answers[i].line = frame[0].line;
	}
	if (!rc)
		rc = symbolizer_error(sym);
	symbolizer_free(sym);
	return rc;
}

static void names_are_there_or_missed(void **state)
{
	struct answer all[NR_LOOKUPS], found[NR_LOOKUPS];
	unsigned nr, nr_named = 0;
	char path[4096] = "";

	(void)state;
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	fail_at(0);
	assert_int_equal(look_up(path, false, all), 0);
	nr = made;
	for (unsigned i = 0; i < NR_LOOKUPS; i++)
		nr_named += *all[i].function && *all[i].file;
	assert_true(nr_named > NR_LOOKUPS / 2);
	for (unsigned n = 1; n <= nr; n++) {
		int rc;

		fail_at(n);
		rc = look_up(path, false, found);
		if (rc != -ENOMEM && memcmp(found, all, sizeof(all)))
			fail_msg("allocation %u: names are missing, and no word of it", n);
	}
}

static void names_that_cannot_be_read_are_missed(void **state)
{
	struct answer found[NR_LOOKUPS];
	char path[4096] = "";

	(void)state;
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	fail_at(0);
	assert_int_equal(look_up(path, true, found), -EIO);
}

/* ---- what is kept of a process that is watched ---- */

static void growing_goes_on(void **state)
{
	struct heap *h;
	unsigned nr = 0;

	(void)state;
	fail_at(0);
	h = recipe_heap("generate sites=20 blocks=200 depth=3 points=5\n");
	for (unsigned n = 0; n <= nr; n++) {
		struct growing g = { 0 };
		struct growth out;

		fail_at(n);
		for (unsigned look = 0; look < 20; look++)
			for (uint32_t site = 0; site < h->nr_sites; site++)
				if (growing_add(&g, h, site, look * 1000000000ull,
						100 * (look + 1)))
					assert_int_equal(growing_judge_site(&g, h, site, &out), 0);
		if (!n)
			nr = made;
		for (uint32_t site = 0; site < h->nr_sites; site++)
			assert_int_equal(growing_judge_site(&g, h, site, &out), 0);
		growing_fini(&g);
	}
	fail_at(0);
	heap_free(h);
}

/* ---- files ---- */

static void files_are_transferred_whole(void **state)
{
	char name[] = "/tmp/pmm-test-XXXXXX", back[10] = "";
	int fd = mkstemp(name);

	(void)state;
	assert_true(fd >= 0);
	unlink(name);
	at_once = 3;
	assert_int_equal(io_pwrite(fd, "0123456789", 10, 5), 0);
	assert_int_equal(io_pread(fd, back, 10, 5), 0);
	assert_memory_equal(back, "0123456789", 10);
	assert_int_equal(io_pread(fd, back, 10, 6), -ENODATA);
	at_once = 0;
	close(fd);
	assert_int_equal(io_pread(fd, back, 10, 5), -EBADF);
	assert_int_equal(io_pwrite(fd, back, 10, 5), -EBADF);
}

/* ---- the event loop ---- */

static void on_timer(void *arg, uint64_t now_ns)
{
	(void)now_ns;
	++*(unsigned *)arg;
}

/* Two timers and a child; 0 or -errno. What was added works. */
static int use_loop(unsigned *called)
{
	struct loop *l;
	int rc = loop_new(&l), added = 0;

	*called = 0;
	for (unsigned i = 0; !rc && i < 2; i++) {
		rc = loop_add_timer(l, i, on_timer, called, NULL);
		added += !rc;
	}
	if (!rc)
		rc = loop_add_child(l, getpid(), NULL, NULL, NULL);
	if (l)
		assert_int_equal(loop_step(l, 0), added);
	assert_int_equal(*called, added);
	loop_free(l);
	return rc;
}

static void loop_is_whole_or_fails(void **state)
{
	int first = dup(0), again;
	unsigned called, nr;

	(void)state;
	close(first);
	fail_at(0);
	assert_int_equal(use_loop(&called), 0);
	nr = made;
	assert_int_equal(nr, 6);	/* the loop, 3 sources, 2 tables of timers */
	for (unsigned n = 1; n <= nr; n++) {
		fail_at(n);
		assert_int_equal(use_loop(&called), -ENOMEM);
		assert_int_equal(called, n < 5 ? 0 : n - 4);
		again = dup(0);
		assert_int_equal(again, first);		/* no descriptor is left open */
		close(again);
	}
	fail_at(0);
}

/* ---- sentences ---- */

static void error_without_a_sentence_gets_one(void **state)
{
	struct err said = { .text = "said" }, none = { 0 }, other = { 0 };

	(void)state;
	assert_string_equal(err_default(&said, -ENOMEM)->text, "said");
	assert_string_equal(err_default(&none, -ENOMEM)->text, "out of memory");
	assert_string_equal(err_default(&other, -EMFILE)->text,
			    "it cannot be done: Too many open files");
	assert_true(err_is_want(-ENOMEM) && err_is_want(-EMFILE) && err_is_want(-ENFILE));
	assert_false(err_is_want(-ENOENT) || err_is_want(-EIO) || err_is_want(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_whole_or_fails),
		cmocka_unit_test(json_is_whole_or_fails),
		cmocka_unit_test(names_are_there_or_missed),
		cmocka_unit_test(names_that_cannot_be_read_are_missed),
		cmocka_unit_test(growing_goes_on),
		cmocka_unit_test(files_are_transferred_whole),
		cmocka_unit_test(loop_is_whole_or_fails),
		cmocka_unit_test(error_without_a_sentence_gets_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
