/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/inject/image.c: a small shared object is laid out and relocated; each thing that is wrong
 * with it is refused.
 * Also of src/base/io.c.
 */
#include "tests/unit/unit.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/remote_arch.h"
#include "src/inject/image.h"

#define PAGE	4096u
#define NR_HOOKS 64u

/*
 * Two segments: text with tables, and data; addresses are offsets in the file, but for the data's.
 */
struct object {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[5];
	Elf64_Sym sym[4];
	char strings[64];
	uint32_t hash[2];
	Elf64_Rela rela[2];
	Elf64_Dyn dyn[8];
	uint8_t start[16];
	uint64_t data[NR_HOOKS];
};

#define DATA_AT	(3ull * PAGE + offsetof(struct object, data))
_Static_assert(NR_HOOKS >= PMM_NR_ROLES, "hooks for all roles");
_Static_assert(sizeof(struct object) < PAGE, "its text is one page");

static char path[] = "/tmp/pmm-image-XXXXXX";

static struct object sound(void)
{
	struct object o = { .eh = { .e_ident = ELFMAG,
				    .e_type = ET_DYN,
				    .e_machine = EM_X86_64,
				    .e_phoff = offsetof(struct object, ph),
				    .e_phentsize = sizeof(Elf64_Phdr),
				    .e_phnum = 3 } };
	const uint64_t text_bytes = offsetof(struct object, data);

	o.eh.e_ident[EI_CLASS] = ELFCLASS64;
	o.ph[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
				.p_flags = PF_R | PF_X,
				.p_filesz = text_bytes,
				.p_memsz = text_bytes };
	o.ph[1] = (Elf64_Phdr){ .p_type = PT_LOAD,
				.p_flags = PF_R | PF_W,
				.p_offset = text_bytes,
				.p_vaddr = DATA_AT,
				.p_filesz = sizeof(o.data),
				.p_memsz = 2 * PAGE };
	o.ph[2] = (Elf64_Phdr){ .p_type = PT_DYNAMIC,
				.p_vaddr = offsetof(struct object, dyn),
				.p_memsz = sizeof(o.dyn) };
	memcpy(o.strings, "\0inject_start\0inject_hooks\0other", 33);
	o.sym[1] = (Elf64_Sym){ .st_name = 27, .st_shndx = 1, .st_value = 8 };
	o.sym[2] = (Elf64_Sym){ .st_name = 1,
				.st_shndx = 1,
				.st_value = offsetof(struct object, start) };
	o.sym[3] = (Elf64_Sym){ .st_name = 14, .st_shndx = 1, .st_value = DATA_AT };
	o.hash[0] = 1, o.hash[1] = 4;
	o.rela[0] = (Elf64_Rela){ DATA_AT, R_X86_64_RELATIVE, 0x111 };
	o.rela[1] = (Elf64_Rela){ DATA_AT + 16, R_X86_64_RELATIVE, 0x222 };
	o.dyn[0] = (Elf64_Dyn){ DT_SYMTAB, { offsetof(struct object, sym) } };
	o.dyn[1] = (Elf64_Dyn){ DT_STRTAB, { offsetof(struct object, strings) } };
	o.dyn[2] = (Elf64_Dyn){ DT_STRSZ, { sizeof(o.strings) } };
	o.dyn[3] = (Elf64_Dyn){ DT_HASH, { offsetof(struct object, hash) } };
	o.dyn[4] = (Elf64_Dyn){ DT_RELA, { offsetof(struct object, rela) } };
	o.dyn[5] = (Elf64_Dyn){ DT_RELASZ, { sizeof(o.rela) } };
	o.data[1] = 0x77;
	return o;
}

static int load(const void *file, size_t bytes, struct image *im, struct err *e)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(file, 1, bytes, f), bytes);
	assert_int_equal(fclose(f), 0);
	return image_load(path, im, e);
}

