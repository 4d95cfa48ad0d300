/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dynamic symbols of a mapped object, read from the process's memory. Their number: from
 * DT_HASH, else counted out of DT_GNU_HASH.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/entries/objects.h"

#define MAX_SYMBOLS	(8u << 20)
#define MAX_STRINGS	(512ull << 20)
#define MAX_SLOTS	(1u << 20)
#define MAX_BYTES	(4ull << 30)	/* of all tables of a process */

/*
 * The number behind the last symbol of a chain that begins with symbol `first`; the last one's hash
 * is odd.
 */
static uint32_t chain_end(const struct objects *o, uint64_t chains, uint32_t first, uint32_t offset)
{
	uint32_t words[256];

	for (uint32_t n = first; n < MAX_SYMBOLS; n += 256) {
		size_t have = 256;

		while (have &&
		       objects_read(o, chains + (uint64_t)(n - offset) * 4, words, have * 4))
			have /= 2;	/* the table may end at the end of a mapping */
		for (uint32_t i = 0; i < have; i++)
			if (words[i] & 1)
				return n + i + 1;
		if (have < 256)
			break;
	}
	return 0;
}

static uint32_t count_gnu(const struct objects *o, uint64_t table)
{
	uint32_t head[4], last = 0;	/* buckets, first symbol, words of the filter, shift */
	uint64_t buckets;
	uint32_t *bucket;

	if (objects_read(o, table, head, sizeof(head)) || head[0] > MAX_SYMBOLS ||
	    head[2] > MAX_SYMBOLS)
		return 0;
	buckets = table + sizeof(head) + (uint64_t)head[2] * 8;
	bucket = calloc((size_t)head[0] + 1, sizeof(*bucket));
	if (bucket && !objects_read(o, buckets, bucket, head[0] * sizeof(*bucket)))
		for (uint32_t i = 0; i < head[0]; i++)
			last = bucket[i] > last ? bucket[i] : last;
	free(bucket);
	return last >= head[1] && last
		       ? chain_end(o, buckets + (uint64_t)head[0] * 4, last, head[1])
		       : 0;
}

static uint32_t count(const struct objects *o, const struct object *object)
{
	uint32_t head[2];

	if (object->hash && !objects_read(o, object->hash, head, sizeof(head)))
		return head[1] <= MAX_SYMBOLS ? head[1] : 0;
	return object->gnu_hash ? count_gnu(o, object->gnu_hash) : 0;
}

struct table {
	Elf64_Sym *sym;
	char *strings;			/* with a NUL behind */
	uint32_t nr;
};

static int table_read(struct objects *o, const struct object *object, struct table *t)
{
	*t = (struct table){ .nr = count(o, object) };
	if (!t->nr || !object->symbols || !object->strings || object->strings_bytes > MAX_STRINGS)
		return -ENODATA;
	o->symbol_bytes += t->nr * sizeof(*t->sym) + object->strings_bytes;
	if (o->symbol_bytes > MAX_BYTES)
		return -E2BIG;
	t->sym = calloc(t->nr, sizeof(*t->sym));
	t->strings = calloc(object->strings_bytes + 1, 1);
	if (!t->sym || !t->strings)
		return -ENOMEM;
	if (objects_read(o, object->symbols, t->sym, t->nr * sizeof(*t->sym)) ||
	    objects_read(o, object->strings, t->strings, object->strings_bytes))
		return -EFAULT;
	return 0;
}

static void table_fini(struct table *t)
{
	free(t->sym);
	free(t->strings);
}

int object_symbols(struct objects *o, const struct object *object,
		   void (*each)(void *arg, const struct object_symbol *s), void *arg)
{
	struct table t;
	int rc = table_read(o, object, &t);

	for (uint32_t i = 1; !rc && i < t.nr; i++) {
		const Elf64_Sym *sym = &t.sym[i];
		struct object_symbol s = {
			.address = object->bias + sym->st_value,
			.size = sym->st_size,
			.type = ELF64_ST_TYPE(sym->st_info),
		};

		if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS ||
		    sym->st_name >= object->strings_bytes || s.type == STT_TLS ||
		    s.address < object->start || s.address >= object->end)
			continue;
		s.name = t.strings + sym->st_name;
		each(arg, &s);
	}
	table_fini(&t);
	return rc;
}

void object_slot_name(const struct objects *o, const struct object *object, uint64_t slot,
		      char *name, size_t bytes)
{
	size_t nr = object->jmprel_bytes / sizeof(Elf64_Rela);
	Elf64_Rela *rela = nr <= MAX_SLOTS ? calloc(nr + 1, sizeof(*rela)) : NULL;
	Elf64_Sym sym;

	name[0] = '\0';
	if (!rela || !object->jmprel || objects_read(o, object->jmprel, rela, nr * sizeof(*rela)))
		nr = 0;
	for (size_t i = 0; i < nr; i++) {
		size_t n = bytes - 1;

		if (object->bias + rela[i].r_offset != slot ||
		    ELF64_R_SYM(rela[i].r_info) >= MAX_SYMBOLS ||
		    objects_read(o, object->symbols + ELF64_R_SYM(rela[i].r_info) * sizeof(sym),
				 &sym, sizeof(sym)) ||
		    sym.st_name >= object->strings_bytes)
			continue;
		if (n > object->strings_bytes - sym.st_name)
			n = object->strings_bytes - sym.st_name;
		if (objects_read(o, object->strings + sym.st_name, name, n))
			n = 0;
		name[n] = '\0';
		break;
	}
	free(rela);
}
