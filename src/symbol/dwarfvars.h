/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What DWARF says of a file's variables, and where types that are only declared elsewhere are
 * defined: an index over all of its DIEs, built on first use.
 */
#ifndef SYMBOL_DWARFVARS_H
#define SYMBOL_DWARFVARS_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "src/base/hash.h"
#include "src/base/vec.h"
#include "src/symbol/dwarfunit.h"

struct dwarf_var {
	/* as the file with the DWARF counts; of a thread-local one its offset */
	uint64_t address;
	uint64_t die;			/* offset in .debug_info */
	/* offset of the function it is a static variable of; 0 = none */
	uint64_t function;
	bool tls;
};

struct dwarf_vars {
	VEC(struct dwarf_var) vars;	/* thread-local ones first, then by address */
	/* offsets of definitions; 0: several that differ have one name */
	VEC(uint64_t) types;
	struct hash_map by_name;	/* hash of the name -> index into types */
	bool built, no_memory;
};

/* Index a file. Stops when the budget is spent: what was found by then is there. */
void dwarf_vars_build(struct dwarf_vars *v, Dwarf *dw, struct dwarf_budget *b);
void dwarf_vars_fini(struct dwarf_vars *v);

/* The last variable that starts at or before an address. NULL = none. */
const struct dwarf_var *dwarf_vars_find(const struct dwarf_vars *v, uint64_t address, bool tls);

/* The definition of a class, structure or union by its name. 0 = none, or not one alone. */
uint64_t dwarf_vars_type(const struct dwarf_vars *v, const char *name);

#endif
