/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit test of how the symbolizer finds files: separate debug files, replaced and missing ones, the
 * vdso. Also of src/symbol/object.c, symbolizer.c, src/proc/debugfile.c, elffile.c.
 */
#include "src/symbol/symbol.h"
#include "src/proc/debugfile.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <lzma.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "tests/unit/symbol_fixture.h"

static const struct symbolizer_options none = { .full = true, .debug_dirs = "/nonexistent" };

/*
 * Compile chain, keep it as `whole`, and leave chain without symbols and `chain.debug` with them.
 */
static void make_split(const char *flags)
{
	fixture_run("rm -rf debug chain.debug chain whole && cc -g -O2 %s chain.c -o chain && cp "
		    "chain whole && "
		    "objcopy --only-keep-debug chain chain.debug && strip chain",
		    flags);
}

/* Put chain.debug where its build id belongs. */
static void file_by_id(const char *debug_dir)
{
	char hex[129] = "";
	uint8_t id[64];
	size_t len = fixture_build_id("whole", id);

	for (size_t i = 0; i < len; i++)
		sprintf(hex + 2 * i, "%02x", id[i]);
	fixture_run("mkdir -p %s/.build-id/%.2s && mv chain.debug %s/.build-id/%.2s/%s.debug",
		    debug_dir, hex, debug_dir, hex, hex + 2);
}

static void expect_chain(struct symbolizer *sym, uint64_t bias)
{
	struct symbol_frame f[8];

	assert_int_equal(symbol_lookup(sym, 0, fixture_address("whole", "pc_inner") + bias, f, 8),
			 3);
	fixture_expect(&f[0], "inner", "chain.c", 3, true);
	fixture_expect(&f[1], "middle", "chain.c", 9, true);
	fixture_expect(&f[2], "outer", "chain.c", 14, false);
	assert_int_equal(f[2].offset,
			 fixture_address("whole", "pc_inner") - fixture_address("whole", "outer"));
	assert_int_equal(symbol_lookup(sym, 0, fixture_address("whole", "pc_hidden") + bias, f, 8),
			 1);
	fixture_expect(&f[0], "hidden", "chain.c", 19, false);
}

static void expect_unnamed(struct symbolizer *sym)
{
	struct symbol_frame f[8];
	char text[64];
	uint64_t pc = fixture_address("whole", "pc_inner");

	snprintf(text, sizeof(text), "chain+0x%llx", (unsigned long long)pc);
	assert_int_equal(symbol_lookup(sym, 0, pc, f, 8), 1);
	fixture_expect(&f[0], text, NULL, 0, false);
	assert_false(f[0].named);
}

static struct symbolizer *with_debug_dirs(uint64_t bias)
{
	char dirs[256];
	struct symbolizer_options opt = { .full = true, .debug_dirs = dirs };

	snprintf(dirs, sizeof(dirs), "/nonexistent::%s", fixture_path("debug"));
	return fixture_symbolizer(&opt, "chain", "whole", bias);
}

static void test_build_id_directory(void **state)
{
	struct symbolizer *sym;

	(void)state;
	make_split("");
	file_by_id("debug");
	sym = with_debug_dirs(0x555555554000);
	expect_chain(sym, 0x555555554000);
	assert_int_equal(symbolizer_module(sym, 0).quality, SYMBOL_DWARF);
	assert_non_null(strstr(symbolizer_module(sym, 0).source, "/debug/.build-id/"));
	symbolizer_free(sym);
	sym = fixture_symbolizer(&none, "chain", "whole", 0);
	expect_unnamed(sym);
	symbolizer_free(sym);
}

/* A debug file under the right name that belongs to another program is not used. */
static void test_wrong_debug_file(void **state)
{
	struct symbolizer *sym;

	(void)state;
	make_split("");
	fixture_run("cc -g -O2 chain.c -Wl,--build-id=0x0123456789abcdef -o other && objcopy "
		    "--only-keep-debug other chain.debug");
	file_by_id("debug");
	sym = with_debug_dirs(0);
	expect_unnamed(sym);
	symbolizer_free(sym);
}

/* The library was prelinked after its debug file was made. */
static void test_shifted_debug_file(void **state)
{
	struct symbolizer *sym;

	(void)state;
	make_split("-fPIC -shared -Wl,--build-id=0x0011223344556677");
	fixture_run("cc -g -O2 chain.c -fPIC -shared -Wl,--build-id=0x0011223344556677 "
		    "-Wl,-Ttext-segment=0x3a0000000 "
		    "-o chain && cp chain whole && strip chain");
	file_by_id("debug");
	sym = with_debug_dirs(0x1000);
	expect_chain(sym, 0x1000);
	symbolizer_free(sym);
}

