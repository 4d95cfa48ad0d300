/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of sizes: what was asked for, by class of the requested size and by entry.
 */
#ifndef ANALYZE_SIZES_H
#define ANALYZE_SIZES_H

#include <stdint.h>

#include "src/model/heap.h"

/* Entries of the allocator that are counted together. */
enum size_entry {
	SIZE_MALLOC,
	SIZE_CALLOC,
	SIZE_REALLOC, /* and reallocarray */
	SIZE_ALIGNED, /* posix_memalign, aligned_alloc, memalign, valloc, pvalloc */
	SIZE_NEW,     /* all forms of operator new */
	SIZE_OTHER,
	SIZE_NR_ENTRIES,
};

struct size_row {
	uint64_t max_bytes; /* largest request of the class, UINT64_MAX: no limit */
	uint64_t calls[SIZE_NR_ENTRIES], all_calls;
	uint64_t frees;
	uint64_t bytes_in, bytes_out, in_use_bytes;
	uint64_t failed;
};

struct sizes {
	struct size_row row[HEAP_NR_CLASSES], total; /* total.max_bytes is 0 */
	uint64_t untracked_frees;
};

void sizes_sum(const struct heap *h, struct sizes *out);

/*
 * Name of an entry as programs call it: "malloc", "operator new[]"; "?" for numbers that are
 * none.
 */
const char *kind_name(unsigned kind);

#endif
