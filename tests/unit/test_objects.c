/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/entries/objects.c, objects_symbols.c: this very process as it is read from outside, against
 * what its own loader and the files say.
 */
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/entries/objects.h"

static struct objects objects;

static int open_self(void **state)
{
	(void)state;
	return objects_open(getpid(), &objects, NULL);
}

static int close_self(void **state)
{
	(void)state;
	objects_close(&objects);
	return 0;
}

static const struct object *object_with(uint64_t bias)
{
	for (size_t i = 0; i < objects.nr; i++)
		if (objects.v[i].bias == bias)
			return &objects.v[i];
	return NULL;
}

/* ---- objects --------------------------------------------------------------------------------- */

struct walk {
	size_t nr, nr_code;
};

static int compare_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	uint64_t start = UINT64_MAX, stop = 0, code_start = UINT64_MAX, code_end = 0;
	const struct object *o = object_with(info->dlpi_addr);
	struct walk *w = arg;
	bool vdso = false, loader = false;

	(void)size;
	assert_non_null(o);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t at = info->dlpi_addr + ph->p_vaddr;

		loader |= ph->p_type == PT_INTERP;
		if (ph->p_type != PT_LOAD)
			continue;
		vdso |= at == getauxval(AT_SYSINFO_EHDR);
		start = at < start ? at : start;
		stop = at + ph->p_memsz > stop ? at + ph->p_memsz : stop;
		if (!(ph->p_flags & PF_X))
			continue;
		code_start = at < code_start ? at : code_start;
		code_end = at + ph->p_memsz > code_end ? at + ph->p_memsz : code_end;
		w->nr_code++;
	}
	assert_int_equal(o->start, start);
	assert_int_equal(o->end, stop);
	assert_int_equal(o->code_start, code_start);
	assert_int_equal(o->code_end, code_end);
	assert_int_equal(o->is_vdso, vdso);
	assert_int_equal(o->has_loader, loader);
	assert_int_equal(o->is_program, !w->nr);	/* the first one */
	w->nr++;
	return 0;
}

static void they_lie_where_the_loader_has_put_them(void **state)
{
	struct walk w = { 0, 0 };
	char exe[4096] = "";
	struct stat st;

	(void)state;
	dl_iterate_phdr(compare_object, &w);
	assert_int_equal(objects.nr, w.nr);
	assert_true(w.nr >= 4 && w.nr_code >= w.nr);
	assert_true(objects.linked);
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	for (size_t i = 0; i < objects.nr; i++) {
		const struct object *o = &objects.v[i];

		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(objects.v[k].order, o->order);
		if (o->is_program)
			assert_string_equal(o->path, exe);
		if (o->is_vdso)
			continue;
		assert_int_equal(stat(o->path, &st), 0);
		assert_int_equal(o->ino, st.st_ino);
		assert_true(o->map_start <= o->start && o->map_end > o->map_start);
	}
}

/* ---- symbols --------------------------------------------------------------------------------- */

struct seen {
	uint64_t sum, of_malloc;
	unsigned nr;
};

static uint64_t hash_of(const char *name, uint64_t address, uint64_t size, unsigned type)
{
	uint64_t h = 14695981039346656037ull;

	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * 1099511628211ull;
	return (h ^ address) * 1099511628211ull + size * 31 + type;
}

static void note(void *arg, const struct object_symbol *s)
{
	struct seen *seen = arg;

	seen->nr++;
	seen->sum += hash_of(s->name, s->address, s->size, s->type);
	if (!strcmp(s->name, "malloc"))
		seen->of_malloc = s->address;
}

/* The same of the file's section of dynamic symbols. */
static struct seen seen_in_file(const struct object *o)
{
	struct seen seen = { 0, 0, 0 };
	int fd = open(o->path, O_RDONLY);
	struct stat st;
	const Elf64_Ehdr *eh;
	const Elf64_Shdr *sh;
	char *file;

	assert_true(fd >= 0 && !fstat(fd, &st));
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(file, MAP_FAILED);
	close(fd);
	eh = (const Elf64_Ehdr *)file;
	sh = (const Elf64_Shdr *)(file + eh->e_shoff);
	for (unsigned i = 0; i < eh->e_shnum; i++) {
		const Elf64_Sym *sym = (const Elf64_Sym *)(file + sh[i].sh_offset);

		if (sh[i].sh_type != SHT_DYNSYM)
			continue;
		for (uint64_t k = 1; k < sh[i].sh_size / sizeof(*sym); k++) {
			uint64_t address = o->bias + sym[k].st_value;

			if (sym[k].st_shndx == SHN_UNDEF || sym[k].st_shndx == SHN_ABS ||
			    ELF64_ST_TYPE(sym[k].st_info) == STT_TLS || address < o->start ||
			    address >= o->end)
				continue;
			seen.nr++;
			seen.sum += hash_of(file + sh[sh[i].sh_link].sh_offset + sym[k].st_name,
					    address, sym[k].st_size, ELF64_ST_TYPE(sym[k].st_info));
		}
	}
	munmap(file, (size_t)st.st_size);
	return seen;
}