static void it_lies_as_it_says(void **state)
{
	struct object o = sound();
	struct image im;

	(void)state;
	assert_int_equal(load(&o, sizeof(o), &im, NULL), 0);
	assert_int_equal(im.call, 6 * PAGE);			/* behind the data, whole pages */
	assert_int_equal(im.nr_bytes, 7 * PAGE);
	assert_int_equal(im.start, offsetof(struct object, start));
	assert_int_equal(im.hooks, DATA_AT);
	assert_int_equal(im.nr_parts, 3);
	assert_int_equal(im.part[0].offset, 0);
	assert_int_equal(im.part[0].bytes, PAGE);
	assert_int_equal(im.part[0].prot, PROT_READ | PROT_EXEC);
	assert_int_equal(im.part[1].offset, 3 * PAGE);
	assert_int_equal(im.part[1].bytes, 3 * PAGE);
	assert_int_equal(im.part[1].prot, PROT_READ | PROT_WRITE);
	assert_int_equal(im.part[2].offset, 6 * PAGE);
	assert_int_equal(im.part[2].bytes, PAGE);
	assert_int_equal(im.part[2].prot, PROT_READ | PROT_EXEC);
	assert_memory_equal(im.bytes, &o, offsetof(struct object, data));
	assert_memory_equal(im.bytes + im.call, arch_call_code, sizeof(arch_call_code));
	assert_int_equal(image_hook(&im, 0), 0x111);		/* as for address 0 */
	assert_int_equal(image_hook(&im, 1), 0x77);
	assert_int_equal(image_hook(&im, 2), 0x222);
	assert_int_equal(image_hook(&im, 3), 0);
	image_place(&im, 0x7f0000000000);
	assert_int_equal(im.base, 0x7f0000000000);
	assert_int_equal(image_hook(&im, 0), 0x7f0000000111);
	assert_int_equal(image_hook(&im, 1), 0x77);
	assert_int_equal(image_hook(&im, 2), 0x7f0000000222);
	image_fini(&im);
	assert_null(im.bytes);
	image_fini(&im);
}

/* ---- what is wrong --------------------------------------------------------------------------- */

static void refused(const struct object *o, size_t bytes, const char *why, int line)
{
	struct err e = { 0 };
	struct image im;

	if (load(o, bytes, &im, &e) != -EBADMSG || !strstr(e.text, why))
		fail_msg("line %d: '%s' is not '%s'", line, e.text, why);
	assert_null(im.bytes);
	assert_string_equal(e.hint, "install pmm again");
}

#define REFUSED(change, why)                                                                       \
	do {                                                                                       \
		struct object o = sound();                                                         \
		change;                                                                            \
		refused(&o, sizeof(o), why, __LINE__);                                             \
	} while (0)
#define LOADS(change)                                                                              \
	do {                                                                                       \
		struct object o = sound();                                                         \
		struct image im;                                                                   \
		change;                                                                            \
		assert_int_equal(load(&o, sizeof(o), &im, NULL), 0);                               \
		image_fini(&im);                                                                   \
	} while (0)

static void heads_are_looked_at(void **state)
{
	const char *why = "it is no shared object for x86-64";
	const struct object whole = sound();

	(void)state;
	REFUSED(o.eh.e_ident[1]++, why);
	REFUSED(o.eh.e_ident[EI_CLASS] = ELFCLASS32, why);
	REFUSED(o.eh.e_machine = EM_AARCH64, why);
	REFUSED(o.eh.e_type = ET_EXEC, why);
	REFUSED(o.eh.e_phentsize--, why);
	REFUSED(o.eh.e_phoff = sizeof(o) - 3 * sizeof(Elf64_Phdr) + 1, why);
	REFUSED(o.eh.e_phoff = UINT64_MAX - 8, why);
	refused(&whole, sizeof(Elf64_Ehdr) - 1, "its size makes no sense", __LINE__);
	refused(&whole, 0, "its size makes no sense", __LINE__);
}

static void segments_are_looked_at(void **state)
{
	const char *why = "its segments make no sense";

	(void)state;
	REFUSED(o.ph[0].p_filesz = sizeof(o) + 1, why);
	REFUSED(o.ph[0].p_filesz = o.ph[0].p_memsz + 1, why);
	REFUSED(o.ph[1].p_offset = sizeof(o) - sizeof(o.data) + 1, why);
	REFUSED(o.ph[1].p_offset = UINT64_MAX, why);
	REFUSED(o.ph[1].p_vaddr = UINT64_MAX - PAGE, why);
	REFUSED(o.ph[1].p_memsz = 17 << 20, why);
	REFUSED(o.ph[0].p_type = o.ph[1].p_type = PT_NOTE, why);
	REFUSED((o.eh.e_phnum = 4, o.ph[3].p_type = PT_TLS), why);
	LOADS((o.eh.e_phnum = 4, o.ph[3].p_type = PT_NOTE));
	LOADS(o.ph[0].p_flags = PF_R);
}

