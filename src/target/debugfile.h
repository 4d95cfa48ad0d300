/*
 * Separate debug files: by build id, by .gnu_debuglink, from debuginfod servers when asked for; and .gnu_debugdata.
 */
#ifndef TARGET_DEBUGFILE_H
#define TARGET_DEBUGFILE_H

#include "src/target/elffile.h"

struct debug_search {
	char *dirs;		/* ':' between */
	bool debuginfod;
	bool copied;		/* read files, do not map them: somebody else may change them (elf_file_copy()) */
};

/* Open DIR/.build-id/xx/yyyy + suffix, only if its build id is that. 0 or -ENOENT. */
int debug_file_by_id(const struct debug_search *s, const uint8_t *id, size_t len, const char *suffix, struct elf_file *out);

/* Open the debug file that belongs to a build id, or to `main` (NULL: not there). 0 or -ENOENT. */
int debug_file_find(const struct debug_search *s, const struct elf_file *main, const uint8_t *id, size_t len,
		    struct elf_file *out);

/* Open the file with shared DWARF that `f` refers to (dwz, .gnu_debugaltlink). 0, -ENODATA if it refers to none, -ENOENT. */
int debug_file_alt(const struct debug_search *s, const struct elf_file *f, struct elf_file *out);

/* Unpack the symbols in .gnu_debugdata. 0, -ENODATA if there are none, -EBADMSG, -ENOMEM. */
int debug_file_mini(const struct elf_file *f, struct elf_file *out);

#endif
