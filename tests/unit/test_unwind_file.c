/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/kernel/unwind_file.c: files as linkers make them, with and without a header of their unwind
 * information, and files that lie.
 */
#include "tests/unit/symbol_fixture.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/kernel/unwind_file.h"
#include "tests/unit/unit.h"

static int open_of(const char *name, struct unwind_file *f)
{
	int fd = open(name[0] == '/' ? name : fixture_path(name), O_RDONLY | O_CLOEXEC), rc;

	assert_return_code(fd, errno);
	rc = unwind_file_open(f, fd, name);
	if (!rc)
		rc = unwind_file_load(f, fd);
	close(fd);
	return rc;
}

static struct cfi_rule rule_at(const struct unwind_file *f, uint64_t address)
{
	struct cfi_rule rule;

	assert_true(f->cfi.start);
	cfi_rule_find(&f->cfi, unwind_file_pc(f, address), &rule);
	return rule;
}

/* main() at its first instruction, and nothing far behind the code. */
static void expect_main(const char *name, const char *symbols)
{
	uint64_t entry = fixture_address(symbols, "main");
	struct cfi_rule rule;
	struct unwind_file f;

	assert_int_equal(open_of(name, &f), 0);
	rule = rule_at(&f, entry);
	assert_int_equal(rule.kind, CFI_SP);
	assert_int_equal(rule.cfa_off, 8);
	assert_int_equal(rule.fp_off, 0);
	assert_int_equal(rule_at(&f, entry + (1 << 30)).kind, CFI_NONE);
	assert_int_equal(f.nr_code, 1);
	assert_in_range(entry, f.code[0].vaddr, f.code[0].vaddr + f.code[0].bytes - 1);
	unwind_file_unload(&f);
	assert_int_equal(f.cfi.start, 0);
}

static void programs_of_all_kinds(void **state)
{
	static const char *const how[] = { "", "-no-pie", "-static", "-static-pie",
					   "-fuse-ld=gold", "-Wl,-z,noseparate-code" };

	(void)state;
	for (size_t i = 0; i < NR(how); i++) {
		fixture_run("gcc -O1 -fomit-frame-pointer %s -o chain chain.c 2>/dev/null || "
			    "gcc -O1 -fomit-frame-pointer -o chain chain.c", how[i]);
		expect_main("chain", "chain");
		fixture_run("strip -o stripped chain");
		expect_main("stripped", "chain");
	}
}

/* gcc -static makes no .eh_frame_hdr: the section is what there is. */
static void without_a_header(void **state)
{
	struct unwind_file f;

	(void)state;
	fixture_run("gcc -O1 -static -Wl,--no-eh-frame-hdr -o bare chain.c");
	assert_int_equal(open_of("bare", &f), 0);
	assert_int_equal(f.hdr, 0);
	assert_int_equal(f.cfi.hdr, 0);
	assert_true(f.frame_bytes);
	assert_int_equal(f.bytes, f.frame_bytes);
	unwind_file_unload(&f);
	expect_main("bare", "bare");
}

/* Offsets of the file are addresses of code, and of nothing else. */
static void offsets_are_addresses(void **state)
{
	struct unwind_file f;
	uint64_t address;

	(void)state;
	fixture_run("gcc -O1 -o chain chain.c");
	assert_int_equal(open_of("chain", &f), 0);
	assert_int_equal(f.entry, fixture_address("chain", "_start"));
	assert_int_equal(f.init, fixture_address("chain", "_init"));
	assert_int_equal(f.fini, fixture_address("chain", "_fini"));
	assert_true(unwind_file_address(&f, f.code[0].offset, &address));
	assert_int_equal(address, f.code[0].vaddr);
	assert_true(unwind_file_address(&f, f.code[0].offset + f.code[0].bytes - 1, &address));
	assert_int_equal(address, f.code[0].vaddr + f.code[0].bytes - 1);
	assert_false(unwind_file_address(&f, f.code[0].offset + f.code[0].bytes, &address));
	assert_false(unwind_file_address(&f, f.code[0].offset - 1, &address));
	assert_false(unwind_file_address(&f, UINT64_MAX, &address));
	unwind_file_unload(&f);
}

static void the_kernel_s_own_library(void **state)
{
	const Elf64_Ehdr *eh = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct unwind_file f;

	(void)state;
	if (!eh)
		skip();
	assert_int_equal(unwind_file_open_vdso(&f), 0);
	assert_true(f.cfi.hdr);
	assert_memory_equal((void *)(uintptr_t)f.cfi.start, (const char *)eh + f.offset, f.bytes);
	unwind_file_unload(&f);
}

/* ---- files that lie -------------------------------------------------------------------------- */

struct forged {
	uint8_t *bytes;
	size_t nr;
	Elf64_Ehdr *eh;
	Elf64_Phdr *ph;
};

static struct forged forge(void)
{
	struct forged g = { 0 };

	g.bytes = fixture_read("chain", &g.nr);
	g.eh = (Elf64_Ehdr *)g.bytes;
	g.ph = (Elf64_Phdr *)(g.bytes + g.eh->e_phoff);
	return g;
}

static Elf64_Phdr *header_of(struct forged *g, uint32_t type, uint32_t flags)
{
	for (unsigned i = 0; i < g->eh->e_phnum; i++)
		if (g->ph[i].p_type == type && (g->ph[i].p_flags & flags) == flags)
			return &g->ph[i];
	fail();
	return NULL;
}

/* Written and opened, with its bytes released. */
static int open_forged(struct forged *g, struct unwind_file *f)
{
	fixture_write("forged", g->bytes, g->nr);
	free(g->bytes);
	return open_of("forged", f);
}

