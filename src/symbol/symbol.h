/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address -> function, file:line and inlined frames, all outside the target.
 *
 * A symbolizer holds the modules of one process and what is known of their files. Files are opened
 * on the first lookup in them. Answers are kept per (module, ELF address); strings live until
 * symbolizer_free(). Not for use by several threads at once. Files are outside data: a damaged one
 * gives fewer names, never an error.
 */
#ifndef SYMBOL_SYMBOL_H
#define SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/cancel.h"

/* as ELF_MAX_DEBUG_BYTES in src/proc/elf_bounds.h */
#define SYMBOL_MAX_BYTES	(4ull << 30)

/*
 * Of a name or a path; longer ones are cut. Of all names and paths together: those found later are
 * not named. Templates make names of 4 KiB.
 */
#define SYMBOL_MAX_NAME_BYTES	8192u
#define SYMBOL_MAX_NAMES_BYTES	(1ull << 30)

struct symbolizer;

struct symbolizer_options {
	/* DWARF: file:line and inlined frames; else ELF symbols only (a few ms per module) */
	bool full;
	bool debuginfod;	/* ask the servers of $DEBUGINFOD_URLS; never done otherwise */
	bool use_cache;		/* keep answers on disk between runs (full only) */
	const char *cache_dir;	/* NULL: $XDG_CACHE_HOME/pmm/symbols or ~/.cache/pmm/symbols */
	/* where separate debug files are, ':' between; NULL: /usr/lib/debug */
	const char *debug_dirs;
	const char *root;	/* put before module paths (/proc/PID/root); NULL or "": none */
	/*
	 * that debug information of open files may take in memory; 0: SYMBOL_MAX_BYTES. More than
	 * that never
	 */
	uint64_t max_bytes;
	/* asked now and then; once it was, lookups find nothing new, and nothing of that is kept */
	struct stop stop;
};

struct symbol_module {
	const char *path;	/* as the process sees it; NULL or "": unknown; "[vdso]" */
	const uint8_t *build_id;
	size_t build_id_len;	/* 0: none */
	uint64_t bias;		/* run-time address = ELF address + bias */
	uint64_t start, end;	/* address range in the process; end 0: not known */
	/*
	 * `open`: the file is read through a copy of this descriptor, whatever is at its path by
	 * then
	 */
	bool open;
	int fd;
};

enum symbol_state {
	SYMBOL_FILE_OK,		/* the file that ran (build ids agree) */
	SYMBOL_FILE_UNCHECKED,	/* no build id to compare: hopefully the file that ran */
	SYMBOL_FILE_REPLACED,	/* another file is there now; not used */
	SYMBOL_FILE_GONE,	/* nothing there, or not readable */
	SYMBOL_FILE_BAD,	/* there, but no ELF file */
};

/* best that the module has */
enum symbol_quality { SYMBOL_NONE, SYMBOL_DYNSYM, SYMBOL_SYMTAB, SYMBOL_DWARF };

struct symbol_module_info {
	enum symbol_state state;
	enum symbol_quality quality;
	const char *source;	/* file that the names come from, "" if none */
	const char *build_id;	/* hex, "" if none */
	/* file whose debug information is not used because it is too large to read, NULL: none */
	const char *too_large;
	/* what it and all others that are open would take; UINT64_MAX: it states nonsense */
	uint64_t too_large_bytes;
};

struct symbol_frame {
	/* to print, never NULL: demangled; "MODULE+0xELFADDRESS" or "0xADDRESS" if unnamed */
	const char *function;
	const char *linkage;	/* as in the object file (mangled), NULL: unnamed */
	const char *file;	/* NULL: not known */
	/* 0: not known; of an outer frame: where the inner one was inlined */
	uint32_t line;
	/* from the function's entry; unnamed: the ELF address; inlined: 0 */
	uint64_t offset;
	bool inlined;		/* into the next frame */
	bool named;
};

#define SYMBOL_FRAMES_MAX	64	/* never more for one address */

/* NULL when out of memory. opt NULL: all off. The options' strings are copied. */
struct symbolizer *symbolizer_new(const struct symbolizer_options *opt);

/* Release it and all its strings. NULL is fine. Does not write the cache. */
void symbolizer_free(struct symbolizer *sym);

/*
 * Add a module (copied): its index, counting from 0, or -ENOMEM. A placeholder with path "" is
 * fine.
 */
int symbolizer_add(struct symbolizer *sym, const struct symbol_module *mod);

/*
 * Frames of a run-time address inside an instruction (of the call, not after it), innermost first:
 * their number, 1..max, the outermost always among them; 0 only if max is 0. Any module index is
 * fine.
 */
int symbol_lookup(struct symbolizer *sym, uint32_t module, uint64_t address,
		  struct symbol_frame *frames, int max);

/*
 * The folder in which the code at an address was compiled: files that are not absolute are named
 * from there. NULL: not known. The text stays until symbolizer_free().
 */
const char *symbol_directory(struct symbolizer *sym, uint32_t module, uint64_t address);

/* What is known of a module's file; opens it. An index out of range gives SYMBOL_FILE_GONE. */
struct symbol_module_info symbolizer_module(struct symbolizer *sym, uint32_t module);

/* The same without opening anything: what lookups have found out so far. */
struct symbol_module_info symbolizer_module_seen(struct symbolizer *sym, uint32_t module);

/*
 * 0, or the first -errno that said nothing of the files but that they could not be looked at: no
 * memory, no descriptors. Names may be missing since then.
 */
int symbolizer_error(const struct symbolizer *sym);

/*
 * Write new answers to the cache on disk; none after such an error. 0, or the first -errno; a cache
 * that cannot be written loses only time.
 */
int symbolizer_save(struct symbolizer *sym);

/*
 * Demangle C++ or Rust into buf (NUL-terminated, cut to size): its length, or 0 if `name` is not
 * mangled.
 */
size_t symbol_demangle(const char *name, char *buf, size_t size);

#endif