static void test_file_gone_debug_file_there(void **state)
{
	struct symbolizer *sym;

	(void)state;
	make_split("");
	file_by_id("debug");
	fixture_run("rm chain");
	sym = with_debug_dirs(0);
	expect_chain(sym, 0);
	assert_int_equal(symbolizer_module(sym, 0).state, SYMBOL_FILE_GONE);
	symbolizer_free(sym);
}

/* Build ids of any length name a file; the first byte is a directory. */
static void test_short_build_ids(void **state)
{
	const uint8_t id[8] = { 0xab, 0xcd, 0xef, 1, 2, 3, 4, 5 };
	const struct debug_search s = { .dirs = strdup(fixture_path("short")) };
	struct elf_file f;

	(void)state;
	fixture_run("rm -rf short; mkdir -p short/.build-id/ab; cc -g chain.c "
		    "-Wl,--build-id=0xabcdef01 -o short/.build-id/ab/cdef01.debug; "
		    "cc -g chain.c -Wl,--build-id=0xabcdef0102030405 -o "
		    "short/.build-id/ab/cdef0102030405.debug");
	assert_int_equal(debug_file_by_id(&s, id, 4, ".debug", &f), 0);
	elf_file_close(&f);
	assert_int_equal(debug_file_by_id(&s, id, 8, ".debug", &f), 0);
	elf_file_close(&f);
	assert_int_equal(debug_file_by_id(&s, id, 1, ".debug", &f), -ENOENT);
	assert_int_equal(debug_file_by_id(&s, id, 0, ".debug", &f), -ENOENT);
	assert_int_equal(debug_file_by_id(&s, id + 1, 4, ".debug", &f), -ENOENT);
	assert_int_equal(elf_file_open(&f, fixture_path("short/.build-id/ab/cdef01.debug")), 0);
	assert_int_equal(debug_file_mini(&f, &(struct elf_file){ 0 }), -ENODATA);
	elf_file_close(&f);
	fixture_run("cp short/.build-id/ab/cdef01.debug bad; echo none >text; objcopy "
		    "--add-section .gnu_debugdata=text bad");
	assert_int_equal(elf_file_open(&f, fixture_path("bad")), 0);
	assert_int_equal(debug_file_mini(&f, &(struct elf_file){ 0 }), -EBADMSG);
	elf_file_close(&f);
	free(s.dirs);
}

static void test_debuglink(void **state)
{
	struct symbolizer *sym;

	(void)state;
	make_split("-Wl,--build-id=none");
	fixture_run("objcopy --add-gnu-debuglink=chain.debug chain");
	sym = fixture_symbolizer(&none, "chain", NULL, 0);
	expect_chain(sym, 0);
	assert_int_equal(symbolizer_module(sym, 0).state, SYMBOL_FILE_UNCHECKED);
	symbolizer_free(sym);

	fixture_run("mkdir -p .debug && mv chain.debug .debug/");
	sym = fixture_symbolizer(&none, "chain", NULL, 0);
	expect_chain(sym, 0);
	symbolizer_free(sym);

	fixture_run("mkdir -p debug/$PWD && mv .debug/chain.debug debug/$PWD/");
	sym = with_debug_dirs(0);
	expect_chain(sym, 0);
	symbolizer_free(sym);

	/* its checksum is wrong now */
	fixture_run("mv debug/$PWD/chain.debug . && printf x >> chain.debug");
	sym = fixture_symbolizer(&none, "chain", NULL, 0);
	expect_unnamed(sym);
	symbolizer_free(sym);
}