static void their_symbols_are_those_of_the_files(void **state)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	unsigned nr_with = 0, nr = 0;
	bool has_malloc = false;

	(void)state;
	assert_non_null(libc);
	for (size_t i = 0; i < objects.nr; i++) {
		const struct object *o = &objects.v[i];
		struct seen got = { 0, 0, 0 }, wanted;
		uint64_t before = objects.symbol_bytes;
		int rc = object_symbols(&objects, o, note, &got);

		if (o->is_vdso) {
			assert_int_equal(rc, 0);
			assert_true(got.nr > 0);
			continue;
		}
		wanted = seen_in_file(o);
		assert_int_equal(got.nr, wanted.nr);
		assert_int_equal(got.sum, wanted.sum);
		nr_with += got.nr > 0;
		nr += got.nr;
		if (!rc)
			assert_true(objects.symbol_bytes - before >=
				    o->strings_bytes + 24 * got.nr);
		has_malloc |= got.of_malloc && got.of_malloc == (uint64_t)dlsym(libc, "malloc");
	}
	assert_true(has_malloc);
	assert_true(nr_with >= 3 && nr > 2000);
	dlclose(libc);
}

/* One that says it has more than it has: nothing, and no harm. */
static void damaged_tables_have_none(void **state)
{
	struct object o = { 0 };
	struct seen got = { 0, 0, 0 };

	(void)state;
	assert_int_equal(object_symbols(&objects, &o, note, &got), -ENODATA);
	for (size_t i = 0; i < objects.nr; i++)
		if (objects.v[i].gnu_hash && objects.v[i].strings)
			o = objects.v[i];
	assert_true(o.symbols != 0);
	o.strings_bytes = 1ull << 40;
	assert_int_equal(object_symbols(&objects, &o, note, &got), -ENODATA);
	o.strings_bytes = 16;
	o.strings = 8;
	assert_int_equal(object_symbols(&objects, &o, note, &got), -EFAULT);
	o.strings = o.symbols;
	o.gnu_hash = 8;
	o.hash = 0;
	assert_int_equal(object_symbols(&objects, &o, note, &got), -ENODATA);
	assert_int_equal(got.nr, 0);
	objects.symbol_bytes = 4ull << 30;		/* of all tables together */
	for (size_t i = 0; i < objects.nr; i++)
		assert_int_not_equal(object_symbols(&objects, &objects.v[i], note, &got), 0);
	assert_int_equal(got.nr, 0);
}

static void slots_have_the_names_of_what_they_lead_to(void **state)
{
	unsigned nr = 0;
	char name[64], cut[5];

	(void)state;
	for (size_t i = 0; i < objects.nr; i++) {
		const struct object *o = &objects.v[i];
		const Elf64_Rela *rela = (const Elf64_Rela *)o->jmprel;

		for (size_t k = 0; rela && k < o->jmprel_bytes / sizeof(*rela); k++) {
			const Elf64_Sym *sym = (const Elf64_Sym *)o->symbols +
					       ELF64_R_SYM(rela[k].r_info);
			const char *wanted = (const char *)o->strings + sym->st_name;

			if (ELF64_R_TYPE(rela[k].r_info) != R_X86_64_JUMP_SLOT)
				continue;
			object_slot_name(&objects, o, o->bias + rela[k].r_offset, name,
					 sizeof(name));
			assert_memory_equal(name, wanted, strlen(name));
			assert_int_equal(strlen(name), strlen(wanted) < 63 ? strlen(wanted) : 63);
			object_slot_name(&objects, o, o->bias + rela[k].r_offset, cut, sizeof(cut));
			assert_int_equal(strlen(cut), strlen(wanted) < 4 ? strlen(wanted) : 4);
			if (nr++ > 300)
				return;
		}
		object_slot_name(&objects, o, 8, name, sizeof(name));
		assert_string_equal(name, "");
	}
}

static void who_is_not_there_has_none(void **state)
{
	struct objects o;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(objects_open(0x7ffffff0, &o, &e), -ESRCH);
	assert_string_not_equal(e.text, "");
	objects_close(&o);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, open_self, close_self)
	const struct CMUnitTest tests[] = {
		TEST(they_lie_where_the_loader_has_put_them),
		TEST(their_symbols_are_those_of_the_files),
		TEST(damaged_tables_have_none),
		TEST(slots_have_the_names_of_what_they_lead_to),
		cmocka_unit_test(who_is_not_there_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
