/*
 * What DWARF says about a code address: functions, the inlined ones too, and lines.
 */
#ifndef SYMBOL_DWARFINFO_H
#define SYMBOL_DWARFINFO_H

#include "src/target/elffile.h"

struct dwarf_info;

struct dwarf_frame {
	const char *name;	/* DW_AT_name, with its scopes where there is no linkage name; NULL: not known */
	const char *linkage;	/* mangled, NULL: none */
	const char *file;	/* NULL: not known */
	uint32_t line;		/* 0: not known */
	uint64_t entry;		/* ELF address where this piece of the function starts; 0: inlined or not known */
	bool inlined;
};

/* An index over the DWARF of a file; both files (alt: dwz's, NULL if none) must stay open. NULL if there is none. */
struct dwarf_info *dwarf_info_new(const struct elf_file *f, const struct elf_file *alt);

void dwarf_info_free(struct dwarf_info *info);

/*
 * Frames of an ELF address of that file, innermost first: their number, 0 = nothing known. A lone frame without name
 * but with a line is possible. Strings are valid until dwarf_info_free().
 */
int dwarf_info_find(struct dwarf_info *info, uint64_t address, struct dwarf_frame *frames, int max);

/* Roughly the memory that lookups have built up; it grows with the number of compilation units touched. */
size_t dwarf_info_bytes(const struct dwarf_info *info);

#endif
