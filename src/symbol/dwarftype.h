/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types as DWARF has them: what is at an offset in one, and what a pointer there points to.
 */
#ifndef SYMBOL_DWARFTYPE_H
#define SYMBOL_DWARFTYPE_H

#include "src/base/str.h"
#include "src/symbol/dwarfvars.h"

struct dwarf_types {
	/* where types are defined that are only declared; may be NULL */
	const struct dwarf_vars *vars;
	Dwarf *main;			/* that these are in */
	unsigned steps;			/* left: a damaged file must not keep us for ever */
};

/*
 * The type of a variable or member, without typedefs and qualifiers, its definition where it is
 * only declared. false = none.
 */
bool dwarf_type_of(struct dwarf_types *t, Dwarf_Die *die, Dwarf_Die *type);

/* In bytes; 0 = not known. */
uint64_t dwarf_type_bytes(Dwarf_Die *type);

/*
 * The pointer at an offset in something of a type. Its path there is appended ("[3].next"). false:
 * there is none; what was appended leads as far as it is known, and *rest is the offset in that.
 * *pointee: what it points to, as dwarf_type_of(); addr NULL: not known (void).
 */
bool dwarf_type_pointer(struct dwarf_types *t, Dwarf_Die *type, uint64_t offset, struct str *path,
			Dwarf_Die *pointee, uint64_t *rest);

/* Does a structure end with an array of any length? */
bool dwarf_type_is_open(struct dwarf_types *t, Dwarf_Die *type);

/* As a C programmer writes it: "struct entry *". */
void dwarf_type_name(Dwarf_Die *type, struct str *to);

#endif
