/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One DWARF compilation unit, indexed on first use: where its functions are, their scopes, its
 * lines.
 */
#ifndef SYMBOL_DWARFUNIT_H
#define SYMBOL_DWARFUNIT_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "src/base/hash.h"
#include "src/base/cancel.h"
#include "src/proc/elffile.h"
#include "src/symbol/ranges.h"

/*
 * Bytes of the line program of one unit, and of a name or path: larger ones are not looked at. Each
 * byte of a line program can make a row of 64 bytes in memory. The units of the largest programs,
 * optimised as a whole, have 2 MiB.
 */
#define DWARF_MAX_LINES_BYTES	(8u << 20)
#define DWARF_NAME_MAX		8192u

/* CPU time that the DWARF of one file may take: a damaged file must not keep us for ever. */
struct dwarf_budget {
	uint64_t limit_ns;	/* grows with every lookup */
	uint64_t start_ns, used_ns;
	uint64_t next_ns;	/* by the coarse clock: look at CPU time and `stop` again */
	struct stop stop;
	bool spent;		/* use this DWARF no more */
};

void dwarf_budget_begin(struct dwarf_budget *b, uint64_t more_ns);
void dwarf_budget_end(struct dwarf_budget *b);

/* One step was made: may we continue? */
bool dwarf_budget_step(struct dwarf_budget *b);

struct dwarf_scope {
	Dwarf_Off begin, end;	/* its DIE and what is inside */
	const char *name;
	int32_t parent;		/* index, -1 none */
};

struct dwarf_unit {
	Dwarf_Die die;
	const struct elf_file *file;
	struct ranges functions;	/* value: offset of the DIE */
	VEC(struct dwarf_scope) scopes;	/* namespaces and classes, by begin */
	Dwarf_Lines *lines;
	Dwarf_Files *files;
	size_t nr_lines, nr_files;
	bool indexed, deep, lines_read;
	bool no_memory;			/* for some of it */
};

/* The function around an address: its DIE and the start of its piece. false = none. */
bool dwarf_unit_function(struct dwarf_unit *u, Dwarf *dw, struct dwarf_budget *b, uint64_t address,
			 Dwarf_Die *die, uint64_t *entry);

/* Inlined subroutines around an address in a function, outermost first: their number. */
int dwarf_unit_inlines(Dwarf_Die *function, struct dwarf_budget *b, uint64_t address,
		       Dwarf_Die *inlines, int max);

/* File (NULL: not known) and line of an address. false = none. */
bool dwarf_unit_line(struct dwarf_unit *u, uint64_t address, const char **file, uint32_t *line);

/* Name of a file by its number in DW_AT_call_file. NULL = none. */
const char *dwarf_unit_file(struct dwarf_unit *u, uint64_t number);

/*
 * The name of a function DIE with its namespaces and classes, kept in `names`; plain in C. NULL =
 * none.
 */
const char *dwarf_unit_name(struct dwarf_unit *u, Dwarf_Die *die, struct intern *names);

void dwarf_unit_fini(struct dwarf_unit *u);

#endif