/* dwz moves what two programs have in common to a third file; names and types are there then. */
static void test_shared_dwarf(void **state)
{
	struct symbolizer *sym;
	struct symbol_frame f[8];
	uint64_t pc;

	(void)state;
	if (system("command -v dwz > /dev/null")) {
		print_message("dwz is not installed\n");
		skip();
	}
	fixture_write("names.cc", fixture_cc, strlen(fixture_cc));
	fixture_run("sed -i '1i #include <map>\\n#include <string>\\nstd::map<std::string, "
		    "std::string> goods;' names.cc && "
		    "c++ -g -O2 names.cc -o one && c++ -g -O2 -DOTHER names.cc "
		    "-Wl,--build-id=0x0123456789abcdef -o two && "
		    "dwz -m common.dwz -M common.dwz one two && readelf -SW one | grep -q "
		    "gnu_debugaltlink");
	pc = fixture_address("one", "pc_take");
	sym = fixture_symbolizer(&none, "one", "one", 0);
	assert_int_equal(symbol_lookup(sym, 0, pc, f, 8), 2);
	fixture_expect(&f[0], "shop::shelf<long>::take(long)", "names.cc", 16, true);
	fixture_expect(&f[1], "shop::sell(long)", "names.cc", 28, false);
	symbolizer_free(sym);
	/* not the file it was made with: no DWARF then, but symbols */
	fixture_run("cp two common.dwz");
	sym = fixture_symbolizer(&none, "one", "one", 0);
	assert_int_equal(symbol_lookup(sym, 0, pc, f, 8), 1);
	fixture_expect(&f[0], "shop::sell(long)", NULL, 0, false);
	symbolizer_free(sym);
}

static void test_mini_debug_info(void **state)
{
	struct symbolizer *sym;
	struct symbol_frame f[8];
	size_t size, packed = 0;
	uint8_t *bytes, *out;

	(void)state;
	fixture_run("cc -O2 -fPIC -shared chain.c -o whole && cp whole chain && objcopy "
		    "--only-keep-debug whole mini");
	bytes = fixture_read("mini", &size);
	out = malloc(lzma_stream_buffer_bound(size));
	assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, bytes, size, out,
						 &packed, lzma_stream_buffer_bound(size)),
			 LZMA_OK);
	fixture_write("mini.xz", out, packed);
	fixture_run("strip chain && objcopy --add-section .gnu_debugdata=mini.xz chain");
	sym = fixture_symbolizer(&none, "chain", "whole", 0);
	assert_int_equal(symbol_lookup(sym, 0, fixture_address("whole", "pc_hidden"), f, 8), 1);
	fixture_expect(&f[0], "hidden", NULL, 0, false);
	assert_int_equal(symbolizer_module(sym, 0).quality, SYMBOL_SYMTAB);
	symbolizer_free(sym);

	fixture_write("mini.xz", out, packed / 2);
	fixture_run("objcopy --remove-section .gnu_debugdata chain && objcopy --add-section "
		    ".gnu_debugdata=mini.xz chain");
	sym = fixture_symbolizer(&none, "chain", "whole", 0);
	assert_int_equal(symbol_lookup(sym, 0, fixture_address("whole", "pc_hidden"), f, 8), 1);
	assert_false(f[0].named);
	assert_int_equal(symbol_lookup(sym, 0, fixture_address("whole", "pc_inner"), f, 8), 1);
	fixture_expect(&f[0], "outer", NULL, 0, false);
	symbolizer_free(sym);
	free(bytes);
	free(out);
}

static void test_replaced(void **state)
{
	struct symbolizer *sym;

	(void)state;
	make_split("");
	fixture_run("cc -g -O1 chain.c -o chain");
	sym = fixture_symbolizer(&none, "chain", "whole", 0);
	expect_unnamed(sym);
	assert_int_equal(symbolizer_module(sym, 0).state, SYMBOL_FILE_REPLACED);
	symbolizer_free(sym);

	file_by_id("debug");		/* the debug file of what ran still gives right names */
	sym = with_debug_dirs(0);
	expect_chain(sym, 0);
	assert_int_equal(symbolizer_module(sym, 0).state, SYMBOL_FILE_REPLACED);
	symbolizer_free(sym);

	/* no id at all is not the same id */
	fixture_run("cc -g -O2 -Wl,--build-id=none chain.c -o chain");
	sym = fixture_symbolizer(&none, "chain", "whole", 0);
	expect_unnamed(sym);
	assert_int_equal(symbolizer_module(sym, 0).state, SYMBOL_FILE_REPLACED);
	symbolizer_free(sym);
}

static void test_gone_and_bad(void **state)
{
	static const struct { const char *make; enum symbol_state state; } cases[] = {
		{ "rm -rf chain", SYMBOL_FILE_GONE },
		{ "echo 'no ELF file' > chain", SYMBOL_FILE_BAD },
		{ ": > chain", SYMBOL_FILE_BAD },
		{ "rm chain; mkdir chain", SYMBOL_FILE_BAD },
		{ "rmdir chain; mkfifo chain", SYMBOL_FILE_BAD },
		{ "rm chain; ln -s /dev/zero chain", SYMBOL_FILE_BAD },
		{ "rm chain; ln -s chain chain", SYMBOL_FILE_GONE },
	};

	(void)state;
	make_split("");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct symbolizer *sym;

		fixture_run("%s", cases[i].make);
		sym = fixture_symbolizer(&none, "chain", "whole", 0);
		expect_unnamed(sym);
		assert_int_equal(symbolizer_module(sym, 0).state, cases[i].state);
		symbolizer_free(sym);
	}
	fixture_run("rm chain");
}

