/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What DWARF says about a code address: functions, the inlined ones too, and lines.
 */
#ifndef SYMBOL_DWARFINFO_H
#define SYMBOL_DWARFINFO_H

#include "src/base/cancel.h"
#include "src/symbol/dwarfvars.h"
#include "src/proc/elffile.h"

struct dwarf_info;

struct dwarf_frame {
	/* DW_AT_name, with its scopes where there is no linkage name; NULL: not known */
	const char *name;
	const char *linkage;	/* mangled, NULL: none */
	const char *file;	/* NULL: not known */
	uint32_t line;		/* 0: not known */
	/* ELF address where this piece of the function starts; 0: inlined or not known */
	uint64_t entry;
	bool inlined;
};

/*
 * An index over the DWARF of a file; both files (alt: dwz's, NULL if none) must stay open. NULL if
 * there is none, with an errno that elf_file_unseen() knows when it could not be looked at. `stop`
 * (NULL: never) is asked now and then; once it was, what is found is not all that there is.
 */
struct dwarf_info *dwarf_info_new(const struct elf_file *f, const struct elf_file *alt,
				  const struct stop *stop);

void dwarf_info_free(struct dwarf_info *info);

/*
 * Frames of an ELF address of that file, innermost first: their number, 0 = nothing known. A lone
 * frame without name but with a line is possible. Strings are valid until dwarf_info_free().
 */
int dwarf_info_find(struct dwarf_info *info, uint64_t address, struct dwarf_frame *frames, int max);

/* The DWARF itself, and the file that it shares some with (NULL = none). */
Dwarf *dwarf_info_main(const struct dwarf_info *info);
Dwarf *dwarf_info_alt(const struct dwarf_info *info);

/* The function around an ELF address of that file. false = none. */
bool dwarf_info_function(struct dwarf_info *info, uint64_t address, Dwarf_Die *function);

/* Where the code at an ELF address was compiled: relative paths are from there. NULL: not known. */
const char *dwarf_info_directory(const struct dwarf_info *info, uint64_t address);

/* Index its variables and types, within the budget of the file. */
void dwarf_info_variables(struct dwarf_info *info, struct dwarf_vars *vars);

/*
 * File (NULL: not known) and line of a DIE's declaration; the text is valid until
 * dwarf_info_free().
 */
const char *dwarf_info_declared(Dwarf_Die *die, uint32_t *line);

/* The first error that says nothing of the file: less has been found than there is. 0 = none. */
int dwarf_info_error(const struct dwarf_info *info);

/*
 * Roughly the memory that lookups have built up; it grows with the number of compilation units
 * touched.
 */
size_t dwarf_info_bytes(const struct dwarf_info *info);

#endif
