/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ELF symbols of a module's data, by address: variables, and thread-local ones by their offset
 * in the module's block.
 */
#ifndef SYMBOL_DATATAB_H
#define SYMBOL_DATATAB_H

#include <stdbool.h>

#include "src/base/vec.h"
#include "src/proc/elffile.h"

struct datatab_entry {
	uint64_t address, end;
	uint32_t name;			/* in its source's string table */
	uint8_t source;
	uint8_t rank;			/* lower is the better name */
	bool tls;			/* `address` is an offset */
};

struct datatab {
	VEC(struct datatab_entry) entries;	/* thread-local ones first, then by address */
	struct { Elf *elf; size_t strings; } source[2];
	int nr_sources;
	bool sorted;
};

/*
 * Add the table of a type (SHT_SYMTAB, SHT_DYNSYM) of a file that must stay open, addresses `shift`
 * higher. The number added, -ENOENT, -ENOMEM.
 */
int datatab_add(struct datatab *t, const struct elf_file *f, unsigned type, uint64_t shift);

/*
 * Name of the variable around an ELF address, or around an offset in thread-local storage, and
 * where it is. NULL = none.
 */
const char *datatab_find(struct datatab *t, uint64_t address, bool tls, uint64_t *start,
			 uint64_t *end);

void datatab_fini(struct datatab *t);

#endif