/* Without section headers the header of the unwind information is enough. */
static void without_sections(void **state)
{
	struct forged g = forge();
	struct unwind_file f;

	(void)state;
	g.eh->e_shoff = g.eh->e_shnum = g.eh->e_shstrndx = 0;
	assert_int_equal(open_forged(&g, &f), 0);
	assert_int_equal(f.frame_bytes, 0);
	assert_int_equal(f.init, 0);
	unwind_file_unload(&f);
	expect_main("forged", "chain");
}

static void no_information(void **state)
{
	struct forged g = forge();
	struct unwind_file f;

	(void)state;
	g.eh->e_shoff = g.eh->e_shnum = g.eh->e_shstrndx = 0;
	header_of(&g, PT_GNU_EH_FRAME, 0)->p_type = PT_NULL;
	assert_int_equal(open_forged(&g, &f), 0);
	assert_int_equal(f.bytes, 0);
	assert_int_equal(f.cfi.start, 0);

	/* one that is said to be where nothing is loaded */
	g = forge();
	g.eh->e_shoff = g.eh->e_shnum = g.eh->e_shstrndx = 0;
	header_of(&g, PT_GNU_EH_FRAME, 0)->p_vaddr = 0x7fffffff0000;
	assert_int_equal(open_forged(&g, &f), 0);
	assert_int_equal(f.cfi.start, 0);

	/* one that is larger than what it lies in */
	g = forge();
	g.eh->e_shoff = g.eh->e_shnum = g.eh->e_shstrndx = 0;
	header_of(&g, PT_GNU_EH_FRAME, 0)->p_filesz = UINT64_MAX - 100;
	assert_int_equal(open_forged(&g, &f), 0);
	assert_int_equal(f.cfi.start, 0);
}

/* More than is read; and more than the file has. */
static void too_much(void **state)
{
	struct forged g = forge();
	Elf64_Phdr *eh_frame, *load;
	struct unwind_file f;
	ptrdiff_t which;

	(void)state;
	g.eh->e_shoff = g.eh->e_shnum = g.eh->e_shstrndx = 0;
	eh_frame = header_of(&g, PT_GNU_EH_FRAME, 0);
	for (load = g.ph; load->p_type != PT_LOAD || eh_frame->p_vaddr - load->p_vaddr >=
							     load->p_filesz; load++)
		;
	which = load - g.ph;
	load->p_filesz = load->p_memsz = UNWIND_FILE_MAX_BYTES;
	assert_int_equal(open_forged(&g, &f), -EIO);
	assert_int_equal(f.cfi.start, 0);
	assert_false(f.too_large);

	g = forge();
	g.eh->e_shoff = g.eh->e_shnum = g.eh->e_shstrndx = 0;
	g.ph[which].p_filesz = UNWIND_FILE_MAX_BYTES + 1;
	fixture_write("forged", g.bytes, g.nr);
	free(g.bytes);
	assert_int_equal(truncate(fixture_path("forged"), 80 << 20), 0);
	assert_int_equal(open_of("forged", &f), 0);
	assert_true(f.too_large);
	assert_int_equal(f.cfi.start, 0);
}

static void no_file_of_this_processor(void **state)
{
	struct forged g = forge();
	struct unwind_file f;

	(void)state;
	g.eh->e_machine = EM_AARCH64;
	assert_int_equal(open_forged(&g, &f), -ENOEXEC);
	g = forge();
	g.eh->e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(open_forged(&g, &f), -ENOEXEC);
	g = forge();
	header_of(&g, PT_LOAD, PF_X)->p_flags = PF_R;
	assert_int_equal(open_forged(&g, &f), -ENOEXEC);
	fixture_write("forged", "#!/bin/sh\n", 10);
	assert_int_equal(open_of("forged", &f), -ENOEXEC);
	fixture_write("forged", "", 0);
	assert_int_equal(open_of("forged", &f), -ENOEXEC);
	assert_int_equal(open_of("/dev", &f), -ENOEXEC);
	assert_int_equal(open_of("/dev/null", &f), -ENOEXEC);
}

/* Any byte of the headers may be anything: there is an answer, and no memory is left. */
static void each_byte(void **state)
{
	struct forged g = forge();
	size_t headers = g.eh->e_phoff + g.eh->e_phnum * sizeof(*g.ph);
	uint8_t *bytes = g.bytes;

	(void)state;
	for (size_t i = 0; i < headers; i++) {
		for (int k = 0; k < 2; k++) {
			uint8_t former = bytes[i];
			struct unwind_file f;
			uint64_t address;
			int rc;

			bytes[i] = k ? 0xff : (uint8_t)(former ^ 1);
			fixture_write("forged", bytes, g.nr);
			rc = open_of("forged", &f);
			bytes[i] = former;
			assert_true(rc <= 0);
			if (f.cfi.start)
				rule_at(&f, f.entry);
			unwind_file_address(&f, 0x1000, &address);
			unwind_file_unload(&f);
		}
	}
	free(bytes);
}

static int begin(void **state)
{
	fixture_chain(state);
	fixture_run("gcc -O1 -fomit-frame-pointer -o chain chain.c");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(programs_of_all_kinds, begin),
		cmocka_unit_test_setup(without_a_header, begin),
		cmocka_unit_test_setup(offsets_are_addresses, begin),
		cmocka_unit_test(the_kernel_s_own_library),
		cmocka_unit_test_setup(without_sections, begin),
		cmocka_unit_test_setup(no_information, begin),
		cmocka_unit_test_setup(too_much, begin),
		cmocka_unit_test_setup(no_file_of_this_processor, begin),
		cmocka_unit_test_setup(each_byte, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
