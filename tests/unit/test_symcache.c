/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit test of the symbol cache on disk: what comes back, when it is not used, and that damage is
 * noticed. Also of src/symbol/answers.c, symcachefile.c, symcachewrite.c.
 */
#include "src/symbol/symcache.h"

#include <sys/stat.h>

#include "tests/unit/unit.h"

#include "src/symbol/symcachefile.h"
#include "tests/unit/symbol_fixture.h"

static const uint8_t id[4] = { 0xde, 0xad, 0xbe, 0xef };
static const struct symcache_source source = {
	.main_bytes = 1, .main_mtime_ns = 2, .debug_bytes = 3, .debug_mtime_ns = 4
};

static void write_two(const char *dir)
{
	struct symcache_writer *w = symcache_writer_new();

	symcache_add_address(w, 0x1000);
	symcache_add_frame(w, "inner", "inner", "a.c", 3, 0, SYMCACHE_INLINED);
	symcache_add_frame(w, "outer(int)", "_Z5outeri", "a.c", 14, 0x20, 0);
	symcache_add_address(w, 0x2000);
	symcache_add_frame(w, NULL, NULL, NULL, 0, 0x2000, 0);
	assert_int_equal(symcache_write(w, dir, id, sizeof(id), &source), 0);
	symcache_writer_free(w);
}

static void check_two(const struct symcache *c)
{
	const struct symcache_frame *f;

	assert_int_equal(c->header->nr_addresses, 2);
	assert_memory_equal(&c->header->source, &source, sizeof(source));
	assert_int_equal(symcache_find(c, 0x1000, &f), 2);
	assert_string_equal(c->strings + f[0].function, "inner");
	assert_int_equal(f[0].function, f[0].linkage);
	assert_int_equal(f[0].line, 3);
	assert_int_equal(f[0].flags, SYMCACHE_INLINED);
	assert_string_equal(c->strings + f[1].function, "outer(int)");
	assert_string_equal(c->strings + f[1].linkage, "_Z5outeri");
	assert_string_equal(c->strings + f[1].file, "a.c");
	assert_int_equal(f[1].offset, 0x20);
	assert_int_equal(symcache_find(c, 0x2000, &f), 1);
	assert_int_equal(f[0].function, 0);
	assert_int_equal(symcache_find(c, 0xfff, &f), 0);
	assert_int_equal(symcache_find(c, 0x1001, &f), 0);
	assert_int_equal(symcache_find(c, 0x2001, &f), 0);
}

