/* SPDX-License-Identifier: MIT */
/*
 * The interface between pmm.h's full form and the agent. The form contains the agent's core, and so
 * a table. In a program that was started with the agent preloaded the form finds the agent's table
 * (PMM_SHIM_NOTE) and records there; a library that the program loads finds the program's.
 */
#ifndef PMM_SHIM_H
#define PMM_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMM_SHIM_VERSION	5u

/*
 * A module that has a table has an ELF note, whose descriptor is the distance from itself to the
 * table. Types: the preloaded agent; a copy of the full form.
 */
#define PMM_SHIM_NOTE_NAME	"PMM"
#define PMM_SHIM_NOTE_AGENT	1
#define PMM_SHIM_NOTE_COPY	2
#define PMM_SHIM_NOTE(type, table)	PMM_SHIM_NOTE_(type, table)
#define PMM_SHIM_NOTE_(type, table)                                                                \
	__asm__(".pushsection .note.pmm, \"a\", @note\n\t.balign 4\n\t.long 4, 8, " #type          \
		"\n\t.asciz \"" PMM_SHIM_NOTE_NAME "\"\n\t"                                        \
		".quad " #table " - .\n\t.popsection")

struct tctx;

/* A call: what the macro passed, and where the call came from. */
struct full_call {
	const char *file, *func;
	uint32_t line;
	uint64_t ra, sp, fp;	/* as struct caller, agent/unwind/unwind.h */
};

/* What the ledger had of a block that was taken out; agent only. */
struct full_was {
	uint64_t word[10];
};

/* A block of the ledger, as find() and its like return it. */
struct full_block {
	const char *address;	/* as the program knows it */
	size_t size;
	const char *file, *func;	/* "?" if not known */
	uint32_t line;
	uint32_t site;
	uint32_t kind;		/* enum pmm_kind */
	uint32_t number;	/* of the request, 0 = not known */
	uint32_t time;		/* seconds since 1970 */
	uint32_t flags;		/* enum pmm_srcloc_flags, include/pmm/ledger.h */
	uint64_t behind;	/* each() only: the 8 bytes behind it, read a moment ago */
	struct full_was was;	/* for restore() */
};

/* Sums of the process. */
struct full_totals {
	uint64_t allocs, frees, bytes_in, bytes_out, failed, zero;
	uint64_t peak_bytes, peak_blocks;
	uint64_t nr_srclocs;
	uint64_t dropped;	/* blocks without room in the ledger */
};

/* A source line with calls. */
struct full_srcloc {
	const char *file, *func;
	uint32_t line;
	uint64_t allocs, frees, bytes_in, bytes_out;
	uint64_t peak_bytes;	/* of those live when the process had most */
};

/* A row of the table of sizes. */
struct full_class {
	uint64_t up_to;		/* 0: any more */
	uint64_t malloc, calloc, realloc, other, frees, failed;
	uint64_t bytes_in, bytes_out;
};

struct pmm_shim_table {
	/*
	 * PMM_SHIM_VERSION; 0 = this agent records calls of the allocator's functions, and nothing
	 * else
	 */
	uint32_t version;
	uint32_t bytes;		/* sizeof(struct pmm_shim_table) */
	bool is_copy;		/* of a program's own full form */
	/*
	 * fills the rest; false: this agent does not record each call, so call the allocator's
	 * functions
	 */
	bool (*ready)(void);

	/* the real allocator, past any hook */
	void *(*malloc)(size_t size);
	void *(*calloc)(size_t nr, size_t size);
	void *(*realloc)(void *p, size_t size);
	void *(*aligned_alloc)(size_t align, size_t size);
	void (*free)(void *p);

	/*
	 * a context for this call, until leave(); NULL: the call is not recorded. The other
	 * functions do not accept NULL as a context.
	 */
	struct tctx *(*enter)(const struct full_call *call);
	void (*leave)(struct tctx *c);
	/* set before and cleared after the real allocator is called */
	void (*calling)(struct tctx *c, bool now);
	/*
	 * the site for a call with these flags; 0: there is no room for one, and the block must be
	 * as the real allocator returns it
	 */
	uint32_t (*site)(struct tctx *c, const struct full_call *call, uint32_t flags);
	/* enter a block. With PMM_SRCLOC_BEHIND its canary is written */
	void (*note)(struct tctx *c, char *p, size_t size, uint32_t kind, uint32_t site,
		     uint32_t flags);
	/* p was handed out, but is not recorded: what is known of the address is out of date */
	void (*forget)(struct tctx *c, const void *p);
	void (*failed)(struct tctx *c, size_t size, uint32_t site);
	/*
	 * take a block out, with what is known of it; false: it is not there. remove_moving(): it
	 * is being resized, and on its way until moved()
	 */
	bool (*remove)(struct tctx *c, const void *p, struct full_block *b);
	bool (*remove_moving)(struct tctx *c, const void *p, size_t new_size, struct full_block *b);
	void (*moved)(struct tctx *c);
	void (*restore)(struct tctx *c, const struct full_block *b);
	/* a live block changes its site */
	bool (*change_site)(struct tctx *c, const struct full_block *b, uint32_t site);
	/* bytes of the word behind it, 0 to 8 */
	unsigned (*changed_behind)(const struct full_block *b, uint64_t word);
	uint32_t (*number)(void);	/* of a request: one that no block has */

	/* describe the block at p; the one that p points into */
	bool (*find)(const void *p, struct full_block *b);
	bool (*around)(const void *p, struct full_block *b);
	/* is it there, unchanged since it was found? */
	bool (*still)(const struct full_block *b);
	/* copy memory that another thread may unmap meanwhile; false: it is not mapped */
	bool (*peek)(const void *p, void *to, size_t bytes);
	/*
	 * each live block in order of address, until `each` returns nonzero; returns that. Others
	 * may come and go meanwhile
	 */
	int (*each)(int (*each)(void *ctx, const struct full_block *b), void *ctx);
	void (*totals)(struct full_totals *t);
	uint64_t (*live_bytes)(void);	/* of totals(), quicker */
	/* each source line with blocks */
	int (*each_srcloc)(int (*each)(void *ctx, const struct full_srcloc *s), void *ctx);
	bool (*class_row)(unsigned i, struct full_class *k);	/* false: there are no more */
	/* source location and flags of a site */
	void (*place)(uint32_t site, struct full_block *b);

	/*
	 * of a copy of the full form; NULL in an agent's. A record for the kernel module, of
	 * include/pmm/kmod.h; `ra` is in the call, or 0
	 */
	void (*log)(const struct full_call *call, unsigned kind, const void *p, size_t size,
		    const void *prev, unsigned flags);
	/* 1, 0: that log is wanted or not from now on; -1: as it was. As pmm_kmod_status() */
	int (*log_switch)(int on);
};

#endif
