/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The allocator's functions in a running process, found from outside: in the dynamic symbols, the
 * full symbol table or the separate debug file of every object it has mapped, seen through its own
 * mount namespace.
 */
#ifndef ENTRIES_ENTRIES_H
#define ENTRIES_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "include/pmm/inject.h"
#include "include/pmm/ledger.h"
#include "src/base/err.h"
#include "src/entries/frames.h"

enum entries_allocator {
	ENTRIES_GLIBC, ENTRIES_MUSL, ENTRIES_JEMALLOC, ENTRIES_TCMALLOC, ENTRIES_MIMALLOC,
	ENTRIES_SANITIZER,	/* AddressSanitizer's and the like */
	ENTRIES_CUSTOM,		/* --alloc */
	ENTRIES_OTHER,		/* has malloc and free */
};
#define ENTRIES_NR_ALLOCATORS (ENTRIES_OTHER + 1)

struct entry_found {
	uint64_t address, size;		/* size 0 = unknown */
	/* what is patched: the same, or what its first instruction, a jump, leads to */
	uint64_t begin, begin_size;
	/* of what is patched nothing else may come here; 0 = it cannot be patched */
	uint64_t area_low, area_high;
	uint8_t *file;			/* code at `begin` as its file has it */
	size_t nr_file;			/* bytes, 0 = there is no file */
	enum pmm_role role;
	enum pmm_kind kind;
	int8_t arg_size, arg_count, arg_pointer;	/* custom, -1 = none */
	uint64_t fixed_bytes;		/* custom: the size where arg_size is -1 */
	/*
	 * NEW, NEW_ALIGNED: address of the same allocator's malloc or memalign, 0 = none (struct
	 * pmm_entry)
	 */
	uint64_t plain;
	char *name;			/* of the symbol, one of its aliases */
	char *module;			/* path as the process has it */
	uint64_t module_start, module_end;
	char *refused;			/* why it cannot be patched, NULL = it can */
};

struct entries {
	struct entry_found *v;		/* by address, each address once */
	size_t nr;
	enum entries_allocator allocator;	/* of malloc */
	char *allocator_path;
	/* blocks of the C library's allocator may be guarded: set by entries_guardable() */
	bool guards;
	bool dense;			/* its blocks may begin closer than 32 bytes */
	/* addresses of what the agent likes to know, 0 = not there */
	uint64_t single_threaded, find_object, vdso_clock, mallinfo2;
	/* unwind information of a program that has no index of its own */
	struct frames frames;
};

/*
 * A custom allocator, from "[MODULE:]NAME=malloc(arg0)", "=calloc(arg0,arg1)",
 * "=realloc(arg0,arg1)" (block, size), "=free(arg0)", or "=malloc(16)" for a fixed size.
 */
struct entries_custom {
	/* path or file name of the object, also without ".so..."; NULL = any */
	char *module;
	/*
	 * symbol as in the symbol table, or 0xADDRESS as in the file (NULL module: the program
	 * itself)
	 */
	char *name;
	enum pmm_role role;
	int8_t arg_size, arg_count, arg_pointer;	/* -1 = none */
	uint64_t fixed_bytes;		/* size where arg_size is -1 */
};

/* 0 or -EINVAL with `e`. */
int entries_parse_custom(const char *text, struct entries_custom *c, struct err *e);
void entries_custom_fini(struct entries_custom *c);

/*
 * Find them. 0 or -errno with `e`: -ESRCH, -EACCES, -ENOENT no allocator (says what was looked for
 * and where), or a custom one that is not there. Release with entries_fini() in any case.
 */
int entries_find(pid_t pid, const struct entries_custom *custom, size_t nr_custom,
		 struct entries *found, struct err *e);
void entries_fini(struct entries *found);

/* The same, and what is patched only where blocks are guarded: malloc_usable_size, sigaction. */
int entries_find_all(pid_t pid, const struct entries_custom *custom, size_t nr_custom,
		     struct entries *found, struct err *e);

/*
 * May blocks be guarded? All that takes a block must be known and patched: one allocator, of a C
 * library. 0 and found->guards, or -ENOTSUP with `e`.
 */
int entries_guardable(struct entries *found, pid_t pid, struct err *e);

/* Again, once it is known which of them can be patched. 0 or -ENOTSUP with `e`. */
int entries_still_guardable(const struct entries *found, pid_t pid, struct err *e);

#endif
