/*
 * The object file behind a module: its own file, separate debug file, symbols and DWARF, each opened when needed.
 */
#ifndef SYMBOL_OBJECT_H
#define SYMBOL_OBJECT_H

#include "src/target/debugfile.h"
#include "src/symbol/dwarfinfo.h"
#include "src/symbol/symbol.h"
#include "src/symbol/symtab.h"

struct object {
	char *path;			/* as the process saw it */
	uint8_t build_id[ELF_FILE_BUILD_ID_MAX];
	size_t build_id_len;		/* as the process had it; 0: not known */
	enum symbol_state state;	/* of the file at `path` */
	enum symbol_quality quality;
	bool opened, has_main, has_debug, dwarf_tried, symtab_tried;
	struct elf_file main, debug, alt, mini;
	struct symtab symtab;
	struct dwarf_info *dwarf;
	uint64_t dwarf_shift;		/* ELF address = address in the file with the DWARF + dwarf_shift */
	char *source;			/* path of the file the names come from, NULL: none yet */
};

struct object_options {
	struct debug_search search;
	char *root;			/* put before paths */
	bool full;			/* use DWARF */
};

/* Find and open the files, check build ids, say what they can give. Again and again is fine. */
void object_open(struct object *o, const struct object_options *opt);

/* Frames of an ELF address, innermost first: their number, 0 = no name. Strings are valid until object_close(). */
int object_find(struct object *o, const struct object_options *opt, uint64_t address, struct dwarf_frame *frames, int max);

/* Close files and forget what was built from them; path, build id, state, quality and source stay. */
void object_close(struct object *o);

#endif
