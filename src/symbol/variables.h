/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address -> variable: which of a module's variables an address belongs to, what type that has, and
 * what is at an offset in a type.
 *
 * Names come from DWARF, else from the symbol tables, else there is only the section. Strings are
 * kept by the symbolizer. Types are valid as long as it is. Files are outside data: a damaged one
 * gives fewer names, never an error.
 */
#ifndef SYMBOL_VARIABLES_H
#define SYMBOL_VARIABLES_H

#include "src/base/str.h"
#include "src/symbol/dwarflocal.h"
#include "src/symbol/symbol.h"
#include "src/symbol/walk.h"

/* All zero: not known. */
struct symbol_type {
	uint32_t object;		/* number, counted from 1 */
	bool shared;			/* in the file that DWARF is shared with */
	uint64_t die;
};

struct symbol_variable {
	const char *name;		/* to print; NULL: none is known */
	const char *function;		/* of a function's own: that function; else NULL */
	const char *section;		/* where there is no name: of the file; NULL: not known */
	const char *module;		/* base name of the file; "" if unknown */
	const char *file;		/* where it is declared; NULL: not known */
	uint32_t line;
	/* addresses; of a thread-local one offsets in the module's block; end 0: not known */
	uint64_t start, end;
	bool in_register;		/* of a function's own: there is no address */
	struct symbol_type type;
};

/*
 * The variable around a run-time address in a module's data. false: not even the section is known.
 */
bool symbol_variable(struct symbolizer *sym, uint32_t module, uint64_t address,
		     struct symbol_variable *v);

/*
 * The same without debug information, which may take seconds to read: a name or a section, no type,
 * no line.
 */
bool symbol_variable_plain(struct symbolizer *sym, uint32_t module, uint64_t address,
			   struct symbol_variable *v);

/* The thread-local variable around an offset in a module's block. */
bool symbol_thread_variable(struct symbolizer *sym, uint32_t module, uint64_t offset,
			    struct symbol_variable *v);

/*
 * Where a module's thread-local block is for a thread (x86-64, by its thread pointer): of the
 * program itself (`first`) below that; of a library as its own relocations say. false = it has
 * none, or it is not known.
 */
bool symbol_thread_block(struct symbolizer *sym, uint32_t module, bool first,
			 uint64_t thread_pointer, const struct dwarf_memory *m, uint64_t *start,
			 uint64_t *end);

/*
 * The variable or argument of a frame's function around an address of the stack, or in a register
 * (-1 = none). false = none is known.
 */
bool symbol_local(struct symbolizer *sym, const struct walk_frame *f, const struct dwarf_memory *m,
		  uint64_t address, int reg, struct symbol_variable *v);

/*
 * The pointer at an offset in something of a type: its path is appended (".next", "[3].name"), *to
 * is what it points to (all zero: not known). false: no pointer is known there; the path then
 * leads as far as it is known, and *rest is the offset from there.
 */
bool symbol_type_pointer(struct symbolizer *sym, const struct symbol_type *type, uint64_t offset,
			 struct str *path, struct symbol_type *to, uint64_t *rest);

/*
 * Its size in bytes, 0 = not known, or any as it ends with an array of any length; its name,
 * appended.
 */
uint64_t symbol_type_bytes(struct symbolizer *sym, const struct symbol_type *type);
void symbol_type_name(struct symbolizer *sym, const struct symbol_type *type, struct str *to);

#endif