static void test_deleted_suffix(void **state)
{
	struct symbolizer *sym;

	(void)state;
	make_split("");
	fixture_run("cp whole chain");
	sym = fixture_symbolizer(&none, "chain (deleted)", "whole", 0);
	expect_chain(sym, 0);
	symbolizer_free(sym);
}

static void test_root(void **state)
{
	struct symbolizer_options opt = { .full = true,
					  .debug_dirs = "/nonexistent",
					  .root = fixture_dir() };
	struct symbolizer *sym = symbolizer_new(&opt);

	(void)state;
	make_split("");
	assert_int_equal(symbolizer_add(sym, &(struct symbol_module){ .path = "/whole" }), 0);
	expect_chain(sym, 0);
	symbolizer_free(sym);
}

static void test_vdso(void **state)
{
	struct symbolizer *sym = symbolizer_new(NULL);
	uint64_t base = getauxval(AT_SYSINFO_EHDR);
	void *lib = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *function = lib ? dlsym(lib, "__vdso_gettimeofday") : NULL;
	struct symbol_frame f[2];

	(void)state;
	if (!function) {
		print_message("the C library does not show a vdso\n");
		symbolizer_free(sym);
		skip();
	}
	assert_int_equal(
		symbolizer_add(sym, &(struct symbol_module){ .path = "[vdso]", .bias = base }), 0);
	assert_int_equal(symbol_lookup(sym, 0, (uintptr_t)function + 1, f, 2), 1);
	/* the weak name, without underscores */
	fixture_expect(&f[0], "gettimeofday", NULL, 0, false);
	assert_int_equal(f[0].offset, 1);
	symbolizer_free(sym);
}

/* A server that hangs up on everybody, until its socket is shut down. */
struct server {
	int fd;
	int callers;
};

static void *serve(void *arg)
{
	struct server *s = arg;
	int fd;

	while ((fd = accept(s->fd, NULL, NULL)) >= 0) {
		s->callers++;
		close(fd);
	}
	return NULL;
}

/* Does a lookup in a program without debug information call the server? */
static bool asks_server(bool debuginfod)
{
	struct symbolizer_options opt = { .full = true,
					  .debug_dirs = "/nonexistent",
					  .debuginfod = debuginfod };
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct server s = { .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	socklen_t len = sizeof(at);
	struct symbolizer *sym;
	pthread_t thread;
	char url[64];

	assert_int_equal(bind(s.fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(s.fd, 4), 0);
	assert_int_equal(getsockname(s.fd, (struct sockaddr *)&at, &len), 0);
	assert_int_equal(pthread_create(&thread, NULL, serve, &s), 0);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/", ntohs(at.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", fixture_path("fetched"), 1);
	unsetenv("http_proxy");
	sym = fixture_symbolizer(&opt, "chain", "whole", 0);
	expect_unnamed(sym);
	symbolizer_free(sym);
	shutdown(s.fd, SHUT_RDWR);
	pthread_join(thread, NULL);
	close(s.fd);
	return s.callers > 0;
}

static void test_debuginfod(void **state)
{
	(void)state;
	make_split("");
	assert_false(asks_server(false));
	if (!dlopen("libdebuginfod.so.1", RTLD_NOW)) {
		print_message("libdebuginfod.so.1 is not installed\n");
		skip();
	}
	assert_true(asks_server(true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_build_id_directory),
		cmocka_unit_test(test_wrong_debug_file),
		cmocka_unit_test(test_shifted_debug_file),
		cmocka_unit_test(test_file_gone_debug_file_there),
		cmocka_unit_test(test_short_build_ids),
		cmocka_unit_test(test_debuglink),
		cmocka_unit_test(test_shared_dwarf),
		cmocka_unit_test(test_mini_debug_info),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_gone_and_bad),
		cmocka_unit_test(test_deleted_suffix),
		cmocka_unit_test(test_root),
		cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_debuginfod),
	};

	return cmocka_run_group_tests_name("symbol_files", tests, fixture_chain, NULL);
}
