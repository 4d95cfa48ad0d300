/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small programs compiled while the test runs, whose functions, lines and inlined calls are known
 * exactly.
 */
#include "tests/unit/symbol_fixture.h"

#include <unistd.h>

#include "tests/unit/unit.h"

#include "src/proc/elffile.h"
#include "src/symbol/symbolizer.h"

const char fixture_c[] =
	"static inline __attribute__((always_inline)) int inner(int n)\n"
	"{\n"
	"	__asm__ volatile(\".globl pc_inner\\npc_inner: nop\");\n" /* line 3 */
	"	return n + 1;\n"
	"}\n"
	"\n"
	"static inline __attribute__((always_inline)) int middle(int n)\n"
	"{\n"
	"	return inner(n) * 2;\n" /* line 9 */
	"}\n"
	"\n"
	"__attribute__((noinline)) int outer(int n)\n"
	"{\n"
	"	return middle(n) + 3;\n" /* line 14 */
	"}\n"
	"\n"
	"static __attribute__((noinline)) int hidden(int n)\n"
	"{\n"
	"	__asm__ volatile(\".globl pc_hidden\\npc_hidden: nop\");\n" /* line 19 */
	"	return n - 1;\n"
	"}\n"
	"\n"
	"__attribute__((noinline)) int unused(int n) { return n * 3; }\n"
	"\n"
	"__asm__(\".text\\n.globl bare\\nbare:\\nnop\\npc_bare:\\nnop\\nret\\n\");\n"
	"\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	(void)argv;\n"
	"	return outer(argc) + hidden(argc);\n"
	"}\n";

const char fixture_cc[] =
	"namespace shop { namespace {\n"
	"struct till {\n"
	"	__attribute__((noinline)) int ring(int n)\n"
	"	{\n"
	"		__asm__ volatile(\".globl pc_ring\\npc_ring: nop\");\n" /* line 5 */
	"		return n;\n"
	"	}\n"
	"};\n"
	"}\n"
	"template <typename T> struct shelf {\n"
	"	__attribute__((always_inline)) T take(T n)\n"
	"	{\n"
	"		__asm__ volatile(\".globl pc_take\\npc_take: nop\");\n" /* line 13 */
	"		return n + 1;\n"
	"	}\n"
	"};\n"
	"__attribute__((noinline)) long sell(long n)\n"
	"{\n"
	"	shelf<long> s;\n"
	"	till t;\n"
	"	auto price = [&](long k) __attribute__((noinline)) {\n"
	"		__asm__ volatile(\".globl pc_lambda\\npc_lambda: nop\");\n" /* line 22 */
	"		return k + n;\n"
	"	};\n"
	"	return s.take(n) + t.ring((int)n) + price(n);\n" /* line 25 */
	"}\n"
	"}\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	(void)argv;\n"
	"	return (int)shop::sell(argc);\n"
	"}\n";

static char dir[64];

static void remove_dir(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	if (system(command))
		perror(command);
}

const char *fixture_dir(void)
{
	if (!dir[0]) {
		strcpy(dir, "/tmp/pmm-symbol-XXXXXX");
		if (!mkdtemp(dir))
			abort();
		atexit(remove_dir);
	}
	return dir;
}

const char *fixture_path(const char *name)
{
	static char paths[8][256];
	static unsigned turn;
	char *path = paths[turn++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", fixture_dir(), name);
	return path;
}

void fixture_write(const char *name, const void *bytes, size_t size)
{
	FILE *f = fopen(fixture_path(name), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

int fixture_chain(void **state)
{
	(void)state;
	fixture_write("chain.c", fixture_c, strlen(fixture_c));
	return 0;
}

void *fixture_read(const char *name, size_t *size)
{
	FILE *f = fopen(fixture_path(name), "r");
	char *bytes;

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	*size = (size_t)ftell(f);
	rewind(f);
	bytes = malloc(*size + 1);
	assert_int_equal(fread(bytes, 1, *size, f), *size);
	fclose(f);
	return bytes;
}

void fixture_run(const char *fmt, ...)
{
	char command[1024];
	va_list args;
	int n = snprintf(command, sizeof(command), "cd '%s' && ", fixture_dir());

	va_start(args, fmt);
	vsnprintf(command + n, sizeof(command) - (size_t)n, fmt, args);
	va_end(args);
	if (system(command))
		fail_msg("command failed: %s", command);
}

uint64_t fixture_address(const char *name, const char *symbol)
{
	struct elf_file f;
	GElf_Shdr header;
	Elf_Data *data;
	Elf_Scn *scn;

	assert_int_equal(elf_file_open(&f, fixture_path(name)), 0);
	scn = elf_file_section(&f, NULL, SHT_SYMTAB, &header);
	assert_non_null(scn);
	data = elf_getdata(scn, NULL);
	for (int i = 0; i < (int)(header.sh_size / header.sh_entsize); i++) {
		GElf_Sym s;

		if (gelf_getsym(data, i, &s) &&
		    !strcmp(elf_strptr(f.elf, header.sh_link, s.st_name), symbol)) {
			elf_file_close(&f);
			return s.st_value;
		}
	}
	fail_msg("no symbol '%s' in %s", symbol, name);
	return 0;
}

size_t fixture_build_id(const char *name, uint8_t id[64])
{
	struct elf_file f;
	size_t len;

	assert_int_equal(elf_file_open(&f, fixture_path(name)), 0);
	len = f.build_id_len;
	memcpy(id, f.build_id, len);
	elf_file_close(&f);
	return len;
}

struct symbolizer *fixture_symbolizer(const struct symbolizer_options *opt, const char *name,
				      const char *id_of, uint64_t bias)
{
	struct symbolizer *sym = symbolizer_new(opt);
	uint8_t id[64];
	struct symbol_module m = { .path = fixture_path(name), .build_id = id, .bias = bias };

	assert_non_null(sym);
	if (id_of)
		m.build_id_len = fixture_build_id(id_of, id);
	assert_int_equal(symbolizer_add(sym, &m), 0);
	return sym;
}

void fixture_close_files(struct symbolizer *sym)
{
	vec_each(&sym->objects, o)
		object_close(&(*o)->object, &sym->options);
}

void fixture_expect(const struct symbol_frame *f, const char *function, const char *file,
		    uint32_t line, bool inlined)
{
	assert_string_equal(f->function, function);
	if (file) {
		assert_non_null(f->file);
		assert_string_equal(strrchr(f->file, '/') + 1, file);
	} else {
		assert_null(f->file);
	}
	assert_int_equal(f->line, line);
	assert_int_equal(f->inlined, inlined);
}
