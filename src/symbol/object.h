/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The object file behind a module: its own file, separate debug file, symbols and DWARF, each
 * opened when needed.
 */
#ifndef SYMBOL_OBJECT_H
#define SYMBOL_OBJECT_H

#include "src/proc/debugfile.h"
#include "src/symbol/datatab.h"
#include "src/symbol/dwarfinfo.h"
#include "src/symbol/dwarfvars.h"
#include "src/symbol/symbol.h"
#include "src/symbol/symtab.h"

struct object {
	char *path;			/* as the process saw it */
	uint8_t build_id[ELF_FILE_BUILD_ID_MAX];
	size_t build_id_len;		/* as the process had it; 0: not known */
	bool by_fd;			/* it is read through `fd`, owned */
	int fd;
	enum symbol_state state;	/* of the file at `path` */
	enum symbol_quality quality;
	bool opened, has_main, has_debug, dwarf_tried, symtab_tried;
	struct elf_file main, debug, alt, mini;
	struct symtab symtab;
	struct datatab data;
	bool data_tried;
	struct dwarf_vars vars;
	Dwarf_CFI *cfi;			/* of `main`; NULL: none, or not asked for */
	struct dwarf_info *dwarf;
	/* ELF address = address in the file with the DWARF + dwarf_shift */
	uint64_t dwarf_shift;
	char *source;			/* path of the file the names come from, NULL: none yet */
	uint64_t held_bytes;		/* that its DWARF takes, counted among all */
	/* path of a file whose DWARF is not read for its size, NULL: none */
	char *too_large;
	uint64_t too_large_bytes;
};

struct object_options {
	struct debug_search search;
	char *root;			/* put before paths */
	bool full;			/* use DWARF */
	uint64_t max_bytes;		/* that the DWARF of all open files may take to read */
	uint64_t *held_bytes;		/* that it takes now */
};

/* Find and open the files, check build ids, say what they can give. Again and again is fine. */
void object_open(struct object *o, const struct object_options *opt);

/*
 * Frames of an ELF address, innermost first: their number, 0 = no name. Strings are valid until
 * object_close().
 */
int object_find(struct object *o, const struct object_options *opt, uint64_t address,
		struct dwarf_frame *frames, int max);

/* The folder in which the code at an ELF address was compiled; as there. NULL: not known. */
const char *object_directory(struct object *o, const struct object_options *opt, uint64_t address);

/* The DWARF to use, opened. NULL = none. */
struct dwarf_info *object_dwarf(struct object *o, const struct object_options *opt);

/* Symbols of its data, and how to unwind its frames (NULL = not known). */
struct datatab *object_data(struct object *o, const struct object_options *opt);
Dwarf_CFI *object_cfi(struct object *o, const struct object_options *opt);

/*
 * Give back the memory that lookups in DWARF have built up. Files stay open: reading them again
 * would take time.
 */
void object_trim(struct object *o);

/*
 * Close files and forget what was built from them; path, build id, state, quality, source and what
 * was too large stay.
 */
void object_close(struct object *o, const struct object_options *opt);

#endif
