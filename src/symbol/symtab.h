/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ELF symbols of a module's code, from up to three tables, by address.
 */
#ifndef SYMBOL_SYMTAB_H
#define SYMBOL_SYMTAB_H

#include "src/base/vec.h"
#include "src/proc/elffile.h"

#define SYMTAB_SOURCES_MAX	3

struct symtab_entry {
	uint64_t address;
	uint64_t end;		/* sizeless: of its section */
	uint64_t reach;		/* highest end of sized ones so far in the sorted table */
	uint32_t name;		/* in its source's string table */
	uint8_t source;
	uint8_t rank;		/* lower is the better name */
	bool sizeless;		/* reaches to the next symbol */
};

struct symtab {
	VEC(struct symtab_entry) entries;	/* by address once sorted */
	struct {
		Elf *elf;
		size_t strings;			/* section */
	} source[SYMTAB_SOURCES_MAX];
	int nr_sources;
	bool sorted;
	unsigned nr_scans;	/* lookups made without sorting */
};

/*
 * Add the table of type SHT_SYMTAB or SHT_DYNSYM of a file, which must stay open. Addresses are
 * taken `shift` higher; `code` (may be the same file) says what is code. The number added, -ENOENT
 * if there is no such table, -ENOMEM.
 */
int symtab_add(struct symtab *t, const struct elf_file *f, unsigned type,
	       const struct elf_file *code, uint64_t shift);

/*
 * Name and entry address of the function around an ELF address. NULL = none; valid while the file
 * is open.
 */
const char *symtab_find(struct symtab *t, uint64_t address, uint64_t *entry);

void symtab_fini(struct symtab *t);

#endif
