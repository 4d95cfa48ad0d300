/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detours of the allocators that are installed: every function that would be patched can be, and
 * what its moved instructions are decodes to as many instructions.
 */
#include "tests/unit/unit.h"

#include <link.h>

#include "src/entries/detour.h"
#include "src/entries/entries_names.h"
#include "src/entries/insn.h"
#include "src/proc/elffile.h"
#include "tests/unit/file_image.h"
#include "tests/unit/libraries.h"

/* Bytes of the file at an ELF address; how many there are. */
static size_t code_at(const struct elf_file *f, uint64_t address, const uint8_t **code)
{
	size_t nr, size = 0;
	const uint8_t *image = file_image(f->path, &size);

	assert_int_equal(elf_getphdrnum(f->elf, &nr), 0);
	for (size_t i = 0; i < nr; i++) {
		GElf_Phdr ph;

		if (gelf_getphdr(f->elf, (int)i, &ph) && ph.p_type == PT_LOAD &&
		    address >= ph.p_vaddr && address - ph.p_vaddr < ph.p_filesz &&
		    ph.p_offset + ph.p_filesz <= size) {
			*code = image + ph.p_offset + (address - ph.p_vaddr);
			return ph.p_filesz - (address - ph.p_vaddr);
		}
	}
	return 0;
}

/* Number of instructions, and of calls among them. */
static unsigned count(const uint8_t *code, unsigned nr, unsigned *calls)
{
	struct insn in;
	unsigned n = 0;

	*calls = 0;
	for (unsigned at = 0; at < nr; at += in.length, n++) {
		assert_true(insn_decode(code + at, nr - at, at, &in));
		*calls += in.flow == INSN_FLOW_CALL || in.flow == INSN_FLOW_CALL_INDIRECT;
	}
	return n;
}

/* A jump behind the first instruction, which is among the moved ones unless it does nothing. */
static void assert_jump(const struct detour_function *f, const struct detour *d)
{
	unsigned boundaries = 0, calls, none, lead = d->boundary[0] != 0;
	struct insn first;

	for (unsigned i = 0; i < sizeof(d->boundary); i++)
		boundaries += d->boundary[i] != 0xff;
	assert_true(insn_decode(f->code, f->nr_code, f->address, &first));
	assert_int_equal(d->address, f->address + first.length);
	assert_int_equal(lead, memcmp(f->code, "\xf3\x0f\x1e\xfa", 4) != 0);
	assert_true(boundaries >= 1 && d->nr_moved >= 5 && d->boundary[0] != 0xff);
	/* padding is not moved */
	assert_true(count(d->original, d->nr_moved, &calls) >= boundaries);
	/*
	 * a jump behind it; a call becomes three: its return address pushed in two halves, and a
	 * jump
	 */
	assert_int_equal(count(d->moved, d->nr_moved_out, &none),
			 lead + boundaries + 2 * calls + 1);
	assert_int_equal(none, 0);
}

static void plan_one(const struct elf_file *f, const char *name, const struct entries_name *what,
		     uint64_t address, uint64_t size)
{
	const struct pmm_entry entry = { .role = what->role,
					 .arg_size = what->arg_size,
					 .arg_count = what->arg_count,
					 .arg_pointer = what->arg_pointer };
	struct detour_function df = { .address = address,
				      .size = size,
				      .keep = detour_keep(&entry) };
	struct err e = { 0 };
	struct detour d;

	df.nr_code = code_at(f, address, &df.code);
	assert_true(size > 0 && df.nr_code >= size);
	if (df.nr_code > size + 16)
		df.nr_code = size + 16;
	if (detour_plan(&df, 0x10000040, 0x10000060, &d, &e))
		fail_msg("%s: %s: %s", f->path, name, e.text);
	if (d.nr_bytes == 5) {
		assert_jump(&df, &d);
		return;
	}
	assert_int_equal(df.code[0], 0xe9);
	assert_int_equal(d.address, address + 1);
	assert_int_equal(d.nr_moved, 4);
}

static void test_library(void **state)
{
	const struct library *library = *state;
	struct entries_names names;
	struct elf_file f;
	GElf_Shdr header;
	Elf_Data *data;
	unsigned nr = 0;

	if (elf_file_open(&f, library->path))
		skip();			/* the test's name says what is missing */
	assert_int_equal(entries_names_init(&names), 0);
	data = elf_getdata(elf_file_section(&f, NULL, SHT_DYNSYM, &header), NULL);
	assert_non_null(data);
	for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
		const struct entries_name *name;
		enum names_prefix prefix;
		GElf_Sym sym;

		assert_non_null(gelf_getsym(data, (int)i, &sym));
		name = entries_names_find(&names, elf_strptr(f.elf, header.sh_link, sym.st_name),
					  &prefix);
		if (!name || !name->role || sym.st_shndx == SHN_UNDEF)
			continue;
		assert_int_equal(GELF_ST_TYPE(sym.st_info), STT_FUNC);
		plan_one(&f, elf_strptr(f.elf, header.sh_link, sym.st_name), name, sym.st_value,
			 sym.st_size);
		nr++;
	}
	assert_true(nr >= library->least);
	entries_names_fini(&names);
	elf_file_close(&f);
}

int main(void)
{
	struct CMUnitTest tests[NR(libraries)];

	for (size_t i = 0; i < NR(libraries); i++)
		tests[i] = (struct CMUnitTest){ strrchr(libraries[i].path, '/') + 1, test_library,
						NULL, NULL, (void *)&libraries[i] };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
