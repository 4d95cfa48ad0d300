/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ELF symbols of a module's data. */
#include "src/symbol/datatab.h"

#include <errno.h>
#include <string.h>

/* symbols looked at before an address: more do not overlap in linked files */
#define BACK_MAX	64
#define NAME_MAX_BYTES	8192

static bool wanted(const GElf_Sym *s)
{
	unsigned type = GELF_ST_TYPE(s->st_info);

	return s->st_shndx != SHN_UNDEF && s->st_shndx != SHN_ABS && s->st_name && s->st_size &&
	       s->st_size <= UINT64_MAX - s->st_value &&
	       (type == STT_OBJECT || type == STT_TLS || type == STT_COMMON);
}

int datatab_add(struct datatab *t, const struct elf_file *f, unsigned type, uint64_t shift)
{
	size_t before = t->entries.nr, nr, strings;
	Elf_Data *data = t->nr_sources < 2 ? elf_file_symbols(f, type, &nr, &strings) : NULL;

	if (!data)
		return -ENOENT;
	for (size_t i = 1; i < nr; i++) {
		bool tls;
		GElf_Sym s;

		if (!gelf_getsym(data, (int)i, &s) || !wanted(&s))
			continue;
		tls = GELF_ST_TYPE(s.st_info) == STT_TLS;
		if (vec_push(&t->entries, (struct datatab_entry){
						  .address = s.st_value + (tls ? 0 : shift),
						  .end = s.st_value + s.st_size + (tls ? 0 : shift),
						  .name = s.st_name,
						  .source = (uint8_t)t->nr_sources,
						  .rank = GELF_ST_BIND(s.st_info) != STB_GLOBAL,
						  .tls = tls }))
			return -ENOMEM;
	}
	t->source[t->nr_sources].elf = f->elf;
	t->source[t->nr_sources++].strings = strings;
	t->sorted = false;
	return (int)(t->entries.nr - before);
}

static int by_address(const void *a, const void *b)
{
	const struct datatab_entry *x = a, *y = b;

	if (x->tls != y->tls)
		return x->tls ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->rank - y->rank;
}

static const char *name_of(const struct datatab *t, const struct datatab_entry *e)
{
	const char *name = elf_strptr(t->source[e->source].elf, t->source[e->source].strings,
				      e->name);

	return name && *name && strnlen(name, NAME_MAX_BYTES) < NAME_MAX_BYTES ? name : NULL;
}

/*
 * Of names for one place (environ, __environ) the global one, then the one with the fewest
 * underscores.
 */
static bool is_better(const struct datatab_entry *a, const char *name_a,
		      const struct datatab_entry *b, const char *name_b)
{
	if (a->address != b->address)
		return a->address > b->address;
	if (strspn(name_a, "_") != strspn(name_b, "_"))
		return strspn(name_a, "_") < strspn(name_b, "_");
	return a->rank < b->rank;
}

const char *datatab_find(struct datatab *t, uint64_t address, bool tls, uint64_t *start,
			 uint64_t *end)
{
	const struct datatab_entry *best = NULL;
	const char *best_name = NULL;
	size_t at;

	if (!t->sorted)
		vec_sort(&t->entries, by_address);
	t->sorted = true;
	at = vec_while(&t->entries, e, e->tls != tls ? e->tls : e->address <= address);
	for (unsigned i = 0; i < BACK_MAX && at > 0; i++) {
		const struct datatab_entry *e = &t->entries.v[--at];
		const char *name;

		if (e->tls != tls || address >= e->end)
			continue;
		name = name_of(t, e);
		if (name && (!best || is_better(e, name, best, best_name))) {
			best = e;
			best_name = name;
		}
	}
	if (!best)
		return NULL;
	*start = best->address;
	*end = best->end;
	return best_name;
}

void datatab_fini(struct datatab *t)
{
	vec_fini(&t->entries);
	*t = (struct datatab){ 0 };
}
