/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What malloc asks of the kernel, from its system calls, where the C library has no probes: records
 * of brk, mmap, munmap, mprotect and madvise that were made inside malloc or free become records of
 * the class `libc`.
 *
 * glibc, malloc/arena.c: an arena beside the first one consists of heaps, each 64 MiB in size and
 * alignment. It reserves 128 MiB, gives back what is not aligned, and opens a part by mprotect.
 * Of a thread's first reservation it is believed that it makes an arena.
 */
#ifndef ANALYZE_TRACE_LIBC_CALLS_H
#define ANALYZE_TRACE_LIBC_CALLS_H

#include "src/base/hash.h"
#include "src/base/vec.h"
#include "src/kernel/kernel_rows.h"

/* Which of the C library's functions made a call. */
enum libc_caller {
	LIBC_OTHER,			/* none of malloc's */
	LIBC_ALLOCATES,			/* malloc, calloc, realloc, memalign, ... */
	LIBC_FREES,			/* free, malloc_trim */
	LIBC_UNKNOWN,			/* the call's stack was not copied */
};

struct libc_heap {
	pid_t tgid;
	uint64_t start;
	uint64_t reserved;		/* what mmap returned; 0: done with */
	bool open;			/* a part of it may be used */
};

/* All zero is empty. */
struct libc_calls {
	VEC(struct libc_heap) heaps;
	struct hash_map threads;	/* tid -> tgid, that have made an arena */
	uint64_t others;		/* calls of these kinds that malloc has not made */
	uint64_t unknown;		/* whose stack was not copied */
};

/* By the name of a function; LIBC_OTHER: none of malloc's. */
enum libc_caller libc_caller_of(const char *function);

/* Is it a kind of record that libc_calls_take() looks at? */
bool libc_calls_wants(uint32_t kind);

/*
 * Take a record; how many records it means are in out[0..2), as copies with another kind, or
 * -ENOMEM. Ends and begins of processes are taken, too.
 */
int libc_calls_take(struct libc_calls *c, const struct trace_record *r, enum libc_caller caller,
		    struct trace_record out[2]);

void libc_calls_fini(struct libc_calls *c);

#endif
