/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ELF symbols of a module's code, from up to three tables, by address.
 *
 * Names are read when asked for. The first few lookups scan the table, for sorting costs as much as
 * hundreds of scans; then it is sorted, by numbers only. A symbol without size (assembler labels)
 * reaches to the next symbol or the end of its section; in .dynsym it is not used, since most
 * functions around it are not there. Where symbols share an address (malloc, __libc_malloc) the one
 * wins that others can link to, then the least underscored, the strong, the shortest one.
 */
#include "src/symbol/symtab.h"

#include <string.h>

#define SCANS_MAX	16
/* symbols looked at before the nearest; more overlap than that is nonsense */
#define BACK_MAX	64
#define SAME_MAX	1024	/* symbols at one address; more than that is damage */
#define NAME_MAX_BYTES	8192	/* of a name that is one; compared with others of its address */

enum { RANK_WEAK = 1, RANK_LOCAL = 2, RANK_LABEL = 4 };

static uint8_t rank_of(const GElf_Sym *s)
{
	static const uint8_t of_bind[] = {
		[STB_LOCAL] = RANK_LOCAL, [STB_GLOBAL] = 0, [STB_WEAK] = RANK_WEAK
	};
	unsigned bind = GELF_ST_BIND(s->st_info);
	uint8_t rank = bind < sizeof(of_bind) ? of_bind[bind] : RANK_LOCAL;

	return GELF_ST_TYPE(s->st_info) == STT_NOTYPE ? rank | RANK_LABEL : rank;
}

static bool wanted(const GElf_Sym *s)
{
	unsigned type = GELF_ST_TYPE(s->st_info);

	if (s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS || !s->st_name)
		return false;
	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

static uint64_t section_end(const struct elf_file *f, const GElf_Sym *s)
{
	Elf_Scn *scn = s->st_shndx < SHN_LORESERVE ? elf_getscn(f->elf, s->st_shndx) : NULL;
	GElf_Shdr header;

	if (!scn || !gelf_getshdr(scn, &header) || header.sh_size > UINT64_MAX - header.sh_addr)
		return s->st_value;
	return header.sh_addr + header.sh_size;
}

/* 0 also if the symbol is not wanted; -ENOMEM. */
static int add_symbol(struct symtab *t, const struct elf_file *f, const GElf_Sym *s,
		      const struct elf_file *code, uint64_t shift)
{
	struct symtab_entry e = {
		.address = s->st_value + shift,
		.end = s->st_value + s->st_size + shift,
		.name = s->st_name,
		.source = (uint8_t)t->nr_sources,
		.rank = rank_of(s),
		.sizeless = !s->st_size,
	};

	if (!wanted(s) || !elf_file_is_code(code, e.address))
		return 0;
	if (e.sizeless)
		e.end = section_end(f, s) + shift;
	return e.end <= e.address ? 0 : vec_push(&t->entries, e);
}

int symtab_add(struct symtab *t, const struct elf_file *f, unsigned type,
	       const struct elf_file *code, uint64_t shift)
{
	size_t before = t->entries.nr, nr, strings;
	Elf_Data *data = t->nr_sources < SYMTAB_SOURCES_MAX
				 ? elf_file_symbols(f, type, &nr, &strings)
				 : NULL;

	if (!data)
		return -ENOENT;
	for (size_t i = 1; i < nr; i++) {
		GElf_Sym s;

		if (!gelf_getsym(data, (int)i, &s) || (type == SHT_DYNSYM && !s.st_size))
			continue;
		if (add_symbol(t, f, &s, code, shift))
			return -ENOMEM;
	}
	t->source[t->nr_sources].elf = f->elf;
	t->source[t->nr_sources++].strings = strings;
	t->sorted = false;
	return (int)(t->entries.nr - before);
}

static int by_address(const void *a, const void *b)
{
	const struct symtab_entry *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static void sort(struct symtab *t)
{
	uint64_t reach = 0;

	vec_sort(&t->entries, by_address);
	vec_each(&t->entries, e) {
		if (!e->sizeless && e->end > reach)
			reach = e->end;
		e->reach = reach;
	}
	t->sorted = true;
}

static const char *name_of(const struct symtab *t, const struct symtab_entry *e)
{
	const char *name = elf_strptr(t->source[e->source].elf, t->source[e->source].strings,
				      e->name);

	return name && strnlen(name, NAME_MAX_BYTES) < NAME_MAX_BYTES ? name : NULL;
}

/*
 * Is `a` the better of two symbols for one address? Where a library exports a function under a name
 * of its own as well (newlocale, __newlocale) the public one is the weak one as a rule, so
 * underscores count before that.
 */
static bool is_better(const struct symtab_entry *a, const char *name_a,
		      const struct symtab_entry *b, const char *name_b)
{
	uint8_t kind_a = a->rank & ~RANK_WEAK, kind_b = b->rank & ~RANK_WEAK;
	size_t under_a = strspn(name_a, "_"), under_b = strspn(name_b, "_");
	size_t len_a = strlen(name_a), len_b = strlen(name_b);

	if (kind_a != kind_b)
		return kind_a < kind_b;
	if (under_a != under_b)
		return under_a < under_b;
	if (a->rank != b->rank)
		return a->rank < b->rank;
	if (len_a != len_b)
		return len_a < len_b;
	return strcmp(name_a, name_b) < 0;
}

/* The best name among entries from..to that start at `entry` and reach to `address`. */
static const char *best_name(const struct symtab *t, size_t from, size_t to, uint64_t entry,
			     uint64_t address)
{
	const struct symtab_entry *best = NULL;
	const char *text = NULL;

	for (size_t i = from; i < to; i++) {
		const struct symtab_entry *e = &t->entries.v[i];
		const char *name;

		if (e->address != entry || address >= e->end)
			continue;
		name = name_of(t, e);
		if (!name || !*name || (best && !is_better(e, name, best, text)))
			continue;
		best = e;
		text = name;
	}
	return text;
}

/* Narrow [*from, *to) to the entries that can matter for an address. */
static void narrow(struct symtab *t, uint64_t address, size_t *from, size_t *to)
{
	*from = 0;
	*to = t->entries.nr;
	if (!t->sorted && t->nr_scans++ < SCANS_MAX)
		return;
	if (!t->sorted)
		sort(t);
	*from = *to = vec_while(&t->entries, e, e->address <= address);
	while (*from && *to - *from < BACK_MAX && t->entries.v[*from - 1].reach > address)
		--*from;
	while (*from && *to - *from < SAME_MAX &&
	       t->entries.v[*from - 1].address == t->entries.v[*to - 1].address)
		--*from;
}

const char *symtab_find(struct symtab *t, uint64_t address, uint64_t *entry)
{
	const struct symtab_entry *around = NULL, *nearest = NULL;
	size_t from, to;

	narrow(t, address, &from, &to);
	for (size_t i = from; i < to; i++) {
		const struct symtab_entry *e = &t->entries.v[i];

		if (e->address > address)
			continue;
		if (!e->sizeless && address < e->end && (!around || e->address > around->address))
			around = e;
		if (!nearest || e->address > nearest->address ||
		    (e->address == nearest->address && e->sizeless))
			nearest = e;
	}
	if (!around && nearest && nearest->sizeless)
		around = nearest;
	if (!around)
		return NULL;
	*entry = around->address;
	return best_name(t, from, to, around->address, address);
}

void symtab_fini(struct symtab *t)
{
	vec_fini(&t->entries);
	*t = (struct symtab){ 0 };
}
