/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names under which allocators are known, and what their functions do.
 */
#ifndef ENTRIES_ENTRIES_NAMES_H
#define ENTRIES_ENTRIES_NAMES_H

#include <stdint.h>

#include "include/pmm/inject.h"
#include "include/pmm/ledger.h"
#include "src/base/hash.h"

/*
 * What a name is preceded by; in the order in which one of several names of an address is chosen.
 */
enum names_prefix {
	NAMES_PUBLIC, NAMES_MI, NAMES_TC, NAMES_JE, NAMES_RJEM, NAMES_LIBC,
	NAMES_NR_PREFIXES,
};

/* What a symbol says about its object. */
enum names_mark {
	NAMES_MARK_NONE,
	NAMES_MARK_LIBC = 1 << 0,	/* a C library */
	NAMES_MARK_GLIBC = 1 << 1,
	NAMES_MARK_LOADER = 1 << 2,	/* glibc's dynamic loader, which has a malloc of its own */
	NAMES_MARK_JEMALLOC = 1 << 3,
	NAMES_MARK_TCMALLOC = 1 << 4,
	NAMES_MARK_MIMALLOC = 1 << 5,
	NAMES_MARK_GO = 1 << 6,		/* Go's runtime, whose heap has no malloc */
	NAMES_MARK_SANITIZER = 1 << 7,	/* AddressSanitizer and its like */
};

/* Addresses that the agent likes to know. */
enum names_info {
	NAMES_INFO_NONE,
	NAMES_SINGLE_THREADED,
	NAMES_FIND_OBJECT,
	NAMES_VDSO_CLOCK,
	NAMES_MALLINFO2,
	NAMES_NR_INFOS
};

struct entries_name {
	const char *name;		/* without prefix */
	uint8_t prefixes;		/* 1 << enum names_prefix */
	/* enum pmm_role, enum pmm_kind; role NONE: only a mark or information */
	uint8_t role, kind;
	int8_t arg_size, arg_count, arg_pointer;	/* for the custom roles */
	uint8_t mark, info;
};

struct entries_names {
	struct hash_map by_hash;
};

/* 0 or -ENOMEM. */
int entries_names_init(struct entries_names *n);
void entries_names_fini(struct entries_names *n);

/* What a symbol's name stands for, and its prefix; NULL = of no interest. */
const struct entries_name *entries_names_find(const struct entries_names *n, const char *symbol,
					      enum names_prefix *prefix);

#endif