static void test_round_trip(void **state)
{
	char dir[256];
	struct symcache c;
	struct stat st;

	(void)state;
	strcpy(dir, fixture_path("new/cache"));
	assert_int_equal(symcache_read(&c, dir, id, sizeof(id)), -ENOENT);
	write_two(dir);
	assert_int_equal(stat(fixture_path("new/cache/deadbeef"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(symcache_read(&c, dir, id, sizeof(id)), 0);
	check_two(&c);
	symcache_fini(&c);
	fixture_run("test $(ls new/cache | wc -l) = 1");	/* no temporary file is left */
	fixture_run("mv new/cache/deadbeef new/cache/deadbe");	/* a file about another build id */
	assert_int_equal(symcache_read(&c, dir, id, 3), -EBADMSG);
	fixture_run("mv new/cache/deadbe new/cache/deadbee0");
	assert_int_equal(symcache_read(&c, dir, (const uint8_t[]){ 0xde, 0xad, 0xbe, 0xe0 }, 4),
			 -EBADMSG);
}

/* Every single changed byte and every shorter length is noticed. */
static void test_damage(void **state)
{
	size_t size;
	struct symcache c;
	uint8_t *bytes, *copy;

	(void)state;
	write_two(fixture_dir());
	bytes = fixture_read("deadbeef", &size);
	copy = malloc(size);
	assert_int_equal(symcache_parse(&c, bytes, size), 0);
	check_two(&c);
	for (size_t i = 0; i < size; i++) {
		memcpy(copy, bytes, size);
		copy[i] ^= 0x41;
		assert_int_equal(symcache_parse(&c, copy, size), -EBADMSG);
		assert_null(c.header);
	}
	for (size_t n = 0; n < size; n++)
		assert_int_equal(symcache_parse(&c, memcpy(copy, bytes, n), n), -EBADMSG);
	free(copy);
	free(bytes);
}

/* Numbers out of bounds or order are noticed although the checksum fits. */
static void test_unsound(void **state)
{
	size_t size;
	struct symcache c;
	uint8_t *bytes;
	struct symcache_frame *frame;
	struct { uint32_t *number, value; } cases[9];

	(void)state;
	write_two(fixture_dir());
	bytes = fixture_read("deadbeef", &size);
	assert_int_equal(symcache_parse(&c, bytes, size), 0);
	frame = (struct symcache_frame *)c.frames;
	cases[0].number = &frame[0].function, cases[0].value = c.header->strings_bytes;
	cases[1].number = &frame[1].linkage, cases[1].value = UINT32_MAX;
	cases[2].number = &frame[2].file, cases[2].value = c.header->strings_bytes;
	cases[3].number = (uint32_t *)c.first, cases[3].value = 1;
	cases[4].number = (uint32_t *)c.first + 1, cases[4].value = 3;
	cases[5].number = (uint32_t *)c.first + 1, cases[5].value = UINT32_MAX;
	cases[6].number = (uint32_t *)c.first + 2, cases[6].value = 4;
	cases[7].number = (uint32_t *)c.addresses, cases[7].value = 0x2000;
	cases[8].number = (uint32_t *)&c.header->nr_frames, cases[8].value = 0x80000002;
	for (int i = 0; i < 9; i++) {
		struct symcache_header *h = (struct symcache_header *)bytes;
		uint32_t good = *cases[i].number;
		struct symcache d;

		*cases[i].number = cases[i].value;
		h->checksum = symcache_checksum(&h->version,
						size - offsetof(struct symcache_header, version));
		assert_int_equal(symcache_parse(&d, bytes, size), -EBADMSG);
		*cases[i].number = good;
	}
	free(bytes);
}

static void test_unwritable(void **state)
{
	struct symcache_writer *w = symcache_writer_new();

	(void)state;
	fixture_write("file", "x", 1);
	symcache_add_address(w, 1);
	symcache_add_frame(w, "f", "f", NULL, 0, 0, 0);
	assert_int_equal(symcache_write(w, fixture_path("file/cache"), id, sizeof(id), &source),
			 -ENOTDIR);
	symcache_writer_free(w);
}

/* The symbolizer: chain is compiled with the cache in DIR/cache. */
static struct symbolizer *cached(uint64_t bias)
{
	char dirs[256], cache[256];
	struct symbolizer_options opt = {
		.full = true, .use_cache = true, .cache_dir = cache, .debug_dirs = dirs
	};

	strcpy(dirs, fixture_path("debug"));
	strcpy(cache, fixture_path("cache"));
	return fixture_symbolizer(&opt, "chain", "whole", bias);
}

/*
 * Change the kept answer, keeping the checksum right, so that one can tell where an answer comes
 * from.
 */
static void mark_cache(void)
{
	size_t size;
	struct symcache c;
	char name[160] = "cache/", *bytes, *inner;
	uint8_t build_id[64];
	struct symcache_writer *w = symcache_writer_new();
	size_t len = fixture_build_id("whole", build_id);
	const struct symcache_frame *f;

	for (size_t i = 0; i < len; i++)
		sprintf(name + 6 + 2 * i, "%02x", build_id[i]);
	bytes = fixture_read(name, &size);
	assert_int_equal(symcache_parse(&c, bytes, size), 0);
	inner = memmem(bytes, size, "inner", 5);
	assert_non_null(inner);
	memcpy(inner, "KEPT!", 5);
	for (uint32_t i = 0; i < c.header->nr_addresses; i++) {
		symcache_add_address(w, c.addresses[i]);
		f = &c.frames[c.first[i]];
		for (uint32_t k = c.first[i]; k < c.first[i + 1]; k++, f++)
			symcache_add_frame(w, c.strings + f->function, c.strings + f->linkage,
					   c.strings + f->file, f->line, f->offset, f->flags);
	}
	assert_int_equal(symcache_write(w, fixture_path("cache"), build_id, len, &c.header->source),
			 0);
	symcache_writer_free(w);
	free(bytes);
}

static void expect_inner(struct symbolizer *sym, uint64_t bias, const char *name)
{
	struct symbol_frame f[8];

	assert_int_equal(symbol_lookup(sym, 0, fixture_address("whole", "pc_inner") + bias, f, 8),
			 3);
	fixture_expect(&f[0], name, "chain.c", 3, true);
	fixture_expect(&f[1], "middle", "chain.c", 9, true);
	fixture_expect(&f[2], "outer", "chain.c", 14, false);
	assert_int_equal(f[2].offset,
			 fixture_address("whole", "pc_inner") - fixture_address("whole", "outer"));
}

/* Compile chain and leave a marked cache with pc_inner in it. */
static void make_cached(const char *flags)
{
	struct symbolizer *sym;

	fixture_run("rm -rf cache debug && cc -g -O2 %s chain.c -o chain && cp -p chain whole",
		    flags);
	sym = cached(0);
	expect_inner(sym, 0, "inner");
	assert_int_equal(symbolizer_save(sym), 0);
	symbolizer_free(sym);
	mark_cache();
}

static void test_answers_are_used(void **state)
{
	struct symbolizer *sym;
	struct symbol_frame f[8];

	(void)state;
	make_cached("");
	sym = cached(0x555555554000);
	expect_inner(sym, 0x555555554000, "KEPT!");
	assert_int_equal(
		symbol_lookup(sym, 0, fixture_address("whole", "pc_hidden") + 0x555555554000, f, 8),
		1);
	fixture_expect(&f[0], "hidden", "chain.c", 19, false);
	assert_int_equal(symbolizer_save(sym), 0);
	symbolizer_free(sym);
	/* both answers are there now, even without the file */
	fixture_run("rm chain");
	sym = cached(0);
	expect_inner(sym, 0, "KEPT!");
	assert_int_equal(symbol_lookup(sym, 0, fixture_address("whole", "pc_hidden"), f, 8), 1);
	fixture_expect(&f[0], "hidden", "chain.c", 19, false);
	assert_int_equal(symbolizer_module(sym, 0).state, SYMBOL_FILE_GONE);
	symbolizer_free(sym);
}

static void test_touched_file(void **state)
{
	struct symbolizer *sym;

	(void)state;
	make_cached("");
	fixture_run("touch -d @1000 chain");
	sym = cached(0);
	expect_inner(sym, 0, "inner");
	symbolizer_free(sym);
}

static void test_debug_file_appears(void **state)
{
	struct symbolizer *sym;
	struct symbol_frame f[8];
	uint64_t pc;

	(void)state;
	fixture_run("rm -rf cache debug && cc -g -O2 -fPIC -shared "
		    "-Wl,--build-id=0x0123456789abcdef chain.c -o chain && "
		    "cp chain whole && strip chain");
	pc = fixture_address("whole", "pc_hidden");
	sym = cached(0);
	assert_int_equal(symbol_lookup(sym, 0, pc, f, 8), 1);
	assert_false(f[0].named);
	assert_int_equal(symbolizer_save(sym), 0);
	symbolizer_free(sym);
	/* an unnamed answer is kept, too, and names the module of today */
	sym = cached(0x1000);
	assert_int_equal(
		symbolizer_add(
			sym,
			&(struct symbol_module){
				.path = fixture_path("moved"),
				.build_id_len = 8,
				.build_id = (const uint8_t *)"\x01\x23\x45\x67\x89\xab\xcd\xef" }),
		1);
	for (uint32_t module = 0; module < 2; module++) {
		assert_int_equal(symbol_lookup(sym, module, module ? pc : pc + 0x1000, f, 8), 1);
		assert_int_equal(f[0].offset, pc);
		assert_memory_equal(f[0].function, module ? "moved+0x" : "chain+0x", 8);
	}
	symbolizer_free(sym);
	fixture_run("mkdir -p debug/.build-id/01 && objcopy --only-keep-debug whole "
		    "debug/.build-id/01/23456789abcdef.debug");
	sym = cached(0);
	assert_int_equal(symbol_lookup(sym, 0, pc, f, 8), 1);
	fixture_expect(&f[0], "hidden", "chain.c", 19, false);
	symbolizer_free(sym);
}

static void test_damaged_file(void **state)
{
	struct symbolizer *sym;

	(void)state;
	make_cached("");
	fixture_run("for f in cache/*; do printf '\\377' | dd of=$f bs=1 seek=150 conv=notrunc "
		    "status=none; done");
	sym = cached(0);
	expect_inner(sym, 0, "inner");
	symbolizer_free(sym);
}

/* Without a build id there is nothing that would name the file. */
static void test_no_build_id(void **state)
{
	struct symbolizer_options opt = {
		.full = true, .use_cache = true, .cache_dir = "", .debug_dirs = "/nonexistent"
	};
	char cache[256];
	struct symbolizer *sym;

	(void)state;
	strcpy(cache, fixture_path("cache"));
	opt.cache_dir = cache;
	fixture_run("rm -rf cache && cc -g -O2 -Wl,--build-id=none chain.c -o chain && cp -p chain "
		    "whole");
	sym = fixture_symbolizer(&opt, "chain", NULL, 0);
	expect_inner(sym, 0, "inner");
	assert_int_equal(symbolizer_save(sym), 0);
	symbolizer_free(sym);
	fixture_run("test ! -e cache");
}

static void test_place(void **state)
{
	struct symbolizer_options opt = { .full = true,
					  .use_cache = true,
					  .debug_dirs = "/nonexistent" };
	struct symbolizer *sym;

	(void)state;
	fixture_run("rm -rf xdg home && cc -g -O2 -Wl,--build-id=0x0123456789abcdef chain.c -o "
		    "chain && cp -p chain whole");
	setenv("XDG_CACHE_HOME", fixture_path("xdg"), 1);
	setenv("HOME", fixture_path("home"), 1);
	sym = fixture_symbolizer(&opt, "chain", "whole", 0);
	expect_inner(sym, 0, "inner");
	assert_int_equal(symbolizer_save(sym), 0);
	symbolizer_free(sym);
	fixture_run("test -f xdg/pmm/symbols/0123456789abcdef && test ! -e home");
	unsetenv("XDG_CACHE_HOME");
	/* a home that is not there, such as that of many a system's user, is not made */
	sym = fixture_symbolizer(&opt, "chain", "whole", 0);
	expect_inner(sym, 0, "inner");
	assert_int_equal(symbolizer_save(sym), 0);
	symbolizer_free(sym);
	fixture_run("test ! -e home && mkdir home");
	sym = fixture_symbolizer(&opt, "chain", "whole", 0);
	expect_inner(sym, 0, "inner");
	assert_int_equal(symbolizer_save(sym), 0);
	symbolizer_free(sym);
	fixture_run("test -f home/.cache/pmm/symbols/0123456789abcdef");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_unsound),
		cmocka_unit_test(test_unwritable),
		cmocka_unit_test(test_answers_are_used),
		cmocka_unit_test(test_touched_file),
		cmocka_unit_test(test_debug_file_appears),
		cmocka_unit_test(test_damaged_file),
		cmocka_unit_test(test_no_build_id),
		cmocka_unit_test(test_place),
	};

	return cmocka_run_group_tests_name("symcache", tests, fixture_chain, NULL);
}
