/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heap made up by hand: stacks by name, sites and their live blocks by count; addresses are
 * assigned.
 *
 * The order of calls decides every number and address, so equal calls give equal heaps.
 */
#ifndef TESTS_FAKE_FAKE_HEAP_H
#define TESTS_FAKE_FAKE_HEAP_H

#include "src/base/err.h"
#include "src/base/vec.h"
#include "src/model/heap.h"
#include "tests/fake/recipe.h"

/* A function that was named, and where it was put. */
struct fake_function {
	char *name;
	uint32_t module;
	uint64_t pc;
};

struct fake_heap {
	struct heap *h;			/* its arrays stay empty until fake_heap_finish() */
	VEC(struct heap_module) modules;
	VEC(struct heap_node) nodes;
	VEC(struct heap_site) sites;
	VEC(struct heap_site) map_sites;
	VEC(struct heap_block) blocks;
	VEC(struct heap_block) maps;
	VEC(struct heap_thread) threads;
	VEC(struct heap_point) points;
	VEC(struct heap_site_point) site_points;
	VEC(struct heap_usage_point) usage_points;
	VEC(struct heap_mark) marks;
	VEC(struct heap_leak) leaks;
	VEC(struct heap_finding) findings;	/* their texts are of malloc */
	VEC(struct heap_kernel_kind) kernel_kinds;
	VEC(struct heap_kernel_row) kernel_rows;
	VEC(struct heap_kernel_bin) kernel_bins;
	VEC(struct fake_function) functions;
	uint64_t next_address, next_map;	/* of the next block, mapping */
	uint64_t peak_bytes;		/* of the heap; 0: sum over sites */
};

/* One site's doings; what fake_heap_record() adds. */
struct fake_record {
	uint64_t size_bytes;
	uint64_t allocs, frees;
	uint64_t bytes_in, bytes_out;
	uint64_t peak_blocks, peak_bytes;
	uint64_t temporary, max_bytes, failed, zero_size, huge;
	uint64_t samples_in, samples_out;
	uint64_t first_ns, last_ns;	/* births of the live blocks lie evenly between */
	uint64_t life_ns;		/* of the freed blocks that were not temporary */
	uint64_t blocks;		/* live ones to list */
	uint64_t address;		/* of the first of them; 0: after the one before */
	uint32_t node;
	uint16_t thread;
	uint8_t kind;			/* PMM_KIND_MMAP makes it a mapping site */
};

/* 0 or -ENOMEM; fake_heap_fini() in any case. */
int fake_heap_init(struct fake_heap *f);
void fake_heap_fini(struct fake_heap *f);

/* Number of the module of this path, added (1 MiB of addresses) if new; -ENOMEM, -E2BIG. */
int64_t fake_heap_module(struct fake_heap *f, const char *path);

/* Number of the thread of this name, added if new; -ENOMEM, -E2BIG. */
int64_t fake_heap_thread(struct fake_heap *f, const char *name);

/*
 * Node of a stack "outer>inner>..." (frames as in fake.c), added as needed; "-" is node 0. -errno
 * with `e` set.
 */
int64_t fake_heap_stack(struct fake_heap *f, const char *text, struct err *e);

/* Number of the site of a node among the heap's (or the mapping) sites, added if new; -ENOMEM. */
int64_t fake_heap_site(struct fake_heap *f, uint32_t node, bool mapping);

/*
 * Count a record into its site, class, thread, the totals, and list its live blocks. 0 or -ENOMEM.
 */
int fake_heap_record(struct fake_heap *f, const struct fake_record *r);
/* The same where the site's number is known. */
int fake_heap_record_at(struct fake_heap *f, const struct fake_record *r, uint32_t site);

/*
 * What words of a recipe's line stand for (fake_words.c): the node and the site of a stack, a
 * thread's number, the kind of block that "kind=" says. NULL or trouble, which stays in the line,
 * is 0; no kind said is `otherwise`.
 */
uint32_t fake_stack(struct fake_heap *f, struct recipe_line *l, const char *stack);
uint32_t fake_site(struct fake_heap *f, struct recipe_line *l, const char *stack);
uint16_t fake_thread(struct fake_heap *f, struct recipe_line *l, const char *name);
uint8_t fake_kind(struct recipe_line *l, uint8_t otherwise);

/*
 * Obey a recipe's line; trouble stays in it (fake_leaks.c, fake_check.c, fake_events.c,
 * fake_time.c, fake_deep.c).
 */
void fake_search(struct fake_heap *f, struct recipe_line *l);
void fake_leak(struct fake_heap *f, struct recipe_line *l);
void fake_check(struct fake_heap *f, struct recipe_line *l);
void fake_death(struct fake_heap *f, struct recipe_line *l);
void fake_finding(struct fake_heap *f, struct recipe_line *l);
void fake_kernel_head(struct fake_heap *f, struct recipe_line *l);
void fake_kernel_kind(struct fake_heap *f, struct recipe_line *l);
void fake_event(struct fake_heap *f, struct recipe_line *l);
void fake_kernel_bin(struct fake_heap *f, struct recipe_line *l);
void fake_usage(struct fake_heap *f, struct recipe_line *l);
void fake_usage_point(struct fake_heap *f, struct recipe_line *l);
void fake_mark(struct fake_heap *f, struct recipe_line *l);
void fake_deep(struct fake_heap *f, struct recipe_line *l);

/*
 * Sort, total up, hand the heap to the caller (heap_free()). 0, -ENOMEM, or -EINVAL (no sound heap)
 * with `e` set.
 */
int fake_heap_finish(struct fake_heap *f, struct heap **out, struct err *e);

/* Add a large heap that depends on these numbers only. 0 or -ENOMEM. */
struct fake_plan {
	uint64_t sites, blocks, seed, depth, modules, threads, points;
};
int fake_generate(struct fake_heap *f, const struct fake_plan *plan);

#endif