static void the_dynamic_section_is_looked_at(void **state)
{
	const char *why = "its segments make no sense";

	(void)state;
	REFUSED(o.ph[2].p_type = PT_NOTE, why);
	REFUSED(o.ph[2].p_vaddr = 7 * PAGE - sizeof(o.dyn) + 1, why);
	REFUSED(o.dyn[0].d_un.d_ptr = 7 * PAGE + 1, why);
	REFUSED(o.dyn[1].d_un.d_ptr = 7 * PAGE - 63, why);
	REFUSED(o.dyn[2].d_un.d_val = 0, why);
	REFUSED(o.dyn[3].d_tag = DT_DEBUG, why);
	REFUSED(o.dyn[3].d_un.d_ptr = 7 * PAGE - 7, why);
	REFUSED(o.dyn[5].d_un.d_val = 7 * PAGE, why);
	REFUSED(o.dyn[6].d_tag = DT_JMPREL, why);
	REFUSED(o.dyn[6].d_tag = DT_NEEDED, why);
	REFUSED(o.dyn[6].d_tag = DT_INIT, why);
	REFUSED(o.dyn[6].d_tag = DT_INIT_ARRAY, why);
	LOADS(o.dyn[6].d_tag = DT_DEBUG);
	/* behind the end, which entry 6 is */
	LOADS(o.dyn[7].d_tag = DT_INIT);
}

static void relocations_are_looked_at(void **state)
{
	const char *why = "it needs more than RELATIVE relocations";

	(void)state;
	REFUSED(o.rela[1].r_info = R_X86_64_64, why);
	REFUSED(o.rela[0].r_offset = 7 * PAGE - 7, why);
	REFUSED(o.rela[0].r_offset = UINT64_MAX, why);
	LOADS(o.rela[0].r_offset = 7 * PAGE - 8);
	LOADS(o.dyn[5].d_un.d_val = 0);
}

static void entry_points_are_looked_for(void **state)
{
	const char *why = "it lacks its entry points";

	(void)state;
	REFUSED(o.strings[1] = 'x', why);
	REFUSED(o.strings[25] = 'x', why);			/* longer than the name */
	REFUSED(o.sym[2].st_shndx = SHN_UNDEF, why);
	REFUSED(o.sym[3].st_value = 0, why);
	REFUSED(o.sym[3].st_value = 7 * PAGE - 8 * PMM_NR_ROLES + 8, why);
	REFUSED(o.sym[2].st_value = 7 * PAGE - 7, why);
	REFUSED(o.sym[3].st_name = sizeof(o.strings) - 5, why);
	REFUSED(o.hash[1] = 3, why);				/* the last one is not there */
	REFUSED(o.hash[1] = 1 << 20, why);
	LOADS(o.sym[3].st_value = 7 * PAGE - 8 * PMM_NR_ROLES);
}

static void files_that_cannot_be_read(void **state)
{
	struct err e = { 0 };
	struct image im;

	(void)state;
	assert_int_equal(image_load("/nonexistent/agent.so", &im, &e), -ENOENT);
	assert_string_equal(
		e.text, "cannot read the agent '/nonexistent/agent.so': No such file or directory");
	assert_null(im.bytes);
	assert_int_equal(image_load("/", &im, &e), -EISDIR);
	assert_string_equal(e.text, "cannot read the agent '/': Is a directory");
}

static int make(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 || close(fd);
}

static int clean(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_lies_as_it_says),
		cmocka_unit_test(heads_are_looked_at),
		cmocka_unit_test(segments_are_looked_at),
		cmocka_unit_test(the_dynamic_section_is_looked_at),
		cmocka_unit_test(relocations_are_looked_at),
		cmocka_unit_test(entry_points_are_looked_for),
		cmocka_unit_test(files_that_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, make, clean);
}
